# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A gas of CO2 as straight rods, which OpenMM's own constraints cannot hold: five degrees of freedom each."""

import numpy as np
import openmm as mm
import openmm.unit as u

import openmmconstraints as mc

system, x = mm.System(), []
for cell in np.ndindex(6, 6, 6):
    o1, c, o2 = (system.addParticle(mass) for mass in (15.999, 12.011, 15.999))
    for i, j, distance in ((o1, c, 0.116), (c, o2, 0.116), (o1, o2, 0.232)):
        system.addConstraint(i, j, distance)
    x += [np.add(cell, (0, 0, z)) for z in (-0.116, 0, 0.116)]
held = mc.moveConstraints(system)  # before the Context: OpenMM's own solver does not see them

integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 5 / u.picosecond, 4 * u.femtosecond)
integrator.setRandomNumberSeed(1)
context = mm.Context(system, integrator, mm.Platform.getPlatformByName("CPU"))
context.setPositions(x)
context.setVelocitiesToTemperature(300, 1)
temperatures = []
for _ in range(100):
    integrator.step(20)
    temperatures.append(integrator.computeSystemTemperature()._value)
print(integrator.getNumDegreesOfFreedom(), "degrees of freedom,", f"{np.mean(temperatures):.0f} K")
