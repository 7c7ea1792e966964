# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The pressure of a thin gas of rods: what their atoms do to the walls, and what their bonds take back."""

import numpy as np
import openmm as mm
import openmm.unit as u

import openmmconstraints as mc

system, bonds, x = mm.System(), mc.ConstraintForce(), []
system.setDefaultPeriodicBoxVectors([20, 0, 0], [0, 20, 0], [0, 0, 20])
bonds.setUsesPeriodicBoundaryConditions(True)
for cell in np.ndindex(10, 10, 10):
    bonds.addDistance(system.addParticle(14), system.addParticle(14), 0.11)
    x += [np.multiply(cell, 2.0), np.add(np.multiply(cell, 2.0), (0, 0, 0.11))]
system.addForce(bonds)
integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 5 / u.picosecond, 4 * u.femtosecond)
context = mm.Context(system, integrator, mm.Platform.getPlatformByName("CPU"))
context.setPositions(x)
context.setVelocitiesToTemperature(300)
pressures = []
for _ in range(100):
    integrator.step(20)
    pressures.append(mc.computePressure(context).value_in_unit(u.bar))
expected = 1000 * 8.314462618e-3 * 300 / 20**3 * 16.6053907  # N kT/V, kJ/mol/nm^3 in bar
print(f"{np.mean(pressures):.2f} bar, an ideal gas has {expected:.2f}")
