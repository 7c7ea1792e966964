# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Integrators that know nothing of this package, by name, and the errors of what a System holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import openmm as mm
from openmm import unit
from openmm.amd import AMDForceGroupIntegrator, AMDIntegrator, DualAMDIntegrator
from openmm.mtsintegrator import MTSIntegrator, MTSLangevinIntegrator
from periodic_networks import nearest_image
from platforms import named

import openmmconstraints as mc

SEED = 5

# ---- what the constraints are, at positions --------------------------------------------------------------------------


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    return math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)


def dihedral(x: np.ndarray) -> float:
    a, b, c = np.diff(x, axis=0)
    m, n = np.cross(a, b), np.cross(b, c)
    return math.atan2(np.linalg.norm(b) * (a @ n), m @ n)


def errors_of(system: mm.System, x: np.ndarray) -> Iterator[float]:
    """Of everything that is held but expressions: relative of lengths, rad of angles, as the tolerance bounds them."""
    masses = np.array([system.getParticleMass(p)._value for p in range(system.getNumParticles())])
    box = np.array([edge._value for edge in system.getDefaultPeriodicBoxVectors()])

    def length_error(i: int, j: int, length: float, periodic: bool) -> float:
        r = x[[i]] - x[[j]]
        return abs(np.linalg.norm(nearest_image(r, box) if periodic else r) / length - 1)

    def centre(group: list[int]) -> np.ndarray:
        return np.average(x[list(group)], axis=0, weights=masses[list(group)])

    forces = [mc.ConstraintForce.cast(force) for force in system.getForces() if mc.ConstraintForce.isinstance(force)]
    bodies = [{*force.getRigidBodyParameters(b)[0]} for force in forces for b in range(force.getNumRigidBodies())]
    for c in range(system.getNumConstraints()):
        i, j, length = system.getConstraintParameters(c)
        if not any({i, j} <= body for body in bodies):  # whose shape counts
            yield length_error(i, j, length._value, system.usesPeriodicBoundaryConditions())
    for force in forces:
        for c in range(force.getNumDistances()):
            i, j, length = force.getDistanceParameters(c)
            yield length_error(i, j, length._value, force.usesPeriodicBoundaryConditions())
        for c in range(force.getNumAngles()):
            i, j, k, value = force.getAngleParameters(c)
            yield abs(angle_between(x[i] - x[j], x[k] - x[j]) - value._value)
        for c in range(force.getNumDihedrals()):
            *particles, value = force.getDihedralParameters(c)
            yield abs(math.remainder(dihedral(x[particles]) - value._value, 2 * math.pi))
        for c in range(force.getNumCentroidDistances()):
            first, second, length = force.getCentroidDistanceParameters(c)
            yield abs(np.linalg.norm(centre(first) - centre(second)) / length._value - 1)
        for c in range(force.getNumRigidBodies()):
            particles, shape = force.getRigidBodyParameters(c)
            shape = np.array(shape._value)
            for i, j in combinations(range(len(particles)), 2):
                wanted = np.linalg.norm(shape[i] - shape[j])
                yield abs(np.linalg.norm(x[particles[i]] - x[particles[j]]) / wanted - 1)


# ---- integrators that know nothing of this package -------------------------------------------------------------------


def splitting(order: str, dt: float, acceptance: float = 1.0) -> mm.CustomIntegrator:
    """Langevin dynamics by substeps R, V and O as openmmtools writes them, at 300 K and 1/ps.

    :param acceptance: of steps; the state before the step is restored in the others, as Metropolized integrators do
    """
    steps = order.split()
    per = {kind: dt / max(1, steps.count(kind)) for kind in "RVO"}
    integrator = mm.CustomIntegrator(dt)
    for name in ("x1", "xold", "vold"):
        integrator.addPerDofVariable(name, 0)
    integrator.addGlobalVariable("accepted", 1)
    integrator.addUpdateContextState()
    integrator.addComputePerDof("xold", "x")
    integrator.addComputePerDof("vold", "v")
    for kind in steps:
        if kind == "R":
            integrator.addComputePerDof("x", f"x + {per[kind]}*v")
            integrator.addComputePerDof("x1", "x")
            integrator.addConstrainPositions()
            integrator.addComputePerDof("v", f"v + (x-x1)/{per[kind]}")
        elif kind == "V":
            integrator.addComputePerDof("v", f"v + {per[kind]}*f/m")
        else:
            a, b = math.exp(-per[kind]), math.sqrt(1 - math.exp(-2 * per[kind]))
            integrator.addComputePerDof("v", f"{a}*v + {b}*sqrt({300 * 0.00831446261815324}/m)*gaussian")
        integrator.addConstrainVelocities()
    if acceptance < 1:
        integrator.addComputeGlobal("accepted", f"step({acceptance} - uniform)")
        integrator.beginIfBlock("accepted != 1")
        integrator.addComputePerDof("x", "xold")
        integrator.addComputePerDof("v", "-vold")
        integrator.endBlock()
    return integrator


def subsystems(dt: float) -> mm.NoseHooverIntegrator:
    """One thermostat for what is constrained, and for the pair that is not."""
    integrator = mm.NoseHooverIntegrator(dt)
    integrator.addSubsystemThermostat(range(1, 8), [(9, 10)], 300, 20, 100, 20)
    return integrator


def dissipative(dt: float) -> mm.DPDIntegrator:
    """OpenMM's gives NaN within the cutoff of particles without mass: the anchor and the virtual site below."""
    integrator = mm.DPDIntegrator(300, 1, 0.5, dt)
    for massless in (0, 8):
        integrator.setParticleType(massless, 1)
    for kind in (0, 1):
        integrator.addTypePair(kind, 1, 0, 1e-6)
    return integrator


def quantum(dt: float) -> mm.Integrator:
    integrator = mm.QTBIntegrator(300, 1, dt)
    integrator.setSegmentLength(10 * dt)  # its set-up grows as the cube
    return integrator


def compound(*children: mm.Integrator) -> mm.CompoundIntegrator:
    """Children that take_step() has take turns."""
    integrator = mm.CompoundIntegrator()
    for child in children:
        integrator.addIntegrator(child)
    return integrator


def take_step(integrator: mm.Integrator, step: int) -> None:
    if isinstance(integrator, mm.CompoundIntegrator):
        integrator.setCurrentIntegrator(step % integrator.getNumIntegrators())
    integrator.step(1)


THEIRS: dict[str, Callable[[float], mm.Integrator]] = {
    "Verlet": mm.VerletIntegrator,
    "LangevinMiddle": lambda dt: mm.LangevinMiddleIntegrator(300, 1, dt),
    "Langevin": lambda dt: mm.LangevinIntegrator(300, 1, dt),
    "NoseHoover": lambda dt: mm.NoseHooverIntegrator(300, 20, dt),
    "NoseHooverSubsystems": subsystems,
    "Brownian": lambda dt: mm.BrownianIntegrator(300, 100, dt),
    "VariableVerlet": lambda dt: mm.VariableVerletIntegrator(1e-4),
    "VariableLangevin": lambda dt: mm.VariableLangevinIntegrator(300, 1, 1e-4),
    "VelocityVerlet": lambda dt: splitting("V R V", dt),
    "BAOAB": lambda dt: splitting("V R O R V", dt),
    "VVVR": lambda dt: splitting("O V R V O", dt),
    "gBAOAB": lambda dt: splitting("V R R O R R V", dt),
    "Metropolized": lambda dt: splitting("O V R V O", dt, acceptance=0.6),
    "MTS": lambda dt: MTSIntegrator(2 * dt, [(0, 1), (1, 2)]),
    "MTSLangevin": lambda dt: MTSLangevinIntegrator(300, 1, 2 * dt, [(0, 1), (1, 4)]),
    "AMD": lambda dt: AMDIntegrator(dt, 100, 500),
    "AMDForceGroup": lambda dt: AMDForceGroupIntegrator(dt, 1, 50, 200),
    "DualAMD": lambda dt: DualAMDIntegrator(dt, 1, 100, 500, 50, 200),
    "Compound": lambda dt: compound(splitting("V R V", dt), mm.LangevinMiddleIntegrator(300, 1, dt)),
}
if hasattr(mm, "DPDIntegrator"):
    THEIRS["DPD"] = dissipative
if hasattr(mm, "QTBIntegrator"):
    THEIRS["QTB"] = quantum
DRUDE: dict[str, Callable[[float], mm.Integrator]] = {
    "DrudeLangevin": lambda dt: mm.DrudeLangevinIntegrator(300, 1, 1, 20, dt),
    "DrudeNoseHoover": lambda dt: mm.DrudeNoseHooverIntegrator(300, 20, 1, 40, dt),
    "DrudeSCF": mm.DrudeSCFIntegrator,
}
WITH_OURS: dict[str, Callable[[float], mm.Integrator]] = {
    "BesideOurs": lambda dt: compound(splitting("V R V", dt), mc.RattleIntegrator(dt)),
    "BesideOurLangevin": lambda dt: compound(
        mm.LangevinMiddleIntegrator(300, 1, dt), mc.RattleLangevinIntegrator(300, 1, dt), mm.VerletIntegrator(dt)
    ),
}


def tools(name: str, *arguments: object, **options: object) -> Callable[[float], mm.Integrator]:
    def make(dt: float) -> mm.Integrator:
        from openmmtools import integrators  # seconds

        return getattr(integrators, name)(*arguments, timestep=dt * unit.picosecond, **options)

    return make


TOOLS = {
    "openmmtools.Langevin": tools("LangevinIntegrator", measure_shadow_work=True, measure_heat=True),
    "openmmtools.Metropolized": tools("LangevinIntegrator", splitting="O { V R V } O"),
    "openmmtools.VelocityVerlet": tools("VelocityVerletIntegrator"),
    "openmmtools.HMC": tools("HMCIntegrator", nsteps=3),
    "openmmtools.GHMC": tools("GHMCIntegrator"),
    "openmmtools.GeodesicBAOAB": tools("GeodesicBAOABIntegrator"),
    "openmmtools.Switching": tools("AlchemicalNonequilibriumLangevinIntegrator", {"pull": "lambda"}, nsteps_neq=50),
    "openmmtools.Periodic": tools("PeriodicNonequilibriumIntegrator", {"pull": "lambda"}, 5, 10),
    "openmmtools.External": tools("ExternalPerturbationLangevinIntegrator"),
}
# Benchmarks install it without what its integrators import.
INSTALLED = TOOLS if find_spec("openmmtools") and find_spec("mdtraj") else {}


def prepare(integrator: mm.Integrator, tolerance: float) -> mm.Integrator:
    """Same noise in every run."""
    each = [integrator]
    if isinstance(integrator, mm.CompoundIntegrator):
        each += [integrator.getIntegrator(i) for i in range(integrator.getNumIntegrators())]
    for one in each:
        one.setConstraintTolerance(tolerance)
        if hasattr(one, "setRandomNumberSeed"):
            one.setRandomNumberSeed(SEED)
    return integrator


def on_constraints(system: mm.System, x: np.ndarray) -> np.ndarray:
    """Positions on the constraints: from far off by our integrator, since OpenMM's have no call for that."""
    integrator = prepare(mc.RattleIntegrator(0.001), 1e-12)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions(x)
    integrator.applyConstraints()
    return positions(context)


def start(system: mm.System, x: np.ndarray, integrator: mm.Integrator, platform: str = "Reference") -> mm.Context:
    """On the constraints, at 300 K."""
    properties = {"Threads": "1"} if platform == "CPU" else {}
    context = mm.Context(system, integrator, named(platform), properties)
    context.setPositions(x)
    context.applyConstraints(1e-5)
    context.setVelocitiesToTemperature(300, SEED)
    return context


def positions(context: mm.Context) -> np.ndarray:
    return context.getState(positions=True).getPositions(asNumpy=True)._value
