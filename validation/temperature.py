# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The distributions of the potential energy at two temperatures have the ratio of their Boltzmann factors."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from validation import physical, systems
from validation.checks import Check
from validation.dynamics import METHODS, Case, energies, langevin, make_context, sampled

TEMPERATURES = [300.0, 380.0]  # K, one standard deviation of the energy apart


def sample(case: Case, method: str, temperature: float, count: int) -> np.ndarray:
    """Potential energies [count], kJ/mol, 0.1 ps apart."""
    context = make_context(case, langevin(case, method, temperature))
    steps = max(1, round(0.1 / case.step_size))
    label = f"{case.name}, {method}, {temperature:g} K"
    return np.array([energies(context)[0] for _ in sampled(context, label, count, steps, 20 * steps)])


def check(case: Case, method: str, series: list[np.ndarray]) -> Check:
    """@param series  at TEMPERATURES"""
    p = physical.ensemble_ratio(series, TEMPERATURES, pressures=False)
    quantity = "ratio of the energy's distributions at {:g} and {:g} K".format(*TEMPERATURES)
    return Check("two temperatures", case.name, method, quantity, p)


def run(size: float, output: Path) -> list[Check]:
    """Trimers by both methods."""
    case = systems.bent_trimers(20)
    count = max(400, round(5000 * size))
    return [
        check(case, method, [sample(case, method, temperature, count) for temperature in TEMPERATURES])
        for method in METHODS
    ]
