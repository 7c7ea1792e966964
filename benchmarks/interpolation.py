# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Time of a step of a protein with all bonds constrained, of which one interpolates with a Context parameter.

    python benchmarks/interpolation.py
    python benchmarks/interpolation.py --tolerances 1e-5 1e-10 --rounds 5

Villin without water and without forces, on the CPU platform with one thread: all lengths fixed; one of them
interpolates; the same with another value of the parameter before each step, which projects the state. The three take
turns in one process, from the same state, and the time is that of the process.
"""

from __future__ import annotations

import argparse
from time import process_time

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.force_fields import villin_protein
from openmmconstraints.benchmark.timing import Spread, in_turn, run_steps
from openmmconstraints.terminal.table import make_console, make_table

STEP_SIZE = 0.002  # ps
KINDS = ("fixed", "interpolated", "changing")


def protein(kind: str) -> tuple[mm.System, np.ndarray]:
    """Particles and constraints, the latter in a ConstraintForce, and the particles' positions."""
    model = villin_protein()
    given = model.create("AllBonds")
    system, force = mm.System(), mc.ConstraintForce()
    for i in range(given.getNumParticles()):
        system.addParticle(given.getParticleMass(i))
    for k in range(given.getNumConstraints()):
        force.addDistance(*given.getConstraintParameters(k))
    if kind != "fixed":
        *_, length = force.getDistanceParameters(0)
        force.addGlobalParameter("lambda", 0)
        force.setDistanceInterpolation(0, "lambda", 1.1 * length)
    system.addForce(force)
    return system, model.positions


def measure(integrator: str, tolerance: float, rounds: int, steps: int) -> list[Spread]:
    """Time of a step (us) of each kind."""
    contexts, times = [], [[] for _ in KINDS]
    for kind in KINDS:
        system, positions = protein(kind)
        stepper = getattr(mc, integrator + "Integrator")(STEP_SIZE)
        stepper.setConstraintTolerance(tolerance)
        context = mm.Context(system, stepper, mm.Platform.getPlatform("CPU"), {"Threads": "1"})
        context.setPositions(positions)
        context.setVelocitiesToTemperature(300, 1)
        contexts.append(context)
    for turn in range(rounds + 1):
        for i in in_turn(range(len(KINDS)), turn):
            contexts[i].setPositions(positions)
            contexts[i].setVelocitiesToTemperature(300, 1)
            run_steps(contexts[i], 2)  # the first projects
            times[i].append(1e6 * run(contexts[i], steps, KINDS[i] == "changing") / steps)
    spreads = [Spread.of(each[1:]) for each in times]
    assert all(spreads)
    return spreads


def run(context: mm.Context, steps: int, is_changing: bool) -> float:
    """Seconds that some steps take."""
    if not is_changing:
        return run_steps(context, steps, process_time)
    start = process_time()
    for step in range(steps):
        context.setParameter("lambda", 1e-4 * step)
        context.getIntegrator().step(1)
    return process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--integrators", nargs="+", default=["Shake", "Rattle"])
    parser.add_argument("--tolerances", type=float, nargs="+", default=[1e-5])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--steps", type=int, default=200, help="steps of each round")
    options = parser.parse_args()

    table = make_table("CPU, one thread: us a step", ["integrator"], ["tolerance", *KINDS])
    for integrator in options.integrators:
        for tolerance in options.tolerances:
            found = measure(integrator, tolerance, options.rounds, options.steps)
            table.add_row(integrator, f"{tolerance:g}", *(f"{spread.median:.1f}" for spread in found))
    make_console().print(table)


if __name__ == "__main__":
    main()
