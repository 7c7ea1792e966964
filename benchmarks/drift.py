# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Drift of the total energy at constant energy: a short polyethylene with all bonds held, on the Reference platform.

    python benchmarks/drift.py              # 0.3 ns each, a minute or two
    python benchmarks/drift.py --time 1

The drift is a least-squares slope over the run, with its standard error, in kT per ns and degree of freedom.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections.abc import Sequence

import openmm as mm
from openmm import unit
from rich.console import Console
from rich.progress import track

import openmmconstraints as mc
from openmmconstraints.benchmark.candidates import Candidate, make_context
from openmmconstraints.benchmark.generated import polyethylene
from openmmconstraints.benchmark.start import thermalize
from openmmconstraints.benchmark.villin import STEP_SIZE
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.inspection.energy import EnergySeries
from openmmconstraints.terminal.table import make_console, make_table

INTERVAL = 50  # steps between samples
RUNS = (
    (Candidate("Verlet", None), 1e-5),
    (Candidate("Shake", "MatrixInversion"), 1e-5),
    (Candidate("Rattle", "MatrixInversion"), 1e-5),
    (Candidate("Verlet", None), 1e-10),
    (Candidate("Shake", "MatrixInversion"), 1e-10),
    (Candidate("Rattle", "MatrixInversion"), 1e-10),
)


def sample(candidate: Candidate, tolerance: float, length: int, steps: int) -> tuple[EnergySeries, float]:
    """Energies, and the largest bond error at the end. @param length  CH2 groups in the chain"""
    model = polyethylene(length)
    system = model.create("AllBonds")
    for force in system.getForces():
        if isinstance(force, mm.NonbondedForce):
            force.setNonbondedMethod(force.NoCutoff)  # energy drifts with a cutoff
    meter = BondMeter(system)
    moved = copy.deepcopy(system)
    mc.moveConstraints(moved)
    start = thermalize(moved, model.positions, 5000)
    platform = mm.Platform.getPlatform("Reference")
    chosen = system if candidate.solver is None else moved
    context = make_context(chosen, candidate.make(tolerance), start, platform, {})
    series = EnergySeries()
    label = f"{candidate.label} {tolerance:g}"
    for done in track(range(0, steps, INTERVAL), description=label, console=Console(stderr=True), transient=True):
        context.getIntegrator().step(INTERVAL)
        state = context.getState(energy=True)
        energies = (state.getPotentialEnergy(), state.getKineticEnergy())
        potential, kinetic = (energy.value_in_unit(unit.kilojoule_per_mole) for energy in energies)
        series.add((done + INTERVAL) * STEP_SIZE, potential, kinetic)
    return series, meter.largest_error(context.getState(positions=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=float, default=0.3, metavar="NS", help="length of each run (default: 0.3)")
    parser.add_argument("--length", type=int, default=12, metavar="N", help="CH2 groups in the chain (default: 12)")
    options = parser.parse_args(arguments)
    steps = max(3 * INTERVAL, round(1000 * options.time / STEP_SIZE))
    table = make_table(
        f"Polyethylene of {options.length} CH2, AllBonds, {1000 * STEP_SIZE:g} fs, {1e-3 * steps * STEP_SIZE:g} ns",
        ["Integrator", "Tolerance"],
        ["Largest bond error", "Drift (kT/ns/dof)"],
    )
    for candidate, tolerance in RUNS:
        series, error = sample(candidate, tolerance, options.length, steps)
        drift = series.drift()
        table.add_row(candidate.label, f"{tolerance:g}", f"{error:.1e}", "-" if drift is None else str(drift))
    make_console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
