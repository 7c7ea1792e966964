# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How large a time step may be with different constraints: villin with and without heavy hydrogens.

    python benchmarks/larger_steps.py                      # villin in implicit solvent: some hours
    python benchmarks/larger_steps.py --model water        # villin in 2,762 rigid waters
    python benchmarks/larger_steps.py --rounds 0           # only table and plot of the runs in the folder

A round extends the run of every configuration by a few ps and is saved to the folder; the next call continues from
there. At the end a table (Markdown), the numbers (JSON) and a plot of all runs in the folder are written.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openmm as mm
from openmm import unit
from rich.progress import track
from stepsizes import report
from stepsizes.models import CONFIGURATIONS, FRICTION, MODELS, SETS, TEMPERATURE, TOLERANCE, Model
from stepsizes.observables import SPEED_OF_LIGHT, bonded_hessian, fastest_frequency
from stepsizes.runs import Runs
from stepsizes.summary import summarize

from openmmconstraints.inspection.versions import openmm_version, plugin_version


def fastest_modes(model: Model) -> list[dict[str, Any]]:
    """Frequency and period of the fastest small vibration for each set of constraints, from bonded terms alone."""
    bonded = model.make_bonded()
    context = mm.Context(bonded, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(model.positions)
    mm.LocalEnergyMinimizer.minimize(context, tolerance=0.01)
    positions = np.array(context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer))
    hessian = bonded_hessian(bonded, positions)
    modes = []
    for held in (None, *(name for name in SETS if name != "AllAngles")):
        for mass in (None, 1.5, 3.0) if held else (None,):
            system = model.make_system(held, mass) if held else bonded
            frequency = fastest_frequency(hessian, system, positions)
            period = 1000 / (SPEED_OF_LIGHT * frequency)
            modes.append(
                {"held": held or "", "hydrogen_mass": mass, "frequency_per_cm": frequency, "period_fs": period}
            )
    return modes


def write_report(found: dict[str, Runs], modes: list[dict[str, Any]], skip: float, note: str, path: Path) -> None:
    """Writes all that was sampled so far to files whose names begin with the path."""
    settings = {
        "Measured": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC by benchmarks/larger_steps.py",
        "Machine": f"{platform.system()} {platform.machine()}, CPU platform, one thread{note and f', {note}'}",
        "Versions": f"openmm-constraints {plugin_version()}, OpenMM {openmm_version()}",
        "Bath": f"{TEMPERATURE:g} K, {FRICTION:g}/ps",
        "Constraints": f"to {TOLERANCE:g}",
        "Left out at the start": f"{skip:g} ps",
        "ΔE": "kJ/mol, less that at 1 fs with the same constraints; in brackets: the energy itself",
        "JS": "Jensen-Shannon divergence of phi and psi (bits) from the run at 1 fs, and from HBonds at 2 fs",
        "Cost": "processor time of a step, HBonds at 2 fs = 1",
    }
    summaries = {
        name: {c: summarize(c, runs.samples(c), runs.failure(c), skip) for c in CONFIGURATIONS[name]}
        for name, runs in found.items()
    }
    report.write(summaries, modes, settings, path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs and reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="implicit", help="default: implicit")
    parser.add_argument("--rounds", type=int, default=25, metavar="N", help="rounds to add (default: 25)")
    parser.add_argument("--length", type=float, default=2, metavar="PS", help="length of a round (default: 2)")
    parser.add_argument("--equilibration", type=float, default=3, metavar="PS", help="before all rounds (default: 3)")
    parser.add_argument("--skip", type=float, default=1, metavar="PS", help="left out of averages (default: 1)")
    parser.add_argument("--folder", type=Path, default=Path("larger-steps"), help="default: larger-steps")
    parser.add_argument("--note", default="", metavar="TEXT", help="to add to the name of the machine")
    options = parser.parse_args(arguments)
    runs = Runs(MODELS[options.model](), options.folder / options.model, options.equilibration)
    configurations = CONFIGURATIONS[options.model]
    for number in range(options.rounds):
        for configuration in track(configurations, description=f"round {number + 1} of {options.rounds}"):
            runs.extend(configuration, options.length)
    there = [name for name in MODELS if (options.folder / name).is_dir()]
    found = {name: Runs(MODELS[name](), options.folder / name, options.equilibration) for name in there}
    modes = options.folder / "modes.json"
    if not modes.exists():
        modes.write_text(json.dumps(fastest_modes(MODELS["implicit"]())))
    write_report(found, json.loads(modes.read_text()), options.skip, options.note, options.folder / "larger-steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
