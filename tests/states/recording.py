# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What tests/compare_states.py keeps of a run: arrays and texts, by name."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.inspection.system import particle_masses

from .held import HELD, SCHEMES, SOLVERS, Built, Held

STEPS_BEFORE, STEPS_AFTER = 3, 2  # the checkpoint
KT = 2.494  # kJ/mol, at 300 K
SEED = 7
PRECISIONS = ("single", "mixed", "double")
DEVICES = ("OpenCL", "CUDA")
ABOUT = "about"  # the key of what is said of a whole file
Recorded = dict[str, np.ndarray]


class Case(NamedTuple):
    """A run; its name is that of these words, with slashes."""

    system: str
    integrator: str
    method: str
    precision: str


def all_cases(names: list[str], integrators: list[str] | None, methods: list[str], precisions: list[str]) -> list[Case]:
    """Those of a record, system by system; without integrators, with those that each system's entry has."""
    return [
        Case(name, integrator, method, precision)
        for name in names
        for method in methods
        for integrator in integrators or getattr(HELD[name], method)
        for precision in precisions
    ]


# ---- a run -----------------------------------------------------------------------------------------------------------


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """With other variables."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def properties_of(platform: str, precision: str) -> dict[str, str]:
    """With which a platform gives the same bits each time."""
    if platform == "CPU":
        return {"Threads": "1"}
    found = {"Precision": precision} if platform in DEVICES else {}
    return found | ({"DeterministicForces": "true"} if platform == "CUDA" else {})


def make_integrator(case: Case) -> mc.ConstraintIntegrator:
    integrator = SCHEMES[case.integrator]()
    integrator.setSolver(SOLVERS[case.method])
    # The iterative solver takes many iterations to smaller ones.
    integrator.setConstraintTolerance(1e-8 if case.method == "direct" and case.precision != "single" else 1e-6)
    return integrator


def velocities_of(system: mm.System) -> np.ndarray:
    """Thermal ones (nm/ps), which the first step projects."""
    masses = particle_masses(system)[:, None]
    normal = np.random.default_rng(SEED).normal(size=(len(masses), 3))
    return normal * np.sqrt(KT / np.where(masses > 0, masses, np.inf))


def plain(value: Any) -> np.ndarray:
    """In OpenMM's own units."""
    if unit.is_quantity(value):
        value = value.value_in_unit_system(unit.md_unit_system)
    return np.array(value)


def of_state(**what: bool) -> Callable[[mm.Context], Any]:
    """A reading of a State: its only quantity."""

    def read(context: mm.Context) -> Any:
        state = context.getState(**what)
        if "energy" in what:
            return [state.getPotentialEnergy()._value, state.getKineticEnergy()._value]
        return state.getPositions(asNumpy=True) if "positions" in what else state.getVelocities(asNumpy=True)

    return read


def by_integrator(method: str, *arguments: object) -> Callable[[mm.Context], Any]:
    """A reading by a method of the integrator; None where it has no such method."""

    def read(context: mm.Context) -> Any:
        function = getattr(context.getIntegrator(), method, None)
        return None if function is None else function(*arguments)

    return read


READINGS: dict[str, Callable[[mm.Context], Any]] = {
    "positions": of_state(positions=True),
    "velocities": of_state(velocities=True),
    "energies": of_state(energy=True),
    "multipliers": by_integrator("getMultipliers", True),
    "velocity multipliers": by_integrator("getVelocityMultipliers", True),
    "instantaneous multipliers": by_integrator("computeMultipliers", True),
    "constraint forces": by_integrator("getConstraintForces", True),
    "constraint virial": by_integrator("getConstraintVirial", True),
    "constraint work": by_integrator("getConstraintWork"),
    "heat": by_integrator("getHeat"),
    "heat bath energy": by_integrator("computeHeatBathEnergy"),
}


def read_all(context: mm.Context) -> Recorded:
    """Arrays, or the text of the exception; first what a reading that solves again would change."""
    summary = context.getIntegrator().getSolverSummary()
    found = {"iterations": np.array(summary.iterations), "solver": np.array(f"{summary.solver} {summary.note}".strip())}
    for name, read in READINGS.items():
        try:
            value = read(context)
        except mm.OpenMMException as error:
            value = str(error)
        if value is not None:
            found[name] = plain(value)
    return found


def run(case: Case, held: Held, built: Built, platform: str) -> Recorded:
    """Some steps from the start, and again from a checkpoint on the way; "outcome" has the text of an exception."""
    system, positions = built
    with environment(held.environment):
        integrator = make_integrator(case)
        chosen = mm.Platform.getPlatform(platform)
        try:
            context = mm.Context(system, integrator, chosen, properties_of(platform, case.precision))
        except mm.OpenMMException as error:
            return {"outcome": np.array(str(error))}
        context.setPositions(positions)
        context.setVelocities(velocities_of(system))
        try:
            integrator.step(1)
            held.change(context)
            integrator.step(STEPS_BEFORE - 1)
            checkpoint = context.createCheckpoint()
            integrator.step(STEPS_AFTER)
        except mm.OpenMMException as error:
            return read_all(context) | {"outcome": np.array(str(error))}
        found = read_all(context)
        context.loadCheckpoint(checkpoint)
        integrator.step(STEPS_AFTER)
        found["restored positions"] = plain(READINGS["positions"](context))
        return found | {"outcome": np.array("")}


# ---- a file ----------------------------------------------------------------------------------------------------------


def libraries() -> dict[str, str]:
    """The package's libraries in this process, and their hashes: they tell one build from another."""
    maps = Path("/proc/self/maps")
    words = [line.split()[-1] for line in maps.read_text().splitlines()] if maps.exists() else []
    paths = sorted({word for word in words if "OpenMMConstraints" in word and Path(word).is_file()})
    return {path: hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16] for path in paths}


def about(platform: str) -> str:
    """Of a whole file, as JSON."""
    variables = {name: value for name, value in sorted(os.environ.items()) if name.startswith("OPENMM_CONSTRAINTS_")}
    said = {"version": mc.__version__, "openmm": mm.__version__, "platform": platform}
    return json.dumps(said | {"libraries": libraries(), "environment": variables}, indent=1)


def save(file: Path, platform: str, runs: Mapping[Case, Recorded]) -> None:
    arrays = {f"{'/'.join(case)}/{name}": array for case, found in runs.items() for name, array in found.items()}
    np.savez_compressed(file, **{ABOUT: np.array(about(platform))}, **arrays)


def load(file: Path) -> tuple[dict[str, Any], dict[Case, Recorded]]:
    """What is said of it, and the runs."""
    runs: dict[Case, Recorded] = {}
    with np.load(file, allow_pickle=False) as arrays:
        said = json.loads(str(arrays[ABOUT]))
        for key in arrays.files:
            if key != ABOUT:
                *words, name = key.split("/")
                runs.setdefault(Case(*words), {})[name] = arrays[key]
    return said, runs
