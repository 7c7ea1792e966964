# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Cases that together run every kernel text: all integrators, both solvers, every path of a cluster, all kinds of
constraints, and failures.

    python cases.py NAME PLATFORM FILE    # run one, and write its result
"""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import openmm
from systems import (
    Assembly,
    anchored,
    bodies,
    branched,
    chains,
    everything,
    groups,
    groups_of_bodies,
    hinge,
    joints,
    kinds,
    large,
    local,
    redundant,
    row_of_bodies,
    small,
    stiff,
)

import openmmconstraints as mc

DT = 0.001


def nose_hoover():
    return mc.RattleNoseHooverIntegrator(300, 20, DT)


GROUPS = [(1, 1), (0, 2), (2, 4)]  # the springs are in the group with two substeps


def langevin_mts():
    integrator = mc.RattleMTSLangevinIntegrator(300, 5, DT, GROUPS)
    integrator.setRandomNumberSeed(3)
    return integrator


def langevin(geodesic_steps: int = 1):
    integrator = mc.RattleLangevinIntegrator(300, 5, DT)
    integrator.setRandomNumberSeed(3)
    integrator.setNumGeodesicSteps(geodesic_steps)
    return integrator


SCHEMES: dict[str, Callable[[], mc.ConstraintIntegrator]] = {
    "Rattle": lambda: mc.RattleIntegrator(DT),
    "Shake": lambda: mc.ShakeIntegrator(DT),
    "RattleLangevin": langevin,
    "GeodesicLangevin": lambda: langevin(2),
    "NoseHoover": nose_hoover,
    "RattleMTS": lambda: mc.RattleMTSIntegrator(DT, GROUPS),
    "RattleMTSLangevin": langevin_mts,
    "ConstraintForce": lambda: mc.ConstraintForceIntegrator(DT),
}
SOLVERS = {"iterative": mc.ConstraintIntegrator.Iterative, "direct": mc.ConstraintIntegrator.MatrixInversion}
BODY_PARTS = {"OPENMM_CONSTRAINTS_BODY_PART": "18"}
ONE_PIECE = {"OPENMM_CONSTRAINTS_PARTS": "0"}
GLOBAL_FACTORS = ONE_PIECE | {"OPENMM_CONSTRAINTS_SHARED_MEMORY": "0"}
SOME_SHARED = ONE_PIECE | {"OPENMM_CONSTRAINTS_SHARED_MEMORY": "1000"}
SUBDOMAINS = {"OPENMM_CONSTRAINTS_PARTS": "30"}
GLOBAL_SUBDOMAINS = GLOBAL_FACTORS | SUBDOMAINS
BORDER = {"OPENMM_CONSTRAINTS_BORDER": "1"}
JOINED_SUBDOMAINS = {"OPENMM_CONSTRAINTS_PARTS": "6"}


@dataclass
class Case:
    build: Callable[[Assembly], None]
    scheme: str = "Rattle"
    solver: str = "direct"
    precision: str = "mixed"
    environment: dict[str, str] = field(default_factory=dict)
    prepare: Callable[[Assembly, mc.ConstraintIntegrator], None] = lambda assembly, integrator: None
    serves: str = ""  # what the summary of the solver has to say
    error: str = ""  # what the message of a failing step has to say
    steps: int = 2  # what steps write alternates between two buffers
    speed: float = 0.4  # nm/ps
    tolerance: float = 0  # of constraints; 0: a usual one
    first_tolerance: float = 0  # of the first step, if another: then the device projects
    is_quick: bool = False  # in scripts/test.sh --full

    def __post_init__(self):
        if self.tolerance == 0:  # the iterative solver takes many iterations to smaller ones
            self.tolerance = 1e-6 if self.precision == "single" else 1e-4 if self.solver == "iterative" else 1e-8
            if self.build is joints and self.precision != "single":  # an error of heavy bodies is a large multiplier
                self.tolerance *= 1e-2 if self.solver == "direct" else 1e-4


def add_barostat(a: Assembly, integrator):
    """It moves molecules, so the device measures all errors before a step."""
    a.system.setDefaultPeriodicBoxVectors((6, 0, 0), (0.4, 6, 0), (0.2, -0.6, 6))
    for force in a.forces:
        force.setUsesPeriodicBoundaryConditions(True)
    barostat = openmm.MonteCarloBarostat(1, 300, 1)
    barostat.setRandomNumberSeed(4)
    a.add_force(barostat)


def add_barostat_alone(a: Assembly, integrator):
    """Without springs, which make one molecule of all: scaling it would violate no constraint of groups."""
    a.system.removeForce(a.forces.index(a.springs))
    a.forces.remove(a.springs)
    add_barostat(a, integrator)


BAROSTATS = (add_barostat, add_barostat_alone)


def allow_one_iteration(a: Assembly, integrator):
    integrator.setMaxIterations(1)


def start_warm(a: Assembly, integrator):
    integrator.setWarmStart(True)


def blow_up(a: Assembly, integrator):
    """A force that is NaN where the first particle goes after some steps."""
    force = openmm.CustomExternalForce("sqrt(reach - abs(x - x0))")
    force.addGlobalParameter("reach", 6e-5)
    force.addPerParticleParameter("x0")
    force.addParticle(0, [0])
    a.add_force(force)


def pull_apart(a: Assembly, integrator):
    """A step moves the second particle farther than constraints can undo."""
    force = openmm.CustomExternalForce("-1e7*y")
    force.addParticle(1, [])
    a.add_force(force)


def twist(a: Assembly, integrator):
    """A step turns the first body by more than 90 degrees."""
    force = openmm.CustomExternalForce("1e9*(x-x0)^2")
    force.addGlobalParameter("x0", 0)
    force.addParticle(0, [])
    a.add_force(force)


CASES: dict[str, Case] = {}
for scheme in SCHEMES:
    CASES |= {
        f"small {scheme}": Case(small, scheme, precision="single" if scheme == "Shake" else "mixed"),
        f"local {scheme}": Case(local, scheme),
        f"thread {scheme}": Case(kinds, scheme),
        f"block {scheme}": Case(large, scheme, serves="1 in shared memory"),
        f"block iterative {scheme}": Case(large, scheme, "iterative", serves="Iterative"),
        f"bodies {scheme}": Case(bodies, scheme, precision="single" if scheme == "Shake" else "mixed"),
        f"body parts {scheme}": Case(bodies, scheme, environment=BODY_PARTS),
        f"joints {scheme}": Case(joints, scheme, precision="single" if scheme == "Shake" else "mixed"),
        f"hinge {scheme}": Case(hinge, scheme),
    }
CASES |= {
    "small iterative": Case(small, "GeodesicLangevin", "iterative", "single"),
    "local iterative": Case(local, "ConstraintForce", "iterative"),
    "border": Case(groups, environment=BORDER, prepare=add_barostat_alone, serves="a border of 5 rows", steps=3),
    "border RattleLangevin": Case(groups, "RattleLangevin", environment=BORDER, serves="a border of 5 rows"),
    "border iterative": Case(groups, "ConstraintForce", "iterative", "single", BORDER, serves="a border of 5 rows"),
    "border of bodies": Case(
        groups_of_bodies, environment=BORDER, prepare=add_barostat_alone, serves="a border of 2 rows"
    ),
    "border of bodies RattleLangevin": Case(
        groups_of_bodies, "RattleLangevin", "iterative", environment=BORDER, serves="a border of 2 rows"
    ),
    "border of bodies ConstraintForce": Case(
        groups_of_bodies, "ConstraintForce", precision="single", environment=BORDER, serves="a border of 2 rows"
    ),
    "local double": Case(local, precision="double"),
    "thread iterative": Case(kinds, "RattleLangevin", "iterative"),
    "warm start": Case(local, "Rattle", "iterative", prepare=start_warm),
    "block warm start": Case(large, "Rattle", "iterative", prepare=start_warm),
    "anchored": Case(anchored),
    "anchored RattleLangevin": Case(anchored, "RattleLangevin"),
    "anchored GeodesicLangevin": Case(anchored, "GeodesicLangevin"),
    "anchored iterative": Case(anchored, "ConstraintForce", "iterative", "single"),
    "block with a last round unseen": Case(branched, tolerance=1e-10),
    "block single": Case(branched, precision="single", environment=ONE_PIECE, serves="2 in shared memory"),
    "block shared": Case(branched, environment=ONE_PIECE, serves="2 in shared memory"),
    "block global": Case(branched, environment=GLOBAL_FACTORS, serves="sparse"),
    "block global of all kinds": Case(large, "RattleLangevin", environment=GLOBAL_FACTORS),
    "block double": Case(branched, precision="double", environment=ONE_PIECE, serves="2 in shared memory"),
    "block shared and global": Case(branched, environment=SOME_SHARED, serves="1 in shared memory"),
    "block that falls back": Case(stiff, serves="1 in shared memory", speed=1e-6),
    "blocks in turn": Case(
        chains, "RattleLangevin", prepare=add_barostat, first_tolerance=1e-3, serves="7 in shared memory"
    ),
    "subdomains": Case(branched, environment=SUBDOMAINS, serves="in overlapping subdomains"),
    "subdomains RattleLangevin": Case(
        branched, "RattleLangevin", environment=SUBDOMAINS, serves="in overlapping subdomains"
    ),
    "subdomains single": Case(
        branched, "Shake", precision="single", environment=SUBDOMAINS, serves="in overlapping subdomains"
    ),
    "subdomains of all kinds": Case(large, environment=SUBDOMAINS, serves="in overlapping subdomains"),
    "subdomains in global memory": Case(
        large, "ConstraintForce", environment=GLOBAL_SUBDOMAINS, serves="in overlapping subdomains"
    ),
    "subdomains that are projected": Case(
        large, environment=SUBDOMAINS, prepare=add_barostat, first_tolerance=1e-3, serves="in overlapping subdomains"
    ),
    "subdomains in some shared memory": Case(
        branched, environment=SOME_SHARED | SUBDOMAINS, serves="in overlapping subdomains"
    ),
    "subdomains with joints": Case(row_of_bodies, environment=JOINED_SUBDOMAINS, serves="in overlapping subdomains"),
    "no convergence, subdomains": Case(
        large, environment=SUBDOMAINS, prepare=allow_one_iteration, error="no convergence", speed=2
    ),
    "redundant": Case(redundant),
    "redundant iterative": Case(redundant, "RattleLangevin", "iterative"),
    "barostat": Case(everything, prepare=add_barostat),
    "projection": Case(everything, prepare=add_barostat, first_tolerance=1e-3),
    "projection RattleLangevin": Case(everything, "RattleLangevin", prepare=add_barostat, first_tolerance=1e-3),
    "projection iterative": Case(everything, "Rattle", "iterative", prepare=add_barostat, first_tolerance=1e-3),
    "projection of bodies": Case(bodies, prepare=add_barostat, first_tolerance=1e-3),
    "projection of body parts": Case(
        bodies, "RattleLangevin", prepare=add_barostat, first_tolerance=1e-3, environment=BODY_PARTS
    ),
    "joints iterative": Case(joints, "RattleLangevin", "iterative"),
    "joints warm start": Case(joints, "Rattle", "iterative", prepare=start_warm),
    "joints global": Case(joints, environment=GLOBAL_FACTORS),
    "projection of joints": Case(joints, prepare=add_barostat, first_tolerance=1e-3),
    "projection of joints RattleLangevin": Case(
        joints, "RattleLangevin", "iterative", prepare=add_barostat, first_tolerance=1e-3
    ),
    "joined body that turns too far": Case(hinge, prepare=twist, error="turns by"),
    "body that turns too far": Case(bodies, prepare=twist, error="turns by"),
    "no convergence": Case(everything, prepare=allow_one_iteration, error="no convergence", speed=2),
    "no convergence, local": Case(local, prepare=allow_one_iteration, error="no convergence", speed=2),
    "no convergence, iterative": Case(
        branched, solver="iterative", prepare=allow_one_iteration, error="no convergence", speed=0, tolerance=1e-5
    ),
    "no root": Case(small, prepare=pull_apart, error="could not be solved"),
    "no root, block": Case(large, prepare=pull_apart, error="could not be solved"),
    "not finite": Case(everything, "RattleLangevin", prepare=blow_up, error="NaN", steps=3),
    "not finite NoseHoover": Case(large, "NoseHoover", prepare=blow_up, error="NaN", steps=3),
}
for name in (
    "small Rattle",
    "local RattleLangevin",
    "thread Rattle",
    "block NoseHoover",
    "local RattleMTSLangevin",
    "no root, block",
    "body parts Rattle",
    "joints Rattle",
    "subdomains of all kinds",
    "border",
):
    CASES[name].is_quick = True


# ---- a run ---------------------------------------------------------------------------------------------------------


def assemble(case: Case) -> Assembly:
    assembly = Assembly(moves=case.scheme != "NoseHoover")  # which refuses those that move
    case.build(assembly)
    return assembly


def start(case: Case, assembly: Assembly, platform: str) -> tuple[openmm.Context, mc.ConstraintIntegrator]:
    integrator = SCHEMES[case.scheme]()
    integrator.setSolver(SOLVERS[case.solver])
    integrator.setConstraintTolerance(case.tolerance)
    if case.solver == "direct":
        integrator.setMaxIterations(20)  # so that faults do not take minutes
    case.prepare(assembly, integrator)
    properties = {"Precision": case.precision} if platform == "OpenCL" else {}
    context = openmm.Context(assembly.system, integrator, openmm.Platform.getPlatformByName(platform), properties)
    context.setPositions(np.array(assembly.positions))
    context.setVelocities(case.speed * np.random.default_rng(8).uniform(-1, 1, (len(assembly.positions), 3)))
    return context, integrator


def run(name: str, platform: str) -> dict:
    """What a case computes, as plain data."""
    case = CASES[name]
    context, integrator = start(case, assemble(case), platform)
    error = ""
    try:
        integrator.setConstraintTolerance(case.first_tolerance or case.tolerance)
        integrator.step(1)
        integrator.setConstraintTolerance(case.tolerance)
        integrator.step(case.steps - 1)
    except openmm.OpenMMException as raised:
        error = str(raised)
    state = context.getState(positions=True, velocities=True)
    taken = context.getStepCount() > 0  # else there are no readings of a step
    device = context.getPlatform().getPropertyValue(context, "DeviceName") if platform == "OpenCL" else ""
    return {
        "device": device,
        "solver": integrator.getSolverSummary().solver,
        "error": error,
        "steps": context.getStepCount(),
        "positions": state.getPositions(asNumpy=True)._value.tolist(),
        "velocities": state.getVelocities(asNumpy=True)._value.tolist(),
        "multipliers": list(integrator.getMultipliers()) if taken else [],
        "forces": [list(force) for force in integrator.getConstraintForces()] if taken else [],
    }


def responses(name: str) -> np.ndarray:
    """By how much each multiplier of the last step may change, per nm by which displacements of particles are off: the
    sum over the particles of the lengths of its derivatives, whatever the directions. A small force on a particle
    displaces it; Reference solves the same constraints closely.
    """
    case = replace(CASES[name], solver="direct", tolerance=1e-12)
    assembly = assemble(case)
    push = openmm.CustomExternalForce("-(fx*x + fy*y + fz*z)")
    for axis in "xyz":
        push.addPerParticleParameter("f" + axis)
    for i in range(len(assembly.positions)):
        push.addParticle(i, [0, 0, 0])
    assembly.system.addForce(push)
    context, integrator = start(case, assembly, "Reference")
    integrator.step(case.steps - 1)
    checkpoint = context.createCheckpoint()

    def multipliers(i: int, force: np.ndarray) -> np.ndarray:
        context.loadCheckpoint(checkpoint)
        push.setParticleParameters(i, i, list(force))
        push.updateParametersInContext(context)
        push.setParticleParameters(i, i, [0, 0, 0])
        integrator.step(1)
        return np.array(integrator.getMultipliers())

    shift = 1e-7  # nm
    unpushed = multipliers(0, np.zeros(3))
    total = np.zeros(len(unpushed))
    for i in range(len(assembly.positions)):
        # F dt^2/m in leapfrog form, half of it in velocity Verlet
        force = shift * assembly.system.getParticleMass(i)._value / DT**2 * (1 if case.scheme == "Shake" else 2)
        changes = [multipliers(i, force * axis) - unpushed for axis in np.eye(3)]
        total += np.linalg.norm(changes, axis=0) / shift
    return total


if __name__ == "__main__":
    with open(sys.argv[3], "w") as file:
        json.dump(run(sys.argv[1], sys.argv[2]), file)
