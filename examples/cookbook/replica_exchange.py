# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Replicas of alanine dipeptide exchange temperatures, each with its bonds to hydrogen held."""

import numpy as np
import openmm as mm
import openmm.unit as u
from openmm import app
from openmm.app.replicaexchangesampler import ReplicaExchangeSampler

import openmmconstraints as mc

pdb = app.PDBFile("alanine_dipeptide.pdb")
system = app.ForceField("amber14-all.xml").createSystem(pdb.topology, constraints=app.HBonds)
integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 5 / u.picosecond, 2 * u.femtosecond)
simulation = app.Simulation(pdb.topology, system, integrator, mm.Platform.getPlatformByName("Reference"))
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(300, 1)

temperatures = np.geomspace(300, 500, 4)
sampler = ReplicaExchangeSampler([{"temperature": t * u.kelvin} for t in temperatures], simulation, 50)
visited = []
sampler.reporters.append(lambda sampler: visited.append(list(sampler.replicaStateIndex)))
sampler.simulate(40)
for replica, states in enumerate(np.transpose(visited)):
    print(f"replica {replica} was at", " ".join(f"{temperatures[i]:.0f}" for i in states[::8]), "K")
