# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Barostats that cannot scale what constraints join to its own periodic image, or that would move frozen particles."""

import itertools
import warnings

import numpy as np
import openmm as mm
import pytest
from platforms import IS_REFERENCE, under_test

import openmmconstraints as mc
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.inspection.molecules import molecules_of

BOND = 0.25  # nm
BOX = {
    "rectangular": np.diag([0.9, 1.35, 1.8]),
    "triclinic": np.array([[0.9, 0, 0], [0, 1.35, 0], [0.3, 0.4, 1.8]]),
}


def chain(axis: int, box: np.ndarray, *, in_system: bool, wrapped: bool = True) -> tuple[mm.System, np.ndarray]:
    """A zigzag chain along an edge of the box, joined to its own image, and two free dimers."""
    system = mm.System()
    system.setDefaultPeriodicBoxVectors(*box)
    edge = box[axis]
    count = 2 * round(np.linalg.norm(edge) / (2 * 0.9 * BOND))
    across = np.eye(3)[(axis + 1) % 3]
    side = np.sqrt(BOND**2 - (np.linalg.norm(edge) / count) ** 2)
    beads = np.array([edge * (i + 0.3) / count + across * (0.5 + side * (i % 2)) for i in range(count)])
    positions = np.concatenate([beads, [[0.1, 0.1, 0.1], [0.1, 0.35, 0.1]]])
    pairs = [(i, (i + 1) % count) for i in range(count)] + [(count, count + 1)]
    force = mc.ConstraintForce()
    force.setUsesPeriodicBoundaryConditions(True)
    nonbonded = mm.NonbondedForce()
    nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    nonbonded.setCutoffDistance(0.4)
    for _ in positions:
        system.addParticle(20)
        nonbonded.addParticle(0, 0.2, 0.1)
    for i, j in pairs:
        nonbonded.addException(i, j, 0, 1, 0)
        (system.addConstraint if in_system else force.addDistance)(i, j, BOND)
    system.addForce(nonbonded)
    if not in_system:
        system.addForce(force)
    if wrapped:
        positions = positions - np.floor(positions @ np.linalg.inv(box)) @ box
    return system, positions


BAROSTATS = {
    "isotropic": lambda: mm.MonteCarloBarostat(1, 300, 1),
    "anisotropic": lambda: mm.MonteCarloAnisotropicBarostat(mm.Vec3(1, 1, 1), 300, True, True, True, 1),
    "membrane": lambda: mm.MonteCarloMembraneBarostat(
        1, 0, 300, mm.MonteCarloMembraneBarostat.XYIsotropic, mm.MonteCarloMembraneBarostat.ZFree, 1
    ),
    "flexible": lambda: mm.MonteCarloFlexibleBarostat(1, 300, 1),
}


@pytest.mark.platform
@pytest.mark.parametrize("barostat", BAROSTATS if IS_REFERENCE else ["isotropic"])
@pytest.mark.parametrize("axis", range(3) if IS_REFERENCE else [1])
def test_refused_at_the_first_step_and_by_health(barostat, axis):
    box = BOX["rectangular" if axis % 2 == 0 else "triclinic"]
    system, positions = chain(axis, box, in_system=axis == 1)
    system.addForce(BAROSTATS[barostat]())
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    with pytest.raises(mm.OpenMMException) as raised:
        integrator.step(1)
    for words in ("Barostat", f"along {'xyz'[axis]}", "its own periodic image", "computePressureTensor"):
        assert words in str(raised.value)
    findings = mc.Health(system, positions=positions).findings
    assert [f.kind for f in findings if f.severity == "error"] == ["combination"]
    assert len(findings[0].particles) == len(positions) - 2


def test_axes_that_are_left_alone():
    """Along which the box stays, a network may span it."""
    for axis, scaled in itertools.product(range(3), range(3)):
        system, positions = chain(axis, BOX["rectangular"], in_system=False)
        system.addForce(scaling(scaled))
        integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
        context = mm.Context(system, integrator, under_test())
        context.setPositions(positions)
        if scaled == axis:
            with pytest.raises(mm.OpenMMException, match="its own periodic image"):
                integrator.step(2)
        else:
            integrator.step(2)


def test_axes_of_a_triclinic_box():
    """A cycle along an edge changes with all axes that the edge has components along."""
    for axis, scaled in itertools.product(range(3), range(3)):
        box = BOX["triclinic"]
        system, positions = chain(axis, box, in_system=False)
        system.addForce(scaling(scaled))
        kinds = [f.kind for f in mc.Health(system, positions=positions).findings]
        assert ("combination" in kinds) == (box[axis][scaled] != 0)


def scaling(axis: int) -> mm.MonteCarloAnisotropicBarostat:
    return mm.MonteCarloAnisotropicBarostat(mm.Vec3(1, 1, 1), 300, *(a == axis for a in range(3)), 1)


def test_a_barostat_that_only_tells_the_pressure():
    system, positions = chain(0, BOX["rectangular"], in_system=False)
    system.addForce(mm.MonteCarloBarostat(1, 300, 0))
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    integrator.step(2)


@pytest.mark.platform
def test_an_open_chain_is_scaled():
    system, positions = chain(0, BOX["rectangular"], in_system=False)
    force = mc.ConstraintForce.cast(system.getForce(1))
    opened = mc.ConstraintForce()
    opened.setUsesPeriodicBoundaryConditions(True)
    for i in range(1, force.getNumDistances()):
        opened.addDistance(*force.getDistanceParameters(i)[:3])
    system.removeForce(1)
    system.addForce(opened)
    system.addForce(mm.MonteCarloBarostat(1, 300, 1))
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    context = mm.Context(system, integrator, under_test())
    context.setPositions(positions)
    integrator.step(3)


def slab(bonded: bool) -> mm.System:
    system, bonds = mm.System(), mm.HarmonicBondForce()
    for i in range(4):
        system.addParticle(40)
        if bonded and i:
            bonds.addBond(0, i, 0, 0)
    system.addForce(bonds)
    return system


def test_frozen_molecules_that_a_barostat_moves_apart():
    system = slab(bonded=False)
    system.addForce(mm.MonteCarloBarostat(1, 300))
    with pytest.warns(UserWarning, match="belong to 3 molecules, whose distances it changes"):
        mc.freeze(system, range(3))
    finding = next(f for f in mc.Health(system).findings if f.kind == "moved-apart")
    assert finding.severity == "warning"
    assert finding.particles == (0, 1)


def test_centroids_make_no_molecule():
    system = slab(bonded=False)
    force = mc.ConstraintForce()
    force.addCentroidDistance([0, 1], [2, 3], 1)
    system.addForce(force)
    assert molecules_of(system, Listing(system)).tolist() == [0, 1, 2, 3]
    force = mc.ConstraintForce()
    force.addAngle(3, 1, 2, 1)
    system.addForce(force)
    assert molecules_of(system, Listing(system)).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize(("bonded", "barostat"), [(True, True), (False, False)])
def test_frozen_particles_that_stay_where_they_are(bonded, barostat):
    system = slab(bonded)
    if barostat:
        system.addForce(mm.MonteCarloBarostat(1, 300))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mc.freeze(system, range(3))
    assert "moved-apart" not in [f.kind for f in mc.Health(system).findings]
