# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Minimization under constraints: this plugin's, on the constraint surface, compared with OpenMM's, which replaces
constraints by springs.

    python benchmarks/minimize.py                  # to a force of 10 kJ/mol/nm, some minutes
    python benchmarks/minimize.py --iterations 100 # ours also with at most 100 iterations

The system is villin in water with all bonds held, from the PDB file's positions, on the CPU platform. Rows are named by
the call that was measured. Energies are those of positions on the constraints, forces are tangent to the constraint
surface, whatever the minimizer itself reports.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.benchmark.villin import build_villin
from openmmconstraints.terminal.table import make_console, make_table

FORCE = unit.kilojoule_per_mole / unit.nanometer


class Counter(mm.MinimizationReporter):
    """Counts the iterations of OpenMM's minimizer, over all stiffnesses of its springs."""

    iterations = 0

    def report(self, iteration, x, grad, args) -> bool:
        self.iterations += 1
        return False


def make_context() -> mm.Context:
    villin = build_villin("AllBonds")
    context = mm.Context(villin.system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("CPU"))
    context.setPositions(villin.positions)
    return context


def minimize_on_constraints(tolerance: float, iterations: int) -> tuple[mc.Minimum, int, float]:
    context, start = make_context(), time.perf_counter()
    minimum = mc.minimize(context, tolerance, iterations)
    return minimum, minimum.iterations, time.perf_counter() - start


def minimize_with_springs(tolerance: float) -> tuple[mc.Minimum, int, float]:
    context, counter, start = make_context(), Counter(), time.perf_counter()
    mm.LocalEnergyMinimizer.minimize(context, tolerance, 0, counter)
    seconds = time.perf_counter() - start
    return mc.minimize(context, 1e9), counter.iterations, seconds  # only projects and measures


def calls(tolerance: float = 10, iterations: int = 300) -> dict[str, Callable[[], tuple[mc.Minimum, int, float]]]:
    """The minimizations that are compared, by the call that a user types."""
    return {
        f"mc.minimize(context, {tolerance:g})": lambda: minimize_on_constraints(tolerance, 0),
        f"mc.minimize(context, 1e-3, {iterations})": lambda: minimize_on_constraints(1e-3, iterations),
        f"LocalEnergyMinimizer.minimize(context, {tolerance:g})": lambda: minimize_with_springs(tolerance),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tolerance", type=float, default=10, help="force at which a minimization ends, kJ/mol/nm")
    parser.add_argument("--iterations", type=int, default=300, help="most iterations of a second run of ours")
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
