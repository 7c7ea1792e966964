# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Several time steps on a protein in water: what they gain, and where slow kicks resonate.

    python benchmarks/multiple_time_steps.py
    python benchmarks/multiple_time_steps.py --intervals 2 3 4 --picoseconds 20

Villin with rigid bonds to hydrogen on the CPU platform. All forces are evaluated every 2 fs but the reciprocal space of
PME, which is evaluated every 1, 2, 3, ... of these steps. The time is compared with RattleIntegrator's in turns, in one
process; the ratio is the median of the rounds', with quartiles. The drift is the slope of the total energy of a run
without a heat bath, in kT per degree of freedom, with the standard error of a straight line through the energies. Where
slow kicks resonate, the energy rises until a step fails; then the table says when.
"""

from __future__ import annotations

import argparse

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.timing import Spread, in_turn, run_steps
from openmmconstraints.benchmark.villin import build_villin, equilibrate
from openmmconstraints.terminal.table import make_console, make_table

FAST_STEP = 0.002  # ps
FAST, RECIPROCAL = 0, 1  # force groups
SAMPLES = 100  # energies of a run


def make_context(system: mm.System, state: mm.State, interval: int) -> mm.Context:
    """With PME every so many steps; 0: RattleIntegrator."""
    if interval == 0:
        integrator: mc.ConstraintIntegrator = mc.RattleIntegrator(FAST_STEP)
    else:
        integrator = mc.RattleMTSIntegrator(interval * FAST_STEP, [(RECIPROCAL, 1), (FAST, interval)])
    integrator.setConstraintTolerance(1e-6)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CPU"))
    context.setState(state)
    return context


def drift(context: mm.Context, picoseconds: float) -> str:
    """Slope of the energy and its standard error, kT per degree of freedom and ns; or when the run stopped."""
    integrator = mc.ConstraintIntegrator.cast(context.getIntegrator())
    steps = max(1, round(picoseconds / SAMPLES / integrator.getStepSize()._value))
    start = context.getTime()._value
    times, energies = [], []
    for _ in range(SAMPLES):
        try:
            integrator.step(steps)
        except mm.OpenMMException:  # slow kicks have heated the fast motions until a step failed
            return f"stopped after {context.getTime()._value - start:.1f} ps"
        state = context.getState(energy=True)
        times.append(state.getTime()._value / 1000)
        energies.append((state.getKineticEnergy() + state.getPotentialEnergy())._value)
    thermal = mm.unit.MOLAR_GAS_CONSTANT_R.value_in_unit(mm.unit.kilojoule_per_mole / mm.unit.kelvin) * 300
    (slope, _), covariance = np.polyfit(times, energies, 1, cov=True)
    scale = thermal * integrator.getNumDegreesOfFreedom()
    return f"{slope / scale:.3f} ± {np.sqrt(covariance[0, 0]) / scale:.3f}"


def time_in_turns(contexts: list[mm.Context], rounds: int, picoseconds: float) -> list[list[float]]:
    """Seconds of each context in each round for the same time."""
    seconds: list[list[float]] = [[] for _ in contexts]
    for turn in range(rounds + 1):
        for i in in_turn(range(len(contexts)), turn):
            step = contexts[i].getIntegrator().getStepSize()._value
            elapsed = run_steps(contexts[i], round(picoseconds / step))
            if turn > 0:
                seconds[i].append(elapsed)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--intervals", type=int, nargs="+", default=[1, 2, 3, 4], help="steps from PME to PME")
    parser.add_argument("--picoseconds", type=float, default=10, help="of each run for the drift")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()

    villin = build_villin("HBonds")
    for force in villin.system.getForces():
        if isinstance(force, mm.NonbondedForce):
            force.setReciprocalSpaceForceGroup(RECIPROCAL)
    start = equilibrate(villin, mm.Platform.getPlatform("CPU"), {}, 2000)
    warm = mm.Context(villin.system, mc.RattleIntegrator(FAST_STEP), mm.Platform.getPlatform("CPU"))
    warm.setPositions(start.positions)
    warm.setVelocitiesToTemperature(300, 1)
    warm.getIntegrator().step(500)
    state = warm.getState(positions=True, velocities=True)

    intervals = [0, *options.intervals]
    contexts = [make_context(villin.system, state, interval) for interval in intervals]
    seconds = time_in_turns(contexts, options.rounds, 0.048)
    table = make_table(
        f"villin, HBonds, {villin.system.getNumParticles():,} particles, CPU platform, 2 fs",
        ["integrator"],
        ["PME every (fs)", "ns/day", "times RattleIntegrator", "quartiles", "drift (kT/ns per degree of freedom)"],
    )
    for interval, own in zip(intervals, seconds, strict=True):
        ratio = Spread.of([one / other for one, other in zip(seconds[0], own, strict=True)])
        assert ratio is not None
        table.add_row(
            "RattleIntegrator" if interval == 0 else "RattleMTSIntegrator",
            f"{1000 * FAST_STEP * max(interval, 1):g}",
            f"{0.048e-3 * 86400 / np.median(own):.2f}",
            f"{ratio.median:.2f}",
            f"{ratio.low:.2f} to {ratio.high:.2f}",
            drift(make_context(villin.system, state, interval), options.picoseconds),
        )
    make_console().print(table)


if __name__ == "__main__":
    main()
