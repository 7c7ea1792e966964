# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Molecules that their distances hold rigid, as System constraints: OpenMM's integrator, and this package's instead."""

from __future__ import annotations

import copy
from collections.abc import Callable

import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.candidates import make_context
from openmmconstraints.benchmark.generated import Molecules, benzene, carbon_dioxide
from openmmconstraints.benchmark.start import relax, thermalize
from openmmconstraints.demo.comparison import CANDIDATES, Outcome, compare
from openmmconstraints.inspection.bonds import BondMeter

CO2, LIGAND = "CO2", "benzene"
MOLECULES = {CO2: 100, LIGAND: 20}
DISTANCES = {CO2: 3, LIGAND: 66}  # of a molecule: all pairs of its atoms
TOLERANCE = 1e-5
STEPS, SAMPLES = 500, 25


def run_rigid(advance: Callable[[int], None], steps: int = STEPS) -> list[Outcome]:
    """Every integrator from the same start, on one thread of the CPU platform; only the integrator differs."""
    models = {CO2: carbon_dioxide(MOLECULES[CO2]), LIGAND: benzene(MOLECULES[LIGAND])}
    return [outcome for name, model in models.items() for outcome in _run(name, model, steps, advance)]


def _run(name: str, model: Molecules, steps: int, advance: Callable[[int], None]) -> list[Outcome]:
    system = model.create("Rigid")
    moved = copy.deepcopy(system)
    mc.moveConstraints(moved)  # for a start on the constraints, which OpenMM's minimizer cannot make
    start = thermalize(moved, relax(model, 30), 50)
    platform = mm.Platform.getPlatform("CPU")
    outcomes = [Outcome(name, candidate) for candidate in CANDIDATES]
    contexts = [make_context(system, o.candidate.make(TOLERANCE), start, platform, {"Threads": "1"}) for o in outcomes]
    compare(outcomes, contexts, BondMeter(system), steps, max(1, steps // SAMPLES), float("inf"), advance)
    return outcomes
