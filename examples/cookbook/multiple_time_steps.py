# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A solute in water with the reciprocal space of PME every 4 fs, all other forces every 2 fs."""

import numpy as np
import openmm as mm
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("dipeptide_in_water.pdb")
system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(
    pdb.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.8, constraints=app.HBonds, removeCMMotion=False
)
(charges,) = (force for force in system.getForces() if isinstance(force, mm.NonbondedForce))
charges.setReciprocalSpaceForceGroup(1)

integrator = mc.RattleMTSLangevinIntegrator(300 * u.kelvin, 1 / u.picosecond, 4 * u.femtosecond, [(1, 1), (0, 2)])
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(300)
columns = {"time": True, "temperature": True, "conservedEnergy": True}
simulation.reporters.append(mc.ConstraintStateReporter("mts.csv", 25, **columns))
simulation.step(500)
time, temperature, energy = np.genfromtxt("mts.csv", delimiter=",").T
slope, covariance = np.polyfit(time, energy, 1, cov=True)
drift, error = np.array([slope[0], covariance[0, 0] ** 0.5]) / integrator.getNumDegreesOfFreedom()
print(f"{temperature.mean():.0f} K, the conserved energy drifts by {drift:.4f} ± {error:.4f} kJ/mol/ps/dof")
