# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Twelve charges on a sphere find their lowest energy, then move on it (Thomson's problem)."""

import numpy as np
import openmm as mm

import openmmconstraints as mc

system = mm.System()
surface = mc.CustomConstraintForce(1, "x1^2 + y1^2 + z1^2 - radius^2")
surface.addPerConstraintParameter("radius")
repulsion = mm.CustomNonbondedForce("100/r")
for bead in range(12):
    system.addParticle(10)
    surface.addConstraint([bead], [1.0])
    repulsion.addParticle()
system.addForce(surface)
system.addForce(repulsion)

context = mm.Context(system, mc.RattleIntegrator(0.002), mm.Platform.getPlatformByName("Reference"))
x = np.random.default_rng(1).normal(size=(12, 3))
context.setPositions(x / np.linalg.norm(x, axis=1)[:, None])
print(f"lowest energy {mc.minimize(context, tolerance=1e-4).energy._value / 100:.6f}, an icosahedron's: 49.165253")
context.setVelocitiesToTemperature(300, 1)
context.getIntegrator().step(5000)
x = context.getState(positions=True).getPositions(asNumpy=True)._value
print(f"distance from the sphere after 10 ps: at most {abs(np.linalg.norm(x, axis=1) - 1).max():.0e} nm")
