# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Drift of the energy and temperature of DHFR in water on a GPU, ours and OpenMM's integrators.

    python benchmarks/gpu_ensembles.py --inputs FOLDER --output ensembles.json    # what gpu.py --prepare made

At constant energy: 2 fs, tolerance 1e-6, the slope of the total energy with its standard error. In a bath of 300 K:
4 fs, the mean temperature after a quarter of the time, with its error from ten parts of the rest.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
import openmm as mm
from gpu import STEP_SIZES, load
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.benchmark.candidates import PARTNERS, Candidate, make_context
from openmmconstraints.benchmark.report import machine_names
from openmmconstraints.inspection.energy import BOLTZMANN, EnergySeries, with_error
from openmmconstraints.inspection.platforms import choose_platform
from openmmconstraints.inspection.system import count_degrees_of_freedom, find_clusters

INTERVAL = 50  # steps between samples
PARTS = 10
#: Integrator -> step (ps), tolerance
RUNS = {
    "Rattle": (0.002, 1e-6),
    "Verlet": (0.002, 1e-6),
    "RattleLangevin": (0.004, 1e-5),
    "LangevinMiddle": (0.004, 1e-5),
}


def sample(integrator: str, constraints: str, options: argparse.Namespace) -> EnergySeries:
    """Energies of a run."""
    step, tolerance = RUNS[integrator]
    system, start = load("dhfr", constraints, options.inputs)
    ours = integrator in PARTNERS
    if ours:
        mc.moveConstraints(system)
    made = Candidate(integrator, "Automatic" if ours else None).make(tolerance)
    made.setStepSize(step)
    platform = choose_platform(options.platform)
    has_precision = "Precision" in platform.getPropertyNames()
    context = make_context(system, made, start, platform, {"Precision": options.precision} if has_precision else {})
    series = EnergySeries()
    for _ in range(max(2 * PARTS, round(options.picoseconds / step / INTERVAL))):
        made.step(INTERVAL)
        state = context.getState(energy=True)
        energies = (state.getPotentialEnergy(), state.getKineticEnergy())
        potential, kinetic = (energy.value_in_unit(unit.kilojoule_per_mole) for energy in energies)
        series.add((len(series.time) + 1) * INTERVAL * step, potential, kinetic)
    return series


def describe(integrator: str, constraints: str, series: EnergySeries, freedom: int) -> dict[str, object]:
    """What is written of a run."""
    result: dict[str, object] = {"constraints": constraints, "integrator": integrator, "picoseconds": series.time[-1]}
    if "Langevin" in integrator:
        temperatures = 2 * np.array(series.kinetic) / (freedom * BOLTZMANN)
        parts = [part.mean() for part in np.array_split(temperatures[len(temperatures) // 4 :], PARTS)]
        mean, error = float(np.mean(parts)), float(np.std(parts, ddof=1) / PARTS**0.5)
        return result | {"temperature": mean, "error": error, "text": f"{with_error(mean, error)} K"}
    drift = series.drift()
    if drift is None:
        return result | {"text": "no drift"}
    return result | {"kt_per_ns_dof": drift.kt_per_ns_dof, "error": drift.error, "text": f"{drift} kT/ns/dof"}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--platform", default="CUDA")
    parser.add_argument("--precision", choices=("single", "mixed", "double"), default="mixed")
    parser.add_argument("--sets", nargs="+", choices=STEP_SIZES, default=list(STEP_SIZES))
    parser.add_argument("--picoseconds", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=600, help="no run is begun after so long")
    parser.add_argument("--output", type=Path, metavar="FILE", help="all numbers, as JSON")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if a run failed or was left out."""
    options = parse(arguments)
    begin, results, failed = perf_counter(), [], False
    for constraints in options.sets:
        system, start = load("dhfr", constraints, options.inputs)
        clusters = find_clusters(system, mc.RattleIntegrator(RUNS["Rattle"][0]), start.positions)
        freedom = count_degrees_of_freedom(system, clusters)
        for integrator in RUNS:
            result: dict[str, object] = {"constraints": constraints, "integrator": integrator}
            try:
                if perf_counter() - begin > options.seconds:
                    raise TimeoutError(f"the {options.seconds:g} s were over")
                result = describe(integrator, constraints, sample(integrator, constraints, options), freedom)
            except (mm.OpenMMException, TimeoutError) as error:
                result |= {"text": f"failed: {error}"}
                failed = True
            results.append(result)
            print(f"{constraints:9} {integrator:15} {result['text']}", flush=True)
            if options.output is not None:
                described = {**machine_names(), "precision": options.precision, "results": results}
                options.output.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
