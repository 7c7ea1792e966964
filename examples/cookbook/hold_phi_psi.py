# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Alanine dipeptide with its backbone held as in an α helix."""

import numpy as np
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("alanine_dipeptide.pdb")
system = app.ForceField("amber14-all.xml").createSystem(pdb.topology, constraints=app.HBonds)
phi, psi = mc.freeenergy.phi(pdb.topology, 1), mc.freeenergy.psi(pdb.topology, 1)  # of ALA, the second residue
held = mc.ConstraintForce()
held.addDihedral(*phi, -60 * u.degrees)
held.addDihedral(*psi, -45 * u.degrees)
system.addForce(held)

integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 1 / u.picosecond, 2 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
integrator.setMaxProjection(0.5 * u.nanometer)  # far moves are meant here
integrator.applyConstraints()  # turns the molecule there, in stages
simulation.context.setVelocitiesToTemperature(300)
simulation.step(2000)
x = simulation.context.getState(positions=True).getPositions(asNumpy=True)._value
for name, atoms in (("phi", phi), ("psi", psi)):
    print(f"{name} {np.degrees(mc.freeenergy.Dihedral(*atoms).measure(system, x)):.3f} degrees")
print("torques of the last step:", [round(torque) for torque in held.getMultipliers(simulation.context)], "kJ/mol/rad")
