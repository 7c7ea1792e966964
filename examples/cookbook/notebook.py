# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Cells of a notebook: Jupyter (with jupytext), VS Code and Spyder run what is between lines of %%."""

# %%
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("alanine_dipeptide.pdb")
system = app.ForceField("amber14-all.xml").createSystem(pdb.topology, constraints=app.HBonds)

# %% A table of what is found, coloured by its severity.
health = mc.Health(system, pdb.positions, topology=pdb.topology)
health

# %% The advice, taken.
integrator = mc.RattleIntegrator(health.recommendedTimeStep)
integrator.setConstraintTolerance(health.recommendedTolerance)
simulation = app.Simulation(pdb.topology, system, integrator)
simulation.context.setPositions(pdb.positions)
simulation.context.setVelocitiesToTemperature(300 * u.kelvin)
simulation.step(100)

# %%
integrator.getSolverSummary()
