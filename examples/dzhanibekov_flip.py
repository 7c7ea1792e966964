# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A free rigid body that rotates about its intermediate axis turns over, again and again (Dzhanibekov's wing nut).

The angle of the axis is compared with Euler's equations. Angular momentum and energy are kept to rounding.

python examples/dzhanibekov_flip.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u
from scipy.integrate import solve_ivp

import openmmconstraints as mc

mass, duration, step_size = 12.0, 30.0, 0.002  # u, ps, ps
arms = np.array([0.3, 0.2, 0.1])  # nm: two atoms at this distance on each axis
shape = np.concatenate([np.diag(arms), -np.diag(arms)])
inertia = 2 * mass * (np.sum(arms**2) - arms**2)  # u nm^2: small, intermediate, large
omega0 = np.array([0.0, 5.0, 0.01])  # rad/ps: the second axis is the intermediate one

system = mm.System()
for _ in shape:
    system.addParticle(mass)
body = mc.ConstraintForce()
body.addRigidBody(range(len(shape)), shape)
system.addForce(body)
integrator = mc.RattleIntegrator(step_size * u.picosecond)
context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
context.setPositions(shape)
context.setVelocities(np.cross(omega0, shape))

times, angles, momenta, energies = [], [], [], []
for _ in range(round(duration / step_size / 10) + 1):
    state = context.getState(positions=True, velocities=True)
    x, v = state.getPositions(asNumpy=True)._value, state.getVelocities(asNumpy=True)._value
    times.append(state.getTime().value_in_unit(u.picosecond))
    angles.append(np.degrees(np.arccos(np.clip((x[1] - x[4])[1] / (2 * arms[1]), -1, 1))))
    momenta.append(mass * np.cross(x, v).sum(axis=0))
    energies.append(0.5 * mass * (v * v).sum())
    integrator.step(10)
times, momenta, energies = np.array(times), np.array(momenta), np.array(energies)


def euler(_, y):
    """d/dt of the angular velocity along the axes, and of the laboratory's y direction seen from the body."""
    omega, direction = y[:3], y[3:]
    return np.concatenate([np.cross(inertia * omega, omega) / inertia, np.cross(direction, omega)])


exact = solve_ivp(euler, (0, times[-1]), [*omega0, 0, 1, 0], t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853").y
exact_angles = np.degrees(np.arccos(np.clip(exact[4], -1, 1)))
of_momentum = np.linalg.norm(momenta - momenta[0], axis=1) / np.linalg.norm(momenta[0])
of_energy = np.abs(energies / energies[0] - 1)
print(f"angle: largest difference from Euler's equations {np.abs(angles - exact_angles).max():.2f} degrees")
print(f"largest relative changes: angular momentum {of_momentum.max():.0e}, energy {of_energy.max():.0e}")

figure, (angle, change) = plt.subplots(2, 1, figsize=(8, 6), layout="constrained", sharex=True)
angle.plot(times, exact_angles, color="0.7", linewidth=4, label="Euler's equations")
angle.plot(times, angles, color="#0072B2", linewidth=1.2, label=f"RattleIntegrator, {1000 * step_size:g} fs")
angle.set(
    ylabel="angle of the intermediate axis\nfrom its start (degrees)", ylim=(-10, 240), yticks=(0, 45, 90, 135, 180)
)
angle.legend(loc="upper center", ncols=2)
change.semilogy(times[1:], of_momentum[1:], color="#0072B2", label="angular momentum")
change.semilogy(times[1:], of_energy[1:], "--", color="#D55E00", label="energy")
change.set(xlabel="time (ps)", ylabel="relative change")
change.set_ylim(1e-15, 1e-9)
change.legend(loc="upper center", ncols=2)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "dzhanibekov_flip.png", dpi=120)
