# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A run that is interrupted goes on as if it had not been."""

from pathlib import Path

import openmm as mm
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("alanine_dipeptide.pdb")
system = app.ForceField("amber14-all.xml").createSystem(pdb.topology, constraints=app.AllBonds)


def start(append):
    integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 1 / u.picosecond, 2 * u.femtosecond)
    simulation = app.Simulation(pdb.topology, system, integrator, mm.Platform.getPlatformByName("Reference"))
    simulation.context.setPositions(pdb.positions)
    if append:
        simulation.loadCheckpoint("run.chk")
    simulation.reporters.append(mc.ConstraintStateReporter("run.csv", 100, step=True, heat=True, append=append))
    return simulation


first = start(append=False)
first.step(400)
first.saveCheckpoint("run.chk")
first.step(250)  # lost, but for its rows in run.csv
again = start(append=True)  # which removes these rows
again.step(250)
print(Path("run.csv").read_text(), end="")
