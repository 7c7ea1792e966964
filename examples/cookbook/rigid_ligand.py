# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A ligand as a rigid body in water: one call, then 4 fs steps with rigid water."""

import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("dipeptide_in_water.pdb")
system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(
    pdb.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.8 * u.nanometer, constraints=app.HBonds
)
ligand = [atom for atom in pdb.topology.atoms() if atom.residue.name != "HOH"]
print(mc.makeRigid(system, [ligand], pdb.positions))

integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 5 / u.picosecond, 4 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(300)
simulation.step(500)
print(integrator.getNumDegreesOfFreedom(), "degrees of freedom: 6 of the ligand, 6 of each water, less 3")
print(f"{integrator.computeSystemTemperature()._value:.0f} K")
