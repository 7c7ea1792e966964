# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A bead that slides on a paraboloid without friction: sigma(r) = z - a (x^2 + y^2) = 0.

One line of CustomConstraintForce defines this constraint. The energy is conserved, and the normal force of the surface,
computed from the multiplier, equals the analytical one:

    lambda = m (g + 2 a |v_xy|^2) / (1 + 4 a^2 (x^2 + y^2)),   N = lambda |grad sigma|

python examples/paraboloid.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u

import openmmconstraints as mc

mass, g, a = 40.0, 20.0, 0.5  # amu, nm/ps^2, 1/nm

system = mm.System()
system.addParticle(mass)
gravity = mm.CustomExternalForce("m*g*z")
gravity.addGlobalParameter("m", mass)
gravity.addGlobalParameter("g", g)
gravity.addParticle(0)
system.addForce(gravity)
surface = mc.CustomConstraintForce(1, "z1 - a*(x1^2 + y1^2)")
surface.addPerConstraintParameter("a")
surface.addConstraint([0], [a])
system.addForce(surface)

integrator = mc.RattleIntegrator(1 * u.femtosecond)
integrator.setConstraintTolerance(1e-12)
context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
context.setPositions([[1.0, 0.0, a]])
context.setVelocities([[0.0, 2.0, 0.0]])

times, energies, paths, solved, exact = [], [], [], [], []
for _ in range(500):
    state = context.getState(positions=True, velocities=True, energy=True)
    x, y, z = state.getPositions().value_in_unit(u.nanometer)[0]
    vx, vy, _ = state.getVelocities().value_in_unit(u.nanometer / u.picosecond)[0]
    slope = np.sqrt(1 + 4 * a**2 * (x**2 + y**2))  # |grad sigma|
    (multiplier,) = integrator.computeMultipliers()
    times.append(state.getTime().value_in_unit(u.picosecond))
    energies.append((state.getPotentialEnergy() + state.getKineticEnergy()).value_in_unit(u.kilojoule_per_mole))
    paths.append((x, y, z))
    solved.append(multiplier * slope)
    exact.append(mass * (g + 2 * a * (vx**2 + vy**2)) / slope)
    integrator.step(10)

drift = np.array(energies) - energies[0]
difference = np.max(np.abs(np.array(solved) / exact - 1))
print(f"energy {energies[0]:.3f} kJ/mol, largest deviation {np.max(np.abs(drift)):.1e} kJ/mol in {times[-1]:.1f} ps")
print(f"normal force {min(solved):.1f} to {max(solved):.1f} kJ/mol/nm, differs from the textbook's by {difference:.1e}")

figure = plt.figure(figsize=(11, 4.2))
grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.1), wspace=0.3, left=0.02, right=0.98, bottom=0.12, top=0.9)
three = figure.add_subplot(grid[:, 0], projection="3d")
r, phi = np.meshgrid(np.linspace(0, 1.1, 23), np.linspace(0, 2 * np.pi, 49))
three.plot_surface(r * np.cos(phi), r * np.sin(phi), a * r**2, color="0.8", alpha=0.4, linewidth=0)
three.plot(*np.transpose(paths), color="#0072B2", linewidth=0.8)
three.set(xlabel="x (nm)", ylabel="y (nm)", zlabel="z (nm)", title="bead on z = a (x² + y²)")
force = figure.add_subplot(grid[0, 1])
force.plot(times, exact, color="0.6", linewidth=4, label="textbook")
force.plot(times, solved, color="#0072B2", linewidth=1, label="λ |∇σ|")
force.set(ylabel="normal force\n(kJ/mol/nm)")
force.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False)
force.tick_params(labelbottom=False)
energy = figure.add_subplot(grid[1, 1], sharex=force)
energy.plot(times, drift, color="#0072B2", linewidth=0.8)
energy.set(xlabel="time (ps)", ylabel="energy - start\n(kJ/mol)")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "paraboloid.png", dpi=120)
