# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A membrane of DLPC without tension, with bonds to hydrogen held."""

import openmm as mm
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("membrane.pdb")
system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(
    pdb.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.9 * u.nanometer, constraints=app.HBonds
)
kind = mm.MonteCarloMembraneBarostat
system.addForce(kind(1 * u.bar, 0 * u.bar * u.nanometer, 303 * u.kelvin, kind.XYIsotropic, kind.ZFree, 10))

integrator = mc.RattleLangevinIntegrator(303 * u.kelvin, 1 / u.picosecond, 2 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(303)
for _ in range(4):
    simulation.step(50)
    x, y, z = simulation.context.getState().getPeriodicBoxVectors()._value
    print(
        f"{x[0] * y[1] / 8:.3f} nm^2 a lipid, {z[2]:.2f} nm thick, {integrator.computeSystemTemperature()._value:.0f} K"
    )
