# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Both integrators with multiple time steps as users call them; tests/TestMultipleTimeSteps.cpp has the rest."""

import copy
import pickle

import numpy as np
import openmm as mm
import openmm.unit as u
import pytest
from force_fields import force_field
from openmm import app
from platforms import bound, under_test

import openmmconstraints as mc
from openmmconstraints.inspection.integrators import current_integrator

GROUPS = [(1, 1), (0, 2)]
MAKERS = {
    "Rattle": lambda groups=GROUPS, step=0.004: mc.RattleMTSIntegrator(step, groups),
    "Langevin": lambda groups=GROUPS, step=0.004: langevin(groups, step),
}


def langevin(groups, step):
    integrator = mc.RattleMTSLangevinIntegrator(300, 2, step, groups)
    integrator.setRandomNumberSeed(3)
    return integrator


@pytest.fixture(params=MAKERS.values(), ids=MAKERS)
def make(request):
    return request.param


@pytest.fixture(scope="module")
def water():
    """27 rigid waters with PME, whose reciprocal space is in group 1, at 300 K."""
    side = 3
    field = force_field("tip3p.xml")
    topology, positions = app.Topology(), []
    chain = topology.addChain()
    shape = 0.09572 * np.array([[0, 0, 0], [1, 0, 0], [np.cos(1.8242), np.sin(1.8242), 0]])
    for cell in np.ndindex(side, side, side):
        residue = topology.addResidue("HOH", chain)
        atoms = [topology.addAtom(name, app.Element.getBySymbol(name[0]), residue) for name in ("O", "H1", "H2")]
        topology.addBond(atoms[0], atoms[1])
        topology.addBond(atoms[0], atoms[2])
        positions.extend(0.311 * np.array(cell) + shape)
    topology.setPeriodicBoxVectors(0.311 * side * np.eye(3) * u.nanometer)
    system = field.createSystem(
        topology, nonbondedMethod=app.PME, nonbondedCutoff=0.45, switchDistance=0.35, constraints=app.HBonds
    )
    for force in system.getForces():
        if isinstance(force, mm.NonbondedForce):
            force.setReciprocalSpaceForceGroup(1)
    bath = mc.RattleLangevinIntegrator(300, 50, 0.0005)
    bath.setRandomNumberSeed(5)
    context = mm.Context(system, bath, mm.Platform.getPlatform("CPU"))
    context.setPositions(positions)
    bath.step(1000)
    return system, context.getState(positions=True).getPositions()


def test_arguments_and_copies(make):
    integrator = make()
    assert [tuple(pair) for pair in integrator.getGroups()] == GROUPS
    assert [tuple(pair) for pair in make([[1, 1], (0, 2)]).getGroups()] == GROUPS
    for other in (
        copy.copy(integrator),
        copy.deepcopy(integrator),
        pickle.loads(pickle.dumps(integrator)),
        type(integrator).cast(mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(integrator))),
    ):
        assert type(other) is type(integrator)
        assert [tuple(pair) for pair in other.getGroups()] == GROUPS
        assert other.getStepSize() == 4 * u.femtosecond
    assert current_integrator(integrator, "{}").getStepSize() == 4 * u.femtosecond


@pytest.mark.parametrize("groups", [7, "ab", [1, 2], [(0, 1, 2)], [(0, "x")], None])
def test_groups_of_a_wrong_type(make, groups):
    with pytest.raises(TypeError):
        make(groups)


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([], "at least one"),
        ([(0, 1), (0, 2)], "force group 0 is listed twice"),
        ([(0, 2), (1, 3)], "force group 1 has 3 substeps, which is no multiple of 2"),
        ([(40, 1)], "no force group 40"),
        ([(0, -1)], "-1 substeps"),
    ],
)
def test_groups_that_make_no_sense(make, groups, words):
    with pytest.raises(mm.OpenMMException, match=words):
        make(groups)


def test_a_group_that_is_not_listed(make, water):
    system, _ = water
    with pytest.raises(mm.OpenMMException, match=r"The reciprocal space of NonbondedForce .* is in force group 1"):
        mm.Context(system, make([(0, 1)]), under_test())
    health = mc.Health(system, integrator=make([(0, 1)]))
    assert "force group 1" in str(health)


def test_water_with_slow_reciprocal_space(make, water):
    """PME every 4 fs, all else every 2: the energy is kept, less the heat of a bath."""
    system, positions = water
    integrator = make()
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    context.setVelocitiesToTemperature(300, 1)
    energies = []
    for _ in range(10):
        integrator.step(5)
        state = context.getState(energy=True)
        total = state.getKineticEnergy() + state.getPotentialEnergy()
        if isinstance(integrator, mc.RattleMTSLangevinIntegrator):
            total -= integrator.getHeat()
        energies.append(total._value)
    thermal = 0.0083145 * 300 * integrator.getNumDegreesOfFreedom()
    assert np.ptp(energies) < 0.02 * thermal
    assert integrator.getSolverSummary().converged
    assert np.isfinite(integrator.getMultipliers()).all()
    with pytest.raises(mm.OpenMMException, match="several velocity stages"):
        integrator.getVelocityMultipliers()


def test_barostat_and_motion_remover_need_no_listing(make, water):
    system, positions = copy.deepcopy(water[0]), water[1]
    barostat = mm.MonteCarloBarostat(1, 300, 2)
    barostat.setRandomNumberSeed(1)
    system.addForce(barostat)
    integrator = make()
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    volume = context.getState().getPeriodicBoxVolume()
    integrator.step(12)
    assert context.getState().getPeriodicBoxVolume() != volume
    assert integrator.getSolverSummary().maxError <= 1e-5


def test_health_looks_at_the_fastest_and_the_slowest_step(make):
    system = mm.System()
    bond = mm.HarmonicBondForce()
    period = 0.020  # ps
    bond.addBond(system.addParticle(12), system.addParticle(12), 0.15, 6 * (2 * np.pi / period) ** 2)
    system.addForce(bond)

    def findings(step, substeps):
        health = mc.Health(system, integrator=make([(1, 1), (0, substeps)], step))
        return [finding for finding in health.findings if finding.kind == "time-step"]

    assert findings(0.006, 6) == []
    (resonance,) = findings(0.008, 8)
    assert "every 8 fs only" in resonance.message
    assert "at most 6.7 fs" in resonance.remedy
    assert any("time step of 4 fs" in finding.message for finding in findings(0.004, 1))


def test_no_geodesic_steps():
    integrator = mc.RattleMTSLangevinIntegrator(300, 1, 0.004, GROUPS)
    integrator.setNumGeodesicSteps(0)
    with pytest.raises(mm.OpenMMException, match="no geodesic steps"):
        integrator.setNumGeodesicSteps(2)


def test_heat_is_reported(tmp_path, water):
    """ConstraintStateReporter knows the bath."""
    system, positions = water
    integrator = MAKERS["Langevin"]()
    simulation = app.Simulation(app.Topology(), system, integrator, under_test())
    simulation.context.setPositions(positions)
    path = tmp_path / "heat.csv"
    simulation.reporters.append(mc.ConstraintStateReporter(str(path), 5, step=True, heat=True))
    simulation.step(5)
    heat = float(path.read_text().splitlines()[1].split(",")[1])
    assert heat == pytest.approx(integrator.getHeat()._value, rel=bound(1e-9, single=1e-6))


@pytest.mark.platform
def test_groups_that_are_no_longer_integrated_do_not_kick(make):
    """Nor do they for half a step, by the sum of forces that is kept from the last one."""
    system = mm.System()
    for group, axis in enumerate("yx"):
        force = mm.CustomExternalForce(f"-100*{axis}")
        force.setForceGroup(group)
        force.addParticle(0)
        system.addForce(force)
    system.addParticle(10)
    integrator = make(step=0.001)
    if isinstance(integrator, mc.RattleMTSLangevinIntegrator):
        integrator.setFriction(0)
    context = mm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0]])
    velocities = []
    for groups in ({0, 1}, {0}, {0, 1}):
        integrator.setIntegrationForceGroups(groups)
        integrator.step(1)
        velocities.append(context.getState(velocities=True).getVelocities(asNumpy=True)._value[0, :2])
    assert np.allclose(velocities, 0.01 * np.array([[1, 1], [1, 2], [2, 3]]), atol=bound(1e-9, single=1e-7))
