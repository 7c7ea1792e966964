# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a whole step without forces costs, beside the built-in integrator that does the same.

    python benchmarks/step.py
    python benchmarks/step.py --constraints AllBonds --tolerances 1e-5 --rounds 40

Villin in water, or waters with 14,652 constraints, on the CPU platform, one thread. Both take turns in one process,
from the same state; the ratio is the median of the ratios of all rounds, with quartiles.
"""

from __future__ import annotations

import argparse

import numpy as np
import openmm as mm
from openmm import app

import openmmconstraints as mc
from openmmconstraints.table import make_console, make_table
from openmmconstraints.timing import Spread, ignore_forces, in_turn, run_steps, without_forces
from openmmconstraints.villin import build_villin, equilibrate

STEP_SIZE = 0.002  # ps
PAIRS = {
    "Shake": (mm.VerletIntegrator, mc.ShakeIntegrator),
    "Rattle": (mm.VerletIntegrator, mc.RattleIntegrator),
}


NUM_WATERS = 4884


def villin(constraints: str) -> tuple[mm.System, mm.State]:
    """Equilibrated, with velocities at 300 K."""
    villin = build_villin(constraints)
    start = equilibrate(villin, mm.Platform.getPlatform("CPU"), {}, 50)
    return villin.system, state_of(villin.system, start.positions, start.velocities)


def water(_: str) -> tuple[mm.System, mm.State]:
    """Molecules on a lattice, with velocities at 300 K."""
    topology, positions = app.Topology(), []
    chain = topology.addChain()
    hydrogens = 0.09572 * np.array([[0, 0, 0], [1, 0, 0], [np.cos(1.82421813), np.sin(1.82421813), 0]])
    for i in range(NUM_WATERS):
        residue = topology.addResidue("HOH", chain)
        atoms = [topology.addAtom(n, app.Element.getBySymbol(n[0]), residue) for n in ("O", "H1", "H2")]
        topology.addBond(atoms[0], atoms[1])
        topology.addBond(atoms[0], atoms[2])
        positions.extend(0.31 * np.array([i % 17, i // 17 % 17, i // 289]) + hydrogens)
    system = app.ForceField("amber14/tip3p.xml").createSystem(topology, removeCMMotion=False)
    context = mm.Context(system, mm.VerletIntegrator(STEP_SIZE), mm.Platform.getPlatform("Reference"))
    context.setPositions(positions)
    context.applyConstraints(1e-12)
    context.setVelocitiesToTemperature(300, 1)
    return system, context.getState(positions=True, velocities=True)


def state_of(system: mm.System, positions: np.ndarray, velocities: np.ndarray) -> mm.State:
    context = mm.Context(system, mm.VerletIntegrator(STEP_SIZE), mm.Platform.getPlatform("Reference"))
    context.setPositions(positions)
    context.setVelocities(velocities)
    return context.getState(positions=True, velocities=True)


SYSTEMS = {"villin": villin, "water": water}


def measure(
    system: mm.System, state: mm.State, integrator: str, tolerance: float, rounds: int, steps: int
) -> tuple[Spread, Spread, Spread]:
    """us a step of the built-in integrator and of ours, and the ratio of ours to it."""
    bare = without_forces(system)
    contexts = []
    for kind in PAIRS[integrator]:
        stepper = kind(STEP_SIZE)
        stepper.setConstraintTolerance(tolerance)
        ignore_forces(stepper)
        contexts.append(mm.Context(bare, stepper, mm.Platform.getPlatform("CPU"), {"Threads": "1"}))
    times: list[list[float]] = [[], []]
    for turn in range(rounds + 1):
        for i in in_turn([0, 1], turn):
            contexts[i].setState(state)
            run_steps(contexts[i], 2)  # the first projects the state that was set
            times[i].append(1e6 * run_steps(contexts[i], steps) / steps)
    ratios = [ours / built_in for built_in, ours in zip(times[0][1:], times[1][1:], strict=True)]
    spreads = (Spread.of(times[0][1:]), Spread.of(times[1][1:]), Spread.of(ratios))
    assert all(spreads)
    return spreads


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", choices=SYSTEMS, default="villin")
    parser.add_argument("--constraints", choices=["HBonds", "AllBonds"], default="HBonds")
    parser.add_argument("--integrators", choices=PAIRS, nargs="+", default=list(PAIRS))
    parser.add_argument("--tolerances", type=float, nargs="+", default=[1e-5, 1e-12])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=20, help="of each round")
    options = parser.parse_args()

    system, state = SYSTEMS[options.system](options.constraints)
    table = make_table(
        f"{options.system}, {options.constraints}: {system.getNumConstraints():,} constraints, CPU, one thread",
        ["integrator"],
        ["tolerance", "built-in (us)", "ours (us)", "ours / built-in", "quartiles"],
    )
    for integrator in options.integrators:
        for tolerance in options.tolerances:
            built_in, ours, ratio = measure(system, state, integrator, tolerance, options.rounds, options.steps)
            table.add_row(
                integrator,
                f"{tolerance:g}",
                f"{built_in.median:.0f}",
                f"{ours.median:.0f}",
                f"{ratio.median:.2f}",
                f"{ratio.low:.2f} to {ratio.high:.2f}",
            )
    make_console().print(table)


if __name__ == "__main__":
    main()
