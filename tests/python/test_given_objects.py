# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Objects of OpenMM in the place of others: what to type."""

from __future__ import annotations

import copy
import inspect

import numpy as np
import openmm as mm
import pytest
from openmm import app

import openmmconstraints as mc

REFERENCE = mm.Platform.getPlatform("Reference")
X = np.array([[0, 0, 0], [0.15, 0, 0], [0.2, 0.1, 0]])
FORCES = (mc.ConstraintForce, mc.CustomConstraintForce, mc.CustomCentroidConstraintForce)
INTEGRATORS = (
    mc.RattleIntegrator,
    mc.ShakeIntegrator,
    mc.RattleLangevinIntegrator,
    mc.RattleMTSIntegrator,
    mc.RattleMTSLangevinIntegrator,
    mc.RattleNoseHooverIntegrator,
    mc.ConstraintForceIntegrator,
)


@pytest.fixture
def simulation():
    system = mm.System()
    for _ in X:
        system.addParticle(12)
    force, custom = mc.ConstraintForce(), mc.CustomConstraintForce(1, "z1")
    force.addDistance(0, 1, 0.15)
    custom.addConstraint([2])
    centroids = mc.CustomCentroidConstraintForce(1, "z1")
    centroids.addConstraint([centroids.addGroup([0, 2])])
    for one in (force, custom, centroids):
        system.addForce(one)
    topology = app.Topology()
    residue = topology.addResidue("ONE", topology.addChain())
    for name in "ABC":
        topology.addAtom(name, app.element.carbon, residue)
    made = app.Simulation(topology, system, mc.RattleLangevinIntegrator(300, 1, 0.001), REFERENCE)
    made.context.setPositions(X)
    made.step(1)
    return made


def own_forces(system):
    return [
        next(cls.cast(force) for cls in FORCES if cls.isinstance(force))
        for force in system.getForces()
        if any(cls.isinstance(force) for cls in FORCES)
    ]


def taking(kind, *classes):
    """Methods with a parameter of that name."""
    return sorted(
        {
            (cls, name)
            for cls in classes
            for name, method in inspect.getmembers(cls, inspect.isroutine)
            if not name.startswith("_") and kind in str(inspect.signature(method).parameters)
        },
        key=str,
    )


@pytest.mark.parametrize("name", ["getMultipliers", "getValues", "updateParametersInContext"])
@pytest.mark.parametrize("number", range(3))
def test_forces_ask_for_a_context(simulation, number, name):
    method = getattr(own_forces(simulation.system)[number], name)
    with pytest.raises(
        TypeError, match=rf"^{name}: an openmm\.Context is needed.*not Simulation: give its attribute, \.context\.$"
    ):
        method(simulation)
    with pytest.raises(TypeError, match=rf"^{name}: an openmm\.Context is needed.*not System\.$"):
        method(context=simulation.system)
    method(simulation.context)
    method(context=simulation.context)


def test_all_methods_with_a_context_are_asked_above():
    names = {name for _, name in taking("context", *FORCES)}
    assert names == {"getMultipliers", "getSolverSummary", "getValues", "updateParametersInContext"}


def test_the_summary_of_a_force_asks_for_a_context(simulation):
    force = own_forces(simulation.system)[0]
    with pytest.raises(TypeError, match=r"getSolverSummary: .*not Simulation: give its attribute, \.context\."):
        force.getSolverSummary(simulation)
    assert force.getSolverSummary(simulation.context).converged


@pytest.mark.parametrize("function", [mc.minimize, mc.computeConstraintForces, mc.computeConstraintVirial])
def test_functions_ask_for_a_context(simulation, function):
    with pytest.raises(TypeError, match=rf"^{function.__name__}: .*not Simulation: give its attribute, \.context\.$"):
        function(simulation)
    with pytest.raises(TypeError, match=r"not RattleLangevinIntegrator\.$"):
        function(simulation.integrator)


@pytest.mark.parametrize("cls", INTEGRATORS)
def test_integrators_ask_for_a_system(simulation, cls):
    assert [name for _, name in taking("system", cls)] == ["getClusters"]
    with pytest.raises(TypeError, match=r"^getClusters: .*not Simulation: give its attribute, \.system\.$"):
        cls.getClusters(simulation.integrator, simulation)
    with pytest.raises(TypeError, match=r"not Topology: make one: forcefield\.createSystem\(topology\)\.$"):
        cls.getClusters(simulation.integrator, simulation.topology)
    with pytest.raises(TypeError, match=r"not Context: give context\.getSystem\(\)\.$"):
        cls.getClusters(simulation.integrator, simulation.context)
    assert simulation.integrator.getClusters(simulation.system)


@pytest.mark.parametrize("name", ["cast", "isinstance"])
@pytest.mark.parametrize("cls", FORCES)
def test_a_force_is_asked_for(simulation, cls, name):
    method = getattr(cls, name)
    wanted = rf"^{cls.__name__}\.{name}: an openmm\.Force .*"
    with pytest.raises(TypeError, match=wanted + r"not System: give one of system\.getForces\(\)\.$"):
        method(simulation.system)
    with pytest.raises(TypeError, match=r"not the class ConstraintForce\.$"):
        method(mc.ConstraintForce)
    with pytest.raises(TypeError, match=r"not Rigid: give its attribute, \.force\.$"):
        method(mc.makeRigid(copy.deepcopy(simulation.system), [[0, 1, 2]], X))


@pytest.mark.parametrize("cls", INTEGRATORS)
def test_an_integrator_is_asked_for(simulation, cls):
    for given, remedy in (
        (simulation, r"Simulation: give its attribute, \.integrator\."),
        (simulation.context, r"Context: give context\.getIntegrator\(\)\."),
    ):
        with pytest.raises(TypeError, match=rf"^{cls.__name__}\.cast: an openmm\.Integrator is needed.*not {remedy}$"):
            cls.cast(given)
        with pytest.raises(TypeError, match=r"an openmm\.Integrator is needed"):
            cls.isinstance(given)


def test_a_topology_is_asked_for(simulation):
    with pytest.raises(TypeError, match=r"Topology is needed.*not System: give that of the file that the System was"):
        mc.setTopology(simulation.system, simulation.system)
