# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A run of a user, which continues from its checkpoint."""

import os
import signal
from pathlib import Path

import openmm as mm
from openmm import app

import openmmconstraints as mc


class Killer:
    """Kills the process (SIGKILL) at a step, after the other reporters have written."""

    def __init__(self, step: int) -> None:
        self.step = step

    def describeNextReport(self, simulation: app.Simulation) -> dict:
        return {"steps": self.step - simulation.currentStep, "periodic": None, "include": []}

    def report(self, simulation: app.Simulation, state: mm.State) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path, last: int, killed_at: int) -> None:
    system = mm.System()
    for mass in (12, 4, 8):
        system.addParticle(mass)
    springs = mm.HarmonicBondForce()
    springs.addBond(0, 2, 0.25, 1000)
    springs.addBond(1, 2, 0.2, 500)
    held = mc.ConstraintForce()
    held.addDistance(0, 1, 0.2)
    for force in (springs, held):
        system.addForce(force)
    simulation = app.Simulation(
        app.Topology(), system, mc.RattleIntegrator(0.002), mm.Platform.getPlatform("Reference")
    )
    checkpoint = folder / "state.chk"
    is_resumed = checkpoint.exists()
    if is_resumed:
        simulation.loadCheckpoint(str(checkpoint))
    else:
        simulation.context.setPositions([[0, 0, 0], [0.2, 0, 0], [0, 0.3, 0]])
        simulation.context.setVelocitiesToTemperature(300, 1)
    columns = {"step": True, "potentialEnergy": True, "constraintVirial": True, "append": is_resumed}
    simulation.reporters += [
        mc.BlueMoonReporter(folder / "force.csv", 10, 0, 300, append=is_resumed),
        mc.ConstraintStateReporter(folder / "log.csv", 10, **columns),
        mc.ConstraintStateReporter(folder / "log.csv.gz", 10, **columns),
        app.CheckpointReporter(str(checkpoint), 100),
    ]
    if killed_at:
        simulation.reporters.append(Killer(killed_at))
    simulation.step(last - simulation.currentStep)
