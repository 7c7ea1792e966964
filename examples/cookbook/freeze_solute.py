# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Water moves around a solute that does not."""

import numpy as np
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("dipeptide_in_water.pdb")
system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(
    pdb.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.8 * u.nanometer, constraints=app.HBonds
)
solute = [atom.index for atom in pdb.topology.atoms() if atom.residue.name != "HOH"]
print(mc.freeze(system, solute))

integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 5 / u.picosecond, 4 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(300)
start = simulation.context.getState(positions=True).getPositions(asNumpy=True)._value
simulation.step(500)
moved = np.linalg.norm(simulation.context.getState(positions=True).getPositions(asNumpy=True)._value - start, axis=1)
print(f"the solute moved by {moved[solute].max():g} nm, water by up to {moved.max():.2f} nm")
print(f"{integrator.computeSystemTemperature()._value:.0f} K, of the water alone")
