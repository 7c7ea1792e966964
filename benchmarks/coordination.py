# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Time of a step in which a coordination number of two groups is held, by the number of pairs.

    python benchmarks/coordination.py
    python benchmarks/coordination.py --sizes 10 100 --platform OpenCL --rounds 3

RATTLE of free atoms without forces in a periodic box: n atoms in each group, and nothing else; all pairs are within the
cutoff. With and without the constraint they take turns in one process, from the same state, and the time is that of the
process, with one thread. What the constraint costs is the difference.
"""

from __future__ import annotations

import argparse
import os
from time import process_time

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.timing import Spread, in_turn, run_steps
from openmmconstraints.terminal.table import make_console, make_table

STEP_SIZE = 0.001  # ps
R0, CUTOFF, BOX = 0.3, 1.0, 2.4  # nm
SIDE = 0.55  # nm, of the cube that all atoms start in


def make_context(size: int, is_held: bool, platform: str) -> mm.Context:
    """Two groups of so many atoms, which are held at the number that they start with."""
    system, force = mm.System(), mc.ConstraintForce()
    for _ in range(2 * size):
        system.addParticle(16)
    system.setDefaultPeriodicBoxVectors(*(BOX * np.eye(3)))
    force.setUsesPeriodicBoundaryConditions(True)
    places = np.random.default_rng(1).uniform(0, SIDE, (2 * size, 3))
    groups = range(size), range(size, 2 * size)
    counted = mc.freeenergy.CoordinationNumber(*map(tuple, groups), R0, cutoff=CUTOFF, periodic=True)
    if is_held:
        force.addCoordinationNumber(*groups, counted.measure(system, places), R0, cutoff=CUTOFF)
    system.addForce(force)
    integrator = mc.RattleIntegrator(STEP_SIZE)
    properties = {"CPU": {"Threads": "1"}, "OpenCL": {"Precision": "mixed"}}.get(platform, {})
    context = mm.Context(system, integrator, mm.Platform.getPlatform(platform), properties)
    context.setPositions(places)
    context.setVelocitiesToTemperature(100, 1)
    run_steps(context, 2)  # the first projects
    return context


def measure(size: int, platform: str, rounds: int, steps: int) -> tuple[Spread, Spread, int]:
    """Time of a step (us) without and with the constraint, and iterations."""
    contexts = [make_context(size, is_held, platform) for is_held in (False, True)]
    times: list[list[float]] = [[], []]
    for turn in range(rounds + 1):
        for i in in_turn(range(2), turn):
            times[i].append(1e6 * run_steps(contexts[i], steps, process_time) / steps)
    free, held = (Spread.of(each[1:]) for each in times)
    assert free
    assert held
    return free, held, contexts[1].getIntegrator().getSolverSummary().iterations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 3, 10, 30, 100, 300], help="atoms in a group")
    parser.add_argument("--platform", choices=["Reference", "CPU", "OpenCL"], default="CPU")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=20, help="steps of each round")
    options = parser.parse_args()
    os.environ["POCL_CPU_MAX_CU_COUNT"] = "1"
    table = make_table(
        f"{options.platform}, one thread: us a step",
        [],
        ["pairs", "free", "held", "by the constraint", "ns a pair", "iterations"],
    )
    for size in options.sizes:
        free, held, iterations = measure(size, options.platform, options.rounds, options.steps)
        cost = held.median - free.median
        table.add_row(
            f"{size**2:,}",
            f"{free.median:.0f}",
            f"{held.median:.0f}",
            f"{cost:.0f}",
            f"{1000 * cost / size**2:.0f}",
            str(iterations),
        )
    make_console().print(table)


if __name__ == "__main__":
    main()
