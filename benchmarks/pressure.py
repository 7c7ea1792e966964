# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How well mc.computePressure() differentiates the energy of rigid water with PME, by ewaldErrorTolerance.

In rigid molecules the pressure by scaling atoms is the molecular one at every instant, which is computed here by
differences over several changes of all lengths, of whole molecules.

    python benchmarks/pressure.py
"""

from __future__ import annotations

import numpy as np
import openmm as mm
from openmm import app, unit

import openmmconstraints as mc

EDGE, CUTOFF, SWITCH, MASSES = 1.6, 0.75, 0.55, np.array([15.99943, 1.007947, 1.007947])
BAR = (1 * unit.kilojoule_per_mole / unit.nanometer**3 / unit.AVOGADRO_CONSTANT_NA).value_in_unit(unit.bar)


def main() -> None:
    """Print a line for each tolerance."""
    field = app.ForceField("tip3p.xml")
    water = app.Modeller(app.Topology(), [])
    water.addSolvent(field, model="tip3p", boxSize=mm.Vec3(EDGE, EDGE, EDGE))
    for tolerance in (5e-4, 1e-5):
        system = field.createSystem(
            water.topology,
            nonbondedMethod=app.PME,
            nonbondedCutoff=CUTOFF,
            switchDistance=SWITCH,
            ewaldErrorTolerance=tolerance,
        )
        reference = mm.Platform.getPlatform("Reference")
        simulation = app.Simulation(water.topology, system, mc.RattleIntegrator(0.001), reference)
        simulation.context.setPositions(water.positions)
        simulation.minimizeEnergy(maxIterations=40)
        simulation.context.setVelocitiesToTemperature(300, 2)
        simulation.step(2)
        pressure, error = mc.computePressure(simulation.context, returnError=True)
        print(f"ewaldErrorTolerance {tolerance:g}: {pressure._value:.1f} bar, differences {error._value:.1f} bar apart")
        for change in (1e-3, 5e-4, 1e-4, 3e-5):
            print(f"    molecules, changes of {change:g}: {molecular(simulation, change):.1f} bar")


def molecular(simulation: app.Simulation, change: float) -> float:
    """The molecular pressure (bar) by a central difference over relative changes of the distances of molecules."""
    context = simulation.context
    state = context.getState(positions=True, velocities=True)
    box = np.array(state.getPeriodicBoxVectors()._value)
    sites = state.getPositions(asNumpy=True)._value.reshape(-1, 3, 3)
    velocities = state.getVelocities(asNumpy=True)._value.reshape(-1, 3, 3)
    weights = (MASSES / MASSES.sum())[None, :, None]
    centres = (weights * sites).sum(axis=1, keepdims=True)
    other = mm.Context(simulation.system, mc.RattleIntegrator(0.001), context.getPlatform())

    def energy(strain: float) -> float:
        other.setPeriodicBoxVectors(*(box * (1 + strain)))
        other.setPositions((sites + strain * centres).reshape(-1, 3))
        return other.getState(energy=True).getPotentialEnergy()._value

    kinetic = MASSES.sum() * ((weights * velocities).sum(axis=1) ** 2).sum()
    virial = -(energy(change) - energy(-change)) / (2 * change)
    return (kinetic + virial) / (3 * np.linalg.det(box)) * BAR


if __name__ == "__main__":
    main()
