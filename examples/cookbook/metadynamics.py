# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Metadynamics of a dihedral angle beside rigid bonds."""

import openmm as mm
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("alanine_dipeptide.pdb")
system = app.ForceField("amber14-all.xml").createSystem(pdb.topology, constraints=app.AllBonds)
held = mc.ConstraintForce()
for *atoms, angle in ((1, 4, 6, 8, 180), (8, 14, 16, 18, 180), (4, 6, 8, 14, -80)):  # peptide bonds, and slow phi
    held.addDihedral(*atoms, angle * u.degrees)
system.addForce(held)
psi = mm.CustomTorsionForce("theta")
psi.addTorsion(6, 8, 14, 16)
bias = app.BiasVariable(psi, -180 * u.degrees, 180 * u.degrees, 20 * u.degrees, periodic=True, gridWidth=36)
metadynamics = app.Metadynamics(system, [bias], 300 * u.kelvin, 5, 1 * u.kilojoule_per_mole, 50)

integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 5 / u.picosecond, 2 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator, mm.Platform.getPlatformByName("Reference"))
simulation.context.setPositions(pdb.positions)
integrator.setMaxProjection(0.2 * u.nanometer)  # far moves are meant here
integrator.applyConstraints()  # turns phi there, in stages
simulation.context.setVelocitiesToTemperature(300)
metadynamics.step(simulation, 60000)
free = metadynamics.getFreeEnergy()._value[:-1:2]
print("psi (degrees), free energy (kJ/mol):", *(f"{-180 + 20 * i:5d} {a:7.1f}" for i, a in enumerate(free)), sep="\n")
