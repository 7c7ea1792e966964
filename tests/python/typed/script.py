# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What users type, for type checkers: tests/python/test_typing.py lets them read it. It is not run.

Each assert_type() is what an editor says of the expression. OpenMM has no types of its own: a checker takes what is
OpenMM's for anything, or infers it.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import numpy.typing as npt
import openmm as mm
from openmm import app, unit
from typing_extensions import assert_type

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

Array = npt.NDArray[np.float64]


def declare(system: mm.System, topology: app.Topology, positions: unit.Quantity) -> mc.ConstraintForce:
    """Constraints of all kinds."""
    atoms = list(topology.atoms())
    force = mc.ConstraintForce()
    assert_type(force.addDistance(0, atoms[1], 0.1), mc.ConstraintIndex)
    force.addDistance(1, 2, 1 * unit.angstrom, rate=0.1, startTime=2 * unit.picosecond)
    force.addAngle(0, 1, 2, 109.5 * unit.degree)
    phi = force.addDihedral(*fe.phi(topology, 2), -1.2)
    force.addCentroidDistance([0, 1], next(topology.residues()), 0.5)
    force.addRigidBody(range(4), positions)
    force.addRigidBody([0, 1, 2], np.zeros((3, 3)))
    force.setDistanceParameters(0, 0, 1, 0.11)
    force.setUsesPeriodicBoundaryConditions(True)
    system.addForce(force)
    surface = mc.CustomConstraintForce(1, "z1 - h")
    surface.addGlobalParameter("h", 1 * unit.nanometer)
    surface.addConstraint([0])
    surface.setConstraintParameters(0, np.array([0]), np.zeros(0))
    centroid = mc.CustomCentroidConstraintForce(2, "distance(g1, g2) - d")
    centroid.addPerConstraintParameter("d")
    centroid.addConstraint([centroid.addGroup([0, 1]), centroid.addGroup([2], [1.0])], [0.5])
    assert_type(phi, mc.ConstraintIndex)
    assert_type(mc.multiplierIndex(system, phi), int)
    assert_type(mc.multiplierIndex(system, (force, "dihedral", 0)), int)
    return force


def use_helpers(system: mm.System, topology: app.Topology, positions: unit.Quantity) -> None:
    """Functions that change a System."""
    assert_type(mc.moveConstraints(system), mc.ConstraintForce | None)
    assert_type(mc.constrain(system, topology, "hydrogens"), mc.ConstraintForce | None)
    assert_type(mc.constrain(system, topology, lengths="positions", positions=positions), mc.Constrained)
    mc.constrain(system, topology, lengths={("O", "H"): 0.09572, ("H", "O", "H"): 104.52 * unit.degree})
    mc.constrain(system, topology, lengths=lambda *atoms: 0.1)
    assert_type(mc.makeRigid(system, topology.residues(), positions), mc.Rigid)
    assert_type(mc.freeze(system, [atom for atom in topology.atoms() if atom.name == "CA"]), mc.Frozen)
    assert_type(mc.replaceSolver(system), mc.ReplacedSolver)
    mc.setTopology(system, topology)


def check(system: mm.System, state: mm.State) -> bool:
    """Before a run."""
    health = mc.Health(system, state, integrator=mc.RattleIntegrator(0.002), platform="CPU")
    mc.Health(system, platform=mm.Platform.getPlatform("CPU"))
    for finding in health.findings:
        print(finding.severity, finding.kind, finding.message, finding.constraints)
    print(health.counts.independent, health.recommendedTimeStep)
    return health.ok


def make_integrators() -> list[mc.ConstraintIntegrator]:
    """All of them."""
    langevin = mc.RattleLangevinIntegrator(300 * unit.kelvin, 1 / unit.picosecond, 2 * unit.femtosecond)
    langevin.setSolver("MatrixInversion")
    langevin.setSolver(mc.ConstraintIntegrator.Automatic)
    langevin.setNumGeodesicSteps(4)
    return [
        langevin,
        mc.RattleIntegrator(0.002),
        mc.ShakeIntegrator(2 * unit.femtosecond),
        mc.RattleMTSIntegrator(0.004, [(0, 1), (1, 4)]),
        mc.RattleMTSIntegrator(0.004, np.array([[0, 1], [1, 4]])),
        mc.RattleMTSLangevinIntegrator(300, 1, 0.004, groups=[(0, 1), (1, 4)]),
        mc.RattleNoseHooverIntegrator(300, 1, 0.002, chainLength=5),
        mc.ConstraintForceIntegrator(0.001),
    ]


def read(integrator: mc.ConstraintIntegrator, force: mc.ConstraintForce, context: mm.Context, asNumpy: bool) -> None:
    """Lists, or arrays with asNumpy."""
    assert_type(integrator.getMultipliers(), tuple[float, ...])
    assert_type(integrator.getMultipliers(asNumpy=True), Array)
    assert_type(integrator.getMultipliers(asNumpy=False), tuple[float, ...])
    assert_type(integrator.getMultipliers(asNumpy), tuple[float, ...] | Array)
    assert_type(integrator.getVelocityMultipliers(asNumpy=True), Array)
    assert_type(integrator.computeMultipliers(asNumpy=True), Array)
    assert_type(force.getMultipliers(context), tuple[float, ...])
    assert_type(force.getMultipliers(context, asNumpy=True), Array)
    first = force.getMultipliers(context)[force.addDistance(0, 1, 0.1)]
    assert_type(first, float)
    for vector in integrator.getConstraintForces():
        print(vector.x, vector[0])
    print(integrator.getConstraintForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.nanometer))
    print(integrator.getConstraintVirial(asNumpy=True).value_in_unit(unit.kilojoule_per_mole))
    print(integrator.applyConstraints().value_in_unit(unit.nanometer))
    assert_type(integrator.getSolverSummary().iterations, int)
    for name, value in force.getValues(context).items():
        print(name.upper(), value)
    assert_type(integrator.computeParameterDerivatives(), dict[str, float])
    print(mc.computeConstraintForces(context), mc.computeConstraintVirial(context), mc.computePressure(context))
    pressure, error = mc.computePressure(context, returnError=True)
    print(pressure, error, mc.computePressureTensor(context))


def run(topology: app.Topology, system: mm.System, positions: unit.Quantity, force: mc.ConstraintForce) -> float:
    """A simulation with its reporters."""
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.002)
    simulation = app.Simulation(topology, system, integrator)
    simulation.context.setPositions(positions)
    minimum = mc.minimize(simulation.context, maxIterations=100)
    print(minimum.converged, minimum.energy, minimum.largestMove)
    phi = mc.BlueMoonReporter("force.csv", 10, (force, "dihedral", 0))
    simulation.reporters.append(phi)
    simulation.reporters.append(mc.BlueMoonReporter(None, 10, [0, fe.Distance(0, 1)], temperature=300 * unit.kelvin))
    simulation.reporters.append(mc.ConstraintStateReporter("log.csv", 100, step=True))
    simulation.reporters.append(mc.ConstraintReporter("rows.csv", 100))
    simulation.step(1000)
    mean = phi.getMeanForce()
    assert_type(mean, mc.MeanForce)
    assert_type(mean.mean, float)
    return mean.mean + mean.error


def compute_free_energy(system: mm.System, positions: unit.Quantity, force: mc.ConstraintForce) -> Array:
    """By windows, one after the other or on processes."""
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.002)
    values = np.linspace(0.3, 0.6, 4) * unit.nanometer
    starts = fe.pull(system, positions, fe.Distance(0, 1), values, integrator, 100, platform="CPU")
    cpu = mm.Platform.getPlatform("CPU")
    windows = fe.run_windows(
        system,
        starts,
        fe.Distance(0, 1),
        [0.3, 0.4, 0.5, 0.6],
        integrator,
        1000,
        executor=ProcessPoolExecutor(),
        platform=cpu,
        properties={"Threads": "1"},
    )
    assert_type([window.mean_force.mean for window in windows], list[float])
    window = fe.run_window(system, starts[0], (force, "distance", 0), 0.3 * unit.nanometer, integrator, 1000)
    assert_type(window.mean_force.samples, int)
    made = fe.mean_force_profile(
        system=system,
        positions=positions,
        coordinate=fe.Dihedral(0, 1, 2, 3),
        values=[-1.0, -0.9],
        integrator=integrator,
        steps=1000,
        platform=cpu,
    )
    print(made)
    return np.array([window.value])
