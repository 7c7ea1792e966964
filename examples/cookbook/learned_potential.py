# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A potential that knows no bonds, with those to hydrogen held. A force field stands in for the network."""

import openmm as mm
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("alanine_dipeptide.pdb")
network = mm.Context(app.ForceField("amber14-all.xml").createSystem(pdb.topology), mm.VerletIntegrator(0.001))


def compute(state):
    network.setPositions(state.getPositions(asNumpy=True))
    result = network.getState(energy=True, forces=True)
    return result.getPotentialEnergy(), result.getForces(asNumpy=True)


system = mm.System()
for atom in pdb.topology.atoms():
    system.addParticle(atom.element.mass)
system.addForce(mm.PythonForce(compute))  # or TorchForce; or MLPotential(...).createSystem(topology) makes the System
print(mc.constrain(system, pdb.topology, "covalent-hydrogens", lengths="positions", positions=pdb.positions))
integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 1 / u.picosecond, 2 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(300)
simulation.step(500)
print(integrator.getSolverSummary())
