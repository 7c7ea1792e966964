# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A bilayer of DLPC whose phosphorus atoms slide on the two planes of their mean heights."""

import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("membrane.pdb")
options = {"nonbondedMethod": app.PME, "nonbondedCutoff": 0.9, "constraints": app.HBonds, "removeCMMotion": False}
system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(pdb.topology, **options)
z, heads = pdb.getPositions(asNumpy=True)._value[:, 2], [a.index for a in pdb.topology.atoms() if a.name == "P"]
middle = z[heads].mean()
heights = {side: z[[head for head in heads if (z[head] > middle) == side]].mean() for side in (False, True)}
plane = mc.CustomConstraintForce(1, "z1 - height")
plane.addPerConstraintParameter("height")
for head in heads:
    plane.addConstraint([head], [heights[z[head] > middle]])
system.addForce(plane)

integrator = mc.RattleLangevinIntegrator(303 * u.kelvin, 1 / u.picosecond, 2 * u.femtosecond)
integrator.setMaxProjection(0.6 * u.nanometer)  # far moves are meant here
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
mc.minimize(simulation.context, maxIterations=50)  # moves the heads there first
simulation.context.setVelocitiesToTemperature(303)
simulation.step(100)
x = simulation.context.getState(positions=True).getPositions(asNumpy=True)._value
print("heights (nm):", sorted({round(float(height), 4) for height in x[heads, 2]}))
