# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""OpenMM's samplers that exchange states: over temperature they run, over a Context parameter that a constraint depends
on they are told that the energies they ask for do not exist."""

import openmm as mm
import pytest
from openmm import app, unit
from openmm_series import since
from platforms import under_test

import openmmconstraints as mc

TEMPERATURES = [{"temperature": t * unit.kelvin} for t in (300, 310, 320)]
LENGTHS = [{"length": length} for length in (0.100, 0.105)]
REFUSED = (
    r'(?s)"length" is .*ConstraintForce.*particles 0 and 1.*integrator\.applyConstraints\(\).*run each value by itself'
)
#: Whether a target interpolates with the parameter, or an expression has it.
LENGTH_OF = pytest.mark.parametrize("interpolates", [False, True], ids=["expression", "interpolated"])


def make_simulation(*forces, interpolates=False):
    """A bent chain of three atoms; the length of its first bond is a Context parameter, the second one is fixed."""
    system, topology = mm.System(), app.Topology()
    residue = topology.addResidue("CHA", topology.addChain())
    for i in range(3):
        system.addParticle(12)
        topology.addAtom(f"C{i}", app.element.carbon, residue)
    first = mc.ConstraintForce() if interpolates else mc.CustomConstraintForce(2, "distance(p1,p2) - length")
    first.addGlobalParameter("length", 0.1)
    if interpolates:
        first.setDistanceInterpolation(first.addDistance(0, 1, 0), "length", 1)
    else:
        first.addConstraint([0, 1])
    second = mc.ConstraintForce()
    second.addDistance(1, 2, 0.1)
    angles = mm.HarmonicAngleForce()
    angles.addAngle(0, 1, 2, 1.9, 300)
    for force in (first, second, angles, *forces):
        system.addForce(force)
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.002)
    simulation = app.Simulation(topology, system, integrator, under_test())
    simulation.context.setPositions([[0.1, 0, 0], [0, 0, 0], [-0.03, 0.0954, 0]])
    simulation.context.setVelocitiesToTemperature(300)
    return simulation


@since("8.6", "ReplicaExchangeSampler")
@LENGTH_OF
def test_replica_exchange(interpolates):
    from openmm.app.replicaexchangesampler import ReplicaExchangeSampler

    sampler = ReplicaExchangeSampler(TEMPERATURES, make_simulation(interpolates=interpolates), 5)
    sampler.simulate(4)
    assert sampler.currentIteration == 4
    with pytest.raises(mm.OpenMMException, match=REFUSED):
        ReplicaExchangeSampler(LENGTHS, make_simulation(interpolates=interpolates), 5).simulate(1)


@since("8.6", "ExpandedEnsembleSampler")
@LENGTH_OF
def test_an_expanded_ensemble(interpolates):
    from openmm.app.expandedensemblesampler import ExpandedEnsembleSampler

    sampler = ExpandedEnsembleSampler(TEMPERATURES, make_simulation(interpolates=interpolates), 5)
    sampler.step(40)
    assert sampler.currentIteration == 8
    sampler = ExpandedEnsembleSampler(LENGTHS, make_simulation(interpolates=interpolates), 5)
    with pytest.raises(mm.OpenMMException, match=REFUSED):
        sampler.step(5)


def test_simulated_tempering():
    simulation = make_simulation()
    temperatures = [state["temperature"] for state in TEMPERATURES]
    tempering = app.SimulatedTempering(simulation, temperatures, tempChangeInterval=5, reportFile=None)
    tempering.step(40)
    assert simulation.currentStep == 40


def test_metadynamics_and_a_collective_variable():
    """Their own parameters and inner Contexts are none of the constraints'."""
    angle = mm.CustomAngleForce("theta")
    angle.addAngle(0, 1, 2)
    variable = mm.CustomCVForce("k*cos(a)")
    variable.addGlobalParameter("k", 1)
    variable.addCollectiveVariable("a", mm.CustomAngleForce(angle))
    simulation = make_simulation(variable)
    bias = app.BiasVariable(angle, 0.5, 3.1, 0.1)
    metadynamics = app.Metadynamics(simulation.system, [bias], 300, 5, 1, 5)
    simulation.context.reinitialize(True)
    metadynamics.step(simulation, 20)
    assert simulation.currentStep == 20
    simulation.context.setParameter("k", 2)
    simulation.context.getState(energy=True)
    simulation.context.setParameter("length", 0.105)
    with pytest.raises(mm.OpenMMException, match=REFUSED):
        simulation.context.getState(energy=True)
    metadynamics.step(simulation, 5)  # projects
    a, b, _ = simulation.context.getState(positions=True).getPositions()
    assert unit.norm(b - a).value_in_unit(unit.nanometer) == pytest.approx(0.105, rel=1.1e-5)
