# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Minimization under constraints: ours, on their surface, beside OpenMM's, which puts springs in their place.

    python benchmarks/minimize.py                  # to a force of 10 kJ/mol/nm, some minutes
    python benchmarks/minimize.py --iterations 100 # ours ends there, too

Rows are named by the call that was measured.

Villin in water with all bonds held, from the PDB file's positions, on the CPU platform. Energies are those on the
constraints, forces are along their surface, however the minimizer itself counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.demo.villin import build_villin
from openmmconstraints.terminal.table import make_console, make_table

FORCE = unit.kilojoule_per_mole / unit.nanometer


class Counter(mm.MinimizationReporter):
    """How many iterations OpenMM's minimizer takes, over all stiffnesses of its springs."""

    iterations = 0

    def report(self, iteration, x, grad, args) -> bool:
        self.iterations += 1
        return False


def make_context() -> mm.Context:
    villin = build_villin("AllBonds")
    context = mm.Context(villin.system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("CPU"))
    context.setPositions(villin.positions)
    return context


def ours(tolerance: float, iterations: int) -> tuple[mc.Minimum, int, float]:
    context, start = make_context(), time.perf_counter()
    minimum = mc.minimize(context, tolerance, iterations)
    return minimum, minimum.iterations, time.perf_counter() - start


def openmms(tolerance: float) -> tuple[mc.Minimum, int, float]:
    context, counter, start = make_context(), Counter(), time.perf_counter()
    mm.LocalEnergyMinimizer.minimize(context, tolerance, 0, counter)
    seconds = time.perf_counter() - start
    return mc.minimize(context, 1e9), counter.iterations, seconds  # projects and measures, and goes nowhere


def calls(tolerance: float = 10, iterations: int = 300) -> dict[str, Callable[[], tuple[mc.Minimum, int, float]]]:
    """What is compared, by the call that a user types."""
    return {
        f"mc.minimize(context, {tolerance:g})": lambda: ours(tolerance, 0),
        f"mc.minimize(context, 1e-3, {iterations})": lambda: ours(1e-3, iterations),
        f"LocalEnergyMinimizer.minimize(context, {tolerance:g})": lambda: openmms(tolerance),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tolerance", type=float, default=10, help="kJ/mol/nm")
    parser.add_argument("--iterations", type=int, default=300, help="a second run of ours takes so many at most")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    table = make_table(
        "Villin in water, AllBonds", ["Call"], ["Iterations", "Energy, kJ/mol", "Force, kJ/mol/nm", "Seconds"]
    )
    for name, run in calls(options.tolerance, options.iterations).items():
        minimum, iterations, seconds = run()
        numbers = (minimum.energy.value_in_unit(unit.kilojoule_per_mole), minimum.force.value_in_unit(FORCE), seconds)
        table.add_row(name, f"{iterations:,}", *(f"{number:,.1f}" for number in numbers))
    make_console().print(table)


if __name__ == "__main__":
    main()
