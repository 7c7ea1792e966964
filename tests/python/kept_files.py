# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Files as a release writes them, kept under data/ by its version: tests check that later releases still read them.

To keep those of a release, with it installed: python tests/python/kept_files.py tests/python/data/VERSION
For each of integrators() these are the System and the integrator as XML, a checkpoint of the Reference platform after
10 steps (as base64 text) and, as JSON, the readings at that time and, where no noise is drawn, after 10 more steps. For
integrators with a Nose-Hoover chain, the State at the time of the checkpoint is kept too.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import numpy as np
import openmm as mm

import openmmconstraints as mc

STEPS = 10
ROTATION = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])  # so that no coordinate is round
POSITIONS = [
    *([0, 0, 0], [0.15, 0, 0], [0.2, 0.14, 0], [0.33, 0.16, 0.09]),  # a bent chain
    *([1, 0, 0], [1.1, 0, 0], [1.02, 0.12, 0]),  # a triangle
    *([1, 0.5, 0.5], [1.1, 0.5, 0.5], [1.25, 0.5, 0.5]),  # a linear rigid body
    [0.3, 0.4, 0.125],  # on a paraboloid
    [0.3, 0.4, 0.3],  # massless, above it
]
MASSES = [12, 14, 1, 16, 10, 11, 12, 14, 12, 16, 20, 0]


def system(moving: bool = True) -> mm.System:
    """Constraints of every kind, one of them a System constraint.

    :param moving: whether some targets move
    """
    positions = np.array(POSITIONS) @ ROTATION.T
    made = mm.System()
    for mass in MASSES:
        made.addParticle(mass)
    made.setDefaultPeriodicBoxVectors([4, 0, 0], [0.5, 4, 0], [-0.5, 1, 4])
    made.addConstraint(0, 1, 0.15)
    springs = mm.CustomExternalForce("50*((x-x0)^2+(y-y0)^2+(z-z0)^2)")
    for name in ("x0", "y0", "z0"):
        springs.addPerParticleParameter(name)
    for i, position in enumerate(positions):
        springs.addParticle(i, position + 0.05 * np.cos([i, 2 * i, 3 * i]))
    held = mc.ConstraintForce()
    held.setName("held")
    held.setForceGroup(3)
    held.setUsesPeriodicBoundaryConditions(True)
    held.setParticleNames([f"A:ALA{i}:C'\u03b1" for i in range(7)])
    held.addDistance(2, 3, float(np.linalg.norm(positions[3] - positions[2])), 0.02 if moving else 0)
    held.addAngle(0, 1, 2, angle(positions[:3]), -0.3 if moving else 0)
    held.addDihedral(0, 1, 2, 3, dihedral(positions[:4]), 0.2 if moving else 0)
    centres = [np.average(positions[i : i + 3], axis=0, weights=MASSES[i : i + 3]) for i in (4, 7)]
    held.addCentroidDistance([4, 5, 6], [7, 8, 9], float(np.linalg.norm(centres[0] - centres[1])), 0.1 * moving)
    for first in (4, 7):
        held.addRigidBody(list(range(first, first + 3)), [mm.Vec3(*x) for x in POSITIONS[first : first + 3]])
    surface = mc.CustomConstraintForce(2, f"distance(p1, p2) - a - h*f(5+x1){'+0.1*t' if moving else ''}")
    surface.setName("surface")
    surface.addPerConstraintParameter("a")
    surface.addGlobalParameter("h", 0.01)
    surface.addTabulatedFunction("f", mm.Continuous1DFunction([0.0, 0.1, 0.3, 0.2], 0.0, 10.0))
    surface.addConstraint([10, 11], [0.175])
    for force in (springs, held, surface):
        made.addForce(force)
    return made


def declared() -> mm.System:
    """Distances without names, and every kind of tabulated function: to be written and read, not simulated."""
    made = mm.System()
    for _ in range(3):
        made.addParticle(1)
    force = mc.CustomConstraintForce(3, "angle(p1,p2,p3)+c1(x1)+c2(x1,y1)+c3(x1,y1,z1)+d1(k)+d2(k,k)+d3(k,k,k)-g")
    force.setUsesPeriodicBoundaryConditions(True)
    force.setForceGroup(7)
    force.addPerConstraintParameter("k")
    force.addGlobalParameter("g", 1 / 3)
    values = [i / 7 for i in range(8)]
    force.addTabulatedFunction("c1", mm.Continuous1DFunction(values, 0, 1))
    force.addTabulatedFunction("c2", mm.Continuous2DFunction(2, 4, values, 0, 1, 0, 2))
    force.addTabulatedFunction("c3", mm.Continuous3DFunction(2, 2, 2, values, 0, 1, 0, 2, 0, 3))
    force.addTabulatedFunction("d1", mm.Discrete1DFunction(values))
    force.addTabulatedFunction("d2", mm.Discrete2DFunction(2, 4, values))
    force.addTabulatedFunction("d3", mm.Discrete3DFunction(2, 2, 2, values))
    force.addConstraint([2, 0, 1], [1.0])
    made.addForce(force)
    nameless = mc.ConstraintForce()
    nameless.addDistance(0, 1, 1 / 3, -1 / 7)
    made.addForce(nameless)
    return made


def angle(x: np.ndarray) -> float:
    first, second = x[0] - x[1], x[2] - x[1]
    return float(np.arctan2(np.linalg.norm(np.cross(first, second)), first @ second))


def dihedral(x: np.ndarray) -> float:
    first, axis, last = x[1] - x[0], x[2] - x[1], x[3] - x[2]
    across = np.cross(axis, last)
    return float(np.arctan2(np.linalg.norm(axis) * (first @ across), np.cross(first, axis) @ across))


def integrators() -> dict[str, mm.Integrator]:
    """The integrators by the names of their files; no setting has its default."""
    langevin, geodesic = (mc.RattleLangevinIntegrator(310, 2, 0.001) for _ in range(2))
    for one in (langevin, geodesic):
        one.setRandomNumberSeed(-7)
    geodesic.setNumGeodesicSteps(4)
    explicit = mc.ConstraintForceIntegrator(0.0005)
    explicit.setStabilization(100, 200)
    explicit.setMaxDrift(0.01)
    found = {
        "Rattle": mc.RattleIntegrator(0.001),
        "Shake": mc.ShakeIntegrator(0.001),
        "RattleLangevin": langevin,
        "GeodesicLangevin": geodesic,
        "RattleNoseHoover": mc.RattleNoseHooverIntegrator(310, 20, 0.001, 5, 2, 3),
        "ConstraintForce": explicit,
    }
    for one in found.values():
        one.setConstraintTolerance(3e-9)
        one.setSolver(mc.ConstraintIntegrator.MatrixInversion)
        one.setMaxIterations(77)
        one.setWarmStart(True)
        one.setIntegrationForceGroups({0, 2})
    compound = mm.CompoundIntegrator()
    compound.addIntegrator(mc.RattleNoseHooverIntegrator(310, 20, 0.001, 2))
    compound.addIntegrator(mc.RattleIntegrator(0.001))
    return {**found, "Compound": compound}


def current(integrator: mm.Integrator) -> mm.Integrator:
    """The integrator that has the readings: the first one of a CompoundIntegrator."""
    if isinstance(integrator, mm.CompoundIntegrator):
        return mc.RattleNoseHooverIntegrator.cast(integrator.getIntegrator(0))
    return integrator


def start(made: mm.System, integrator: mm.Integrator) -> mm.Context:
    """A Context on the Reference platform, at time 0."""
    context = mm.Context(made, integrator, mm.Platform.getPlatform("Reference"))
    positions = np.array(POSITIONS) @ ROTATION.T
    context.setPositions(positions)
    context.setVelocities(np.cos(np.arange(positions.size)).reshape(-1, 3))
    return context


def read(context: mm.Context, integrator: mm.Integrator, of_step: bool = True) -> dict[str, object]:
    """The readings that are kept.

    :param of_step: whether there was a step in this Context, or before a checkpoint that it has loaded
    """
    state = context.getState(positions=True, velocities=True)
    one = current(integrator)
    summary = one.getSolverSummary()
    reading = {
        "time": state.getTime().value_in_unit(mm.unit.picosecond),
        "positions": state.getPositions(asNumpy=True)._value.tolist(),
        "velocities": state.getVelocities(asNumpy=True)._value.tolist(),
        "multipliers": list(one.getMultipliers()) if of_step else [],
        "velocity multipliers": list(one.getVelocityMultipliers()) if of_step else [],
        "work": one.getConstraintWork()._value,
        "summary": [summary.converged, summary.iterations, summary.maxError, summary.worstConstraint],
    }
    if isinstance(one, mc.RattleNoseHooverIntegrator):
        reading["heat bath energy"] = one.computeHeatBathEnergy()._value
    if isinstance(one, mc.RattleLangevinIntegrator):
        reading["heat"] = one.getHeat()._value
    return reading


def has_chain(integrator: mm.Integrator) -> bool:
    return isinstance(current(integrator), mc.RattleNoseHooverIntegrator)


def draws_noise(integrator: mm.Integrator) -> bool:
    return isinstance(integrator, mc.RattleLangevinIntegrator)


def keep(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Declared.system.xml").write_text(mm.XmlSerializer.serialize(declared()))
    for name, integrator in integrators().items():
        made = system(moving=not has_chain(integrator))
        context = start(made, integrator)
        integrator.step(STEPS)
        moments = {"checkpoint": read(context, integrator)}
        files = {
            "system.xml": mm.XmlSerializer.serialize(made),
            "integrator.xml": mm.XmlSerializer.serialize(integrator),
            "checkpoint.txt": base64.encodebytes(context.createCheckpoint()).decode(),
        }
        if has_chain(integrator):
            state = context.getState(positions=True, velocities=True, parameters=True, integratorParameters=True)
            files["state.xml"] = mm.XmlSerializer.serialize(state)
        if not draws_noise(integrator):
            integrator.step(STEPS)
            moments["later"] = read(context, integrator)
        files["json"] = json.dumps(moments, indent=1) + "\n"
        for ending, text in files.items():
            (folder / f"{name}.{ending}").write_text(text)


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
