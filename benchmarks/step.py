# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Time of a whole step without forces, compared with the built-in integrator that does the same.

    python benchmarks/step.py
    python benchmarks/step.py --system villin --constraints AllBonds --tolerances 1e-5 --rounds 40

The system is copies of the protein villin that have at least 14,652 constraints together, or one villin in water, on
the CPU platform with one thread. Both integrators take turns in one process, from the same state. The ratio is the
median of the rounds' ratios, with quartiles.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import openmm as mm
from openmm import app, unit

import openmmconstraints as mc
from openmmconstraints.benchmark.candidates import PARTNERS
from openmmconstraints.benchmark.timing import Spread, ignore_forces, in_turn, run_steps, without_forces
from openmmconstraints.benchmark.villin import build_villin, equilibrate
from openmmconstraints.terminal.table import make_console, make_table

STEP_SIZE = 0.002  # ps
INTEGRATORS = ("Shake", "Rattle")
NUM_CONSTRAINTS = 14_652  # as many as HBonds of twelve copies of the protein DHFR


def villin(constraints: str) -> tuple[mm.System, mm.State]:
    """The protein in water."""
    villin = build_villin(constraints)
    start = equilibrate(villin, mm.Platform.getPlatform("CPU"), {}, 50)
    return villin.system, state_of(villin.system, start.positions)


def proteins(constraints: str) -> tuple[mm.System, mm.State]:
    """Copies of the protein without water, until there are enough constraints, with angles for OpenMM's CCMA."""
    pdb = app.PDBFile(str(Path(app.__file__).with_name("data") / "test.pdb"))
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.deleteWater()
    held = getattr(app, constraints)
    force_field = app.ForceField("amber14-all.xml", "amber14/tip3p.xml")
    one = force_field.createSystem(modeller.topology, constraints=held, removeCMMotion=False)
    bends = next(force for force in one.getForces() if isinstance(force, mm.HarmonicAngleForce))
    n, angles, system = one.getNumParticles(), mm.HarmonicAngleForce(), mm.System()
    positions = np.array(modeller.getPositions().value_in_unit(unit.nanometer))
    copies = -(-NUM_CONSTRAINTS // one.getNumConstraints())
    for first in range(0, n * copies, n):
        for i in range(n):
            system.addParticle(one.getParticleMass(i))
        for k in range(one.getNumConstraints()):
            i, j, length = one.getConstraintParameters(k)
            system.addConstraint(first + i, first + j, length)
        for k in range(bends.getNumAngles()):
            *particles, angle, spring = bends.getAngleParameters(k)
            angles.addAngle(*(first + i for i in particles), angle, spring)
    system.addForce(angles)
    shifts = [np.array([5.0 * i, 0, 0]) for i in range(copies)]
    return system, state_of(system, np.concatenate([positions + shift for shift in shifts]))


def state_of(system: mm.System, positions: np.ndarray) -> mm.State:
    """A State with positions on the constraints and velocities at 300 K."""
    context = mm.Context(system, mm.VerletIntegrator(STEP_SIZE), mm.Platform.getPlatform("Reference"))
    context.setPositions(positions)
    context.applyConstraints(1e-12)
    context.setVelocitiesToTemperature(300, 1)
    return context.getState(positions=True, velocities=True)


SYSTEMS = {"proteins": proteins, "villin": villin}


def measure(
    system: mm.System, state: mm.State, integrator: str, tolerance: float, rounds: int, steps: int
) -> tuple[Spread, Spread, Spread]:
    """Time per step (us) of the built-in integrator and of ours, and the ratio ours / built-in."""
    bare = without_forces(system)
    contexts = []
    for kind in (getattr(mm, PARTNERS[integrator] + "Integrator"), getattr(mc, integrator + "Integrator")):
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
    parser.add_argument("--system", choices=SYSTEMS, default="proteins")
    parser.add_argument("--constraints", choices=["HBonds", "AllBonds"], default="HBonds")
    parser.add_argument("--integrators", choices=INTEGRATORS, nargs="+", default=INTEGRATORS)
    parser.add_argument("--tolerances", type=float, nargs="+", default=[1e-5, 1e-12])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--steps", type=int, default=20, help="steps of each round")
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
