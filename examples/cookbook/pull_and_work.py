# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The ends of alanine dipeptide are pushed together, and the work that it takes."""

import openmm as mm
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("alanine_dipeptide.pdb")
system = app.ForceField("amber14-all.xml").createSystem(pdb.topology, constraints=app.HBonds, removeCMMotion=False)
ends = [[atom.index for atom in residue.atoms()] for residue in pdb.topology.residues() if residue.name != "ALA"]
coordinate = mc.freeenergy.CentroidDistance(*ends)
start = coordinate.measure(system, pdb.getPositions(asNumpy=True)._value)
pull = mc.ConstraintForce()
pull.addCentroidDistance(*ends, start, rate=-0.01)  # nm, nm/ps
system.addForce(pull)

integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 2 / u.picosecond, 1 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator, mm.Platform.getPlatformByName("Reference"))
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(300)
columns = {"time": True, "constraintWork": True, "heat": True, "conservedEnergy": True}
simulation.reporters.append(mc.ConstraintStateReporter("pull.csv", 100, **columns))
simulation.step(10000)
end = coordinate.measure(system, simulation.context.getState(positions=True).getPositions(asNumpy=True)._value)
print(f"from {start:.3f} to {end:.3f} nm: {integrator.getConstraintWork()._value:.1f} kJ/mol of work")
