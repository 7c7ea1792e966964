# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Villin with its first and its third helix as rigid domains: what lies between stays flexible."""

from importlib.resources import files

import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile(str(files("openmm.app") / "data/test.pdb"))
villin = app.Modeller(pdb.topology, pdb.positions)
villin.delete([residue for residue in villin.topology.residues() if residue.name in ("HOH", "Cl")])
system = app.ForceField("amber14-all.xml").createSystem(villin.topology, constraints=app.HBonds)
residues = list(villin.topology.residues())
domains = [[atom for residue in helix for atom in residue.atoms()] for helix in (residues[2:10], residues[21:32])]
print(mc.makeRigid(system, domains, villin.positions))

integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 1 / u.picosecond, 2 * u.femtosecond)
simulation = app.Simulation(villin.topology, system, integrator)
simulation.context.setPositions(villin.positions)
mc.minimize(simulation.context, maxIterations=50)  # both domains stay as they are
simulation.context.setVelocitiesToTemperature(300)
simulation.step(500)
print(integrator.getNumDegreesOfFreedom(), "degrees of freedom;", integrator.getSolverSummary().solver)
