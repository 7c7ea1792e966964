# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A solute in water with steps of 4 fs: all bonds and the angles of hydrogens held, hydrogens of 3 Da."""

import numpy as np
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("dipeptide_in_water.pdb")
system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(
    pdb.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.8, hydrogenMass=3, removeCMMotion=False
)
mc.constrain(system, pdb.topology, bonds="all", angles="hydrogens")
integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 1 / u.picosecond, 4 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(300)
columns = {"time": True, "temperature": True, "conservedEnergy": True, "constraintError": True}
simulation.reporters.append(mc.ConstraintStateReporter("larger.csv", 25, **columns))
simulation.step(500)
time, temperature, energy = np.genfromtxt("larger.csv", delimiter=",", usecols=(0, 1, 3)).T
slope, covariance = np.polyfit(time, energy, 1, cov=True)
drift, error = np.array([slope[0], covariance[0, 0] ** 0.5]) / integrator.getNumDegreesOfFreedom()
print(f"{temperature.mean():.0f} K, the conserved energy drifts by {drift:.4f} ± {error:.4f} kJ/mol/ps/dof")
