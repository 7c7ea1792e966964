# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Systems whose pressure tests compute."""

import numpy as np
import openmm as mm
import openmm.app as app
from force_fields import force_field
from openmm import unit
from platforms import under_test

import openmmconstraints as mc

BAR = (1 * unit.kilojoule_per_mole / unit.nanometer**3 / unit.AVOGADRO_CONSTANT_NA).value_in_unit(unit.bar)


def in_bar(quantity):
    return quantity.value_in_unit(unit.bar)


def argon_dimers(integrator=None, molecules=27, edge=2.2, barostat=False, epsilon=0.99):
    """Rigid pairs on a lattice; without epsilon an ideal gas."""
    system, nonbonded, force = mm.System(), mm.NonbondedForce(), mc.ConstraintForce()
    system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
    nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    nonbonded.setCutoffDistance(1.0)
    nonbonded.setUseSwitchingFunction(True)
    nonbonded.setSwitchingDistance(0.8)
    force.setUsesPeriodicBoundaryConditions(True)
    positions, topology = [], app.Topology()
    chain = topology.addChain()
    random = np.random.default_rng(1)
    per_edge = round(molecules ** (1 / 3))
    for i in range(molecules):
        middle = (np.array([i % per_edge, i // per_edge % per_edge, i // per_edge**2]) + 0.5) * edge / per_edge
        direction = random.normal(size=3)
        residue = topology.addResidue("DIM", chain)
        for sign in (-1, 1):
            topology.addAtom("A", None, residue)
            system.addParticle(20)
            nonbonded.addParticle(0, 0.3, epsilon)
            positions.append(middle + sign * 0.1 * direction / np.linalg.norm(direction))
        nonbonded.addException(2 * i, 2 * i + 1, 0, 1, 0)
        force.addDistance(2 * i, 2 * i + 1, 0.2)
    system.addForce(nonbonded)
    system.addForce(force)
    if barostat:
        system.addForce(mm.MonteCarloBarostat(1, 300, 0))  # frequency 0: only to ask for the pressure
    simulation = app.Simulation(topology, system, integrator or mc.RattleIntegrator(0.001), under_test())
    simulation.context.setPositions(positions)
    simulation.context.setVelocitiesToTemperature(300, 2)
    return simulation


def nitrogen(integrator, molecules=27, edge=1.5):
    """TraPPE's rigid model, a quadrupole: charges on the atoms, the opposite on a virtual site between them."""
    system, force = mm.System(), mm.NonbondedForce()
    system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
    force.setNonbondedMethod(mm.NonbondedForce.PME)
    force.setCutoffDistance(0.74)
    force.setUseSwitchingFunction(True)
    force.setSwitchingDistance(0.54)
    force.setEwaldErrorTolerance(1e-5)
    positions = []
    random = np.random.default_rng(2)
    for i in range(molecules):
        first = system.addParticle(14.007)
        for mass in (14.007, 0):
            system.addParticle(mass)
        system.setVirtualSite(first + 2, mm.TwoParticleAverageSite(first, first + 1, 0.5, 0.5))
        system.addConstraint(first, first + 1, 0.11)
        for charge, epsilon in ((-0.482, 0.2993), (-0.482, 0.2993), (0.964, 0)):
            force.addParticle(charge, 0.331, epsilon)
        for j, k in ((0, 1), (0, 2), (1, 2)):
            force.addException(first + j, first + k, 0, 1, 0)
        middle = (np.array([i % 3, i // 3 % 3, i // 9]) + 0.5) * edge / 3
        direction = random.normal(size=3)
        half = 0.055 * direction / np.linalg.norm(direction)
        positions += [middle - half, middle + half, middle]
    system.addForce(force)
    system.addForce(mm.MonteCarloBarostat(1, 130, 0))  # frequency 0: only to ask for the pressure
    simulation = app.Simulation(app.Topology(), system, integrator, under_test())
    simulation.context.setPositions(positions)
    simulation.context.setVelocitiesToTemperature(130, 3)
    return simulation


def water_system(modeller, field, cutoff):
    """Energies are smooth: those that jump at the cutoff have no derivative."""
    return field.createSystem(
        modeller.topology,
        nonbondedMethod=app.PME,
        nonbondedCutoff=cutoff,
        switchDistance=cutoff - 0.2,
        ewaldErrorTolerance=1e-5,
        rigidWater=True,
    )


def water_box(model, edge):
    field = force_field(f"{model}.xml")
    modeller = app.Modeller(app.Topology(), [])
    modeller.addSolvent(field, model=model, boxSize=mm.Vec3(edge, edge, edge))
    return modeller, field
