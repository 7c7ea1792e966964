# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Systems with redundant or singular constraints, linear or planar, as OpenMM and as this plugin solve them.

Each starts at 300 K and takes 200 steps of 1 fs without forces, by VerletIntegrator and by ShakeIntegrator. Solved
means that every distance holds to the tolerance after the last step and, with this plugin, that the number of degrees
of freedom is right.

    python benchmarks/degenerate.py
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark import generated
from openmmconstraints.benchmark.generated import Molecules
from openmmconstraints.inspection.bonds import BondMeter
from openmmconstraints.terminal.table import make_console, make_table

STEPS, STEP_SIZE, TEMPERATURE, TOLERANCE, SEED = 200, 0.001, 300.0, 1e-8, 7


@dataclass(frozen=True)
class Trial:
    """A system and the expected outcome."""

    name: str
    make: Callable[[], Molecules]
    set: str
    freedom: int | None  # degrees of freedom; None: singular and not provably rigid, has to raise an exception


@dataclass
class Result:
    """The outcome of a trial."""

    name: str
    built_in: str  # "solved", "NaN", "off by 1.2e-03", or "refused: ..." with the message of the exception
    ours: str  # the same of this plugin, or a wrong number of degrees of freedom
    is_right: bool  # whether `ours` is the expected outcome


def _methane() -> Molecules:
    corners = np.array([[0, 0, 0], [1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return Molecules(["C", *"HHHH"], 0.1087 / math.sqrt(3) * corners, [(0, i) for i in range(1, 5)], _pairs(5))


def _linear(elements: list[str], places: list[float]) -> Molecules:
    positions = np.array(places)[:, None] * np.array([[1.0, 0.0, 0.0]])
    return Molecules(elements, positions, [(i, i + 1) for i in range(len(places) - 1)], _pairs(len(places)))


def _near(molecule: Molecules, cutoff: float) -> Molecules:
    """Holds all pairs that are closer than a cutoff (nm)."""
    x = molecule.positions
    molecule.rigid = [(i, j) for i, j in _pairs(len(x)) if np.linalg.norm(x[i] - x[j]) < cutoff]
    return molecule


def _triangles() -> Molecules:
    """A planar sheet of triangles with 4 x 4 particles: the only motion that its distances allow is folding."""
    u, v = np.array([1.0, 0.0, 0.0]), np.array([0.5, math.sqrt(0.75), 0.0])
    positions = np.array([0.15 * (i * u + j * v) for i in range(4) for j in range(4)])
    return _near(Molecules(["C"] * 16, positions, []), 0.16)


def _pairs(n: int) -> list[tuple[int, int]]:
    return list(combinations(range(n), 2))


TRIALS = (
    Trial("CO2 with O-O held", lambda: generated.carbon_dioxide(1), "Rigid", 5),
    Trial("OCS with O-S held", lambda: _linear(["O", "C", "CH2"], [0.0, 0.116, 0.272]), "Rigid", 5),
    Trial("methane, all H-H held", _methane, "Rigid", 6),
    Trial("benzene, 1-3 held", lambda: _near(generated.benzene(1), 0.26), "Rigid", 6),
    Trial("benzene, all 66 held", lambda: generated.benzene(1), "Rigid", 6),
    Trial("linear molecule of 5", lambda: generated.needles(1), "Rigid", 5),
    Trial("planar graphene, 4 x 4 cells", lambda: generated.graphene(4), "AllBonds", 3 * 32 - 37),
    Trial("planar graphene, 12 x 12 cells", lambda: generated.graphene(12), "AllBonds", 3 * 288 - 397),
    Trial("nanotube (20, 0), 4 cells", lambda: generated.nanotube(4), "AllBonds", 3 * 160 - 200),
    Trial("planar sheet of triangles", _triangles, "Rigid", None),
)


def try_all() -> list[Result]:
    """Runs every trial."""
    return [_try(trial) for trial in TRIALS]


def _try(trial: Trial) -> Result:
    model = trial.make()
    system = mm.System()
    for element in model.elements:
        system.addParticle(generated.MASSES[element])
    for i, j in model.pairs(trial.set):
        system.addConstraint(i, j, float(np.linalg.norm(model.positions[i] - model.positions[j])))
    built_in = _run(system, model, mm.VerletIntegrator(STEP_SIZE))
    meter = BondMeter(system)
    mc.moveConstraints(system)
    integrator = mc.ShakeIntegrator(STEP_SIZE)
    ours = _run(system, model, integrator, meter)
    if trial.freedom is None:
        return Result(trial.name, built_in, ours, ours.startswith("refused"))
    freedom = _degrees_of_freedom(system, model)
    if ours == "solved" and freedom != trial.freedom:
        ours = f"{freedom} degrees of freedom instead of {trial.freedom}"
    return Result(trial.name, built_in, ours, ours == "solved")


def _degrees_of_freedom(system: mm.System, model: Molecules) -> int:
    integrator = mc.ShakeIntegrator(STEP_SIZE)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions(model.positions)
    return integrator.getNumDegreesOfFreedom()


def _run(system: mm.System, model: Molecules, integrator: mm.Integrator, meter: BondMeter | None = None) -> str:
    meter = meter or BondMeter(system)
    integrator.setConstraintTolerance(TOLERANCE)
    try:
        context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
        context.setPositions(model.positions)
        context.setVelocitiesToTemperature(TEMPERATURE, SEED)
        integrator.step(STEPS)
    except mm.OpenMMException as error:
        return f"refused: {str(error)[:90]} ..."
    error = meter.largest_error(context.getState(positions=True))
    # 1.01: coordinates far from the origin have larger rounding errors.
    return "NaN" if math.isnan(error) else "solved" if error < 1.01 * TOLERANCE else f"off by {error:.1e}"


def main() -> int:
    """Prints a table; returns 1 if this plugin's outcome of a trial is not the expected one."""
    results = try_all()
    console = make_console()
    table = make_table(
        f"{STEPS} steps at {TEMPERATURE:g} K, tolerance {TOLERANCE:g}", ["System", "Built-in", "Ours"], []
    )
    for result in results:
        table.add_row(result.name, result.built_in, result.ours)
    console.print(table)
    console.print(f"right: {sum(r.is_right for r in results)} of {len(results)}")
    return 0 if all(result.is_right for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
