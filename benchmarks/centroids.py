# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Time of a step of rigid water in which a constraint of the centroids of two groups holds all molecules.

    python benchmarks/centroids.py
    python benchmarks/centroids.py --atoms 3000 --platform Reference --rounds 5

Waters without forces, SHAKE and RATTLE: without the constraint; with "z1 - z2 - h" of two halves, weighted by mass,
which no bond couples to, and weighted equally, which all bonds couple to. The three take turns in one process, from the
same state, and the time is that of the process, with one thread. What the constraint costs is the difference to the
first.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.timing import Spread, in_turn, run_steps
from openmmconstraints.terminal.table import make_console, make_table

STEP_SIZE = 0.002  # ps
WEIGHTS = ("none", "masses", "equal")
SHAPE = np.array([[0, 0, 0], [0.09572, 0, 0], [-0.023999, 0.092663, 0]])  # nm, TIP3P


def waters(num_atoms: int) -> tuple[mm.System, np.ndarray]:
    """Molecules on a lattice, each turned at random."""
    system, places = mm.System(), []
    random = np.random.default_rng(1)
    side = int(np.ceil((num_atoms / 3) ** (1 / 3)))
    for molecule in range(num_atoms // 3):
        turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
        cell = np.array(np.unravel_index(molecule, (side, side, side)))
        places.append(0.31 * cell + SHAPE @ turn)
        first = 3 * molecule
        for mass in (15.9994, 1.008, 1.008):
            system.addParticle(mass)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            system.addConstraint(first + i, first + j, np.linalg.norm(SHAPE[i] - SHAPE[j]))
    return system, np.concatenate(places)


def hold(system: mm.System, positions: np.ndarray, weights: str) -> None:
    """Hold the height of one half of the particles above the other."""
    half = 3 * (len(positions) // 6)
    masses = np.array([system.getParticleMass(p)._value for p in range(len(positions))])
    of_each = masses if weights == "masses" else np.ones(len(positions))
    height = mc.CustomCentroidConstraintForce(2, "z1 - z2 - h")
    centres = []
    for group in (range(half), range(half, len(positions))):
        height.addGroup(list(group), of_each[group.start : group.stop])
        centres.append(
            np.average(positions[group.start : group.stop], axis=0, weights=of_each[group.start : group.stop])
        )
    height.addGlobalParameter("h", centres[0][2] - centres[1][2])
    height.addConstraint([0, 1])
    system.addForce(height)


def measure(
    num_atoms: int, integrator: str, tolerance: float, platform: str, rounds: int, steps: int
) -> list[tuple[Spread, int]]:
    """Time of a step (us) and iterations for each kind of weights."""
    contexts, times = [], [[] for _ in WEIGHTS]
    for weights in WEIGHTS:
        system, positions = waters(num_atoms)
        if weights != "none":
            hold(system, positions, weights)
        stepper = getattr(mc, integrator + "Integrator")(STEP_SIZE)
        stepper.setConstraintTolerance(tolerance)
        properties = {"Threads": "1"} if platform == "CPU" else {}
        context = mm.Context(system, stepper, mm.Platform.getPlatform(platform), properties)
        context.setPositions(positions)
        context.setVelocitiesToTemperature(300, 1)
        contexts.append(context)
    state = contexts[0].getState(velocities=True)
    for context in contexts:
        context.setVelocities(state.getVelocities())
        run_steps(context, 2)  # the first projects
    for turn in range(rounds + 1):
        for i in in_turn(range(len(WEIGHTS)), turn):
            times[i].append(1e6 * run_steps(contexts[i], steps, process_time) / steps)
    spreads = [Spread.of(each[1:]) for each in times]
    assert all(spreads)
    iterations = [context.getIntegrator().getSolverSummary().iterations for context in contexts]
    return list(zip(spreads, iterations, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoms", type=int, nargs="+", default=[3000, 30000])
    parser.add_argument("--integrators", nargs="+", default=["Shake", "Rattle"])
    parser.add_argument("--tolerances", type=float, nargs="+", default=[1e-5])
    parser.add_argument("--platform", choices=["Reference", "CPU"], default="CPU")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=10, help="steps of each round")
    options = parser.parse_args()

    table = make_table(
        f"{options.platform}, one thread: us a step",
        ["integrator"],
        ["atoms", "tolerance", "no group", "by mass", "equal weights", "share by mass", "equal", "iterations"],
    )
    for integrator in options.integrators:
        for atoms in options.atoms:
            for tolerance in options.tolerances:
                found = measure(atoms, integrator, tolerance, options.platform, options.rounds, options.steps)
                (free, _), (by_mass, _), (equal, _) = found
                table.add_row(
                    integrator,
                    f"{atoms:,}",
                    f"{tolerance:g}",
                    *(f"{spread.median:.0f}" for spread, _ in found),
                    f"{by_mass.median - free.median:.0f}",
                    f"{equal.median - free.median:.0f}",
                    ", ".join(str(iterations) for _, iterations in found),
                )
    make_console().print(table)


if __name__ == "__main__":
    main()
