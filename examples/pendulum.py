# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A spherical pendulum, compared with a solution of the differential equation for its two angles.

A constrained distance ties the mass to a massless particle, which does not move. Half the time step gives a quarter of
the deviation.

python examples/pendulum.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u
from scipy.integrate import solve_ivp

import openmmconstraints as mc

length, g, duration = 0.5, 10.0, 5.0  # nm, nm/ps^2, ps
theta0, phi_rate0 = 1.2, 3.0  # rad from the vertical, rad/ps


def simulate(step_size: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and positions of the mass every 0.05 ps."""
    system = mm.System()
    system.addParticle(0)  # the pivot
    system.addParticle(30)
    gravity = mm.CustomExternalForce("30*g*z")
    gravity.addGlobalParameter("g", g)
    gravity.addParticle(1)
    system.addForce(gravity)
    rod = mc.ConstraintForce()
    rod.addDistance(0, 1, length * u.nanometer)
    system.addForce(rod)
    integrator = mc.RattleIntegrator(step_size * u.picosecond)
    integrator.setConstraintTolerance(1e-12)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
    context.setPositions([[0, 0, 0], [length * np.sin(theta0), 0, -length * np.cos(theta0)]])
    context.setVelocities([[0, 0, 0], [0, length * np.sin(theta0) * phi_rate0, 0]])
    times, positions = [], []
    for _ in range(round(duration / 0.05) + 1):
        state = context.getState(positions=True)
        times.append(state.getTime().value_in_unit(u.picosecond))
        positions.append(state.getPositions(asNumpy=True).value_in_unit(u.nanometer)[1])
        integrator.step(round(0.05 / step_size))
    return np.array(times), np.array(positions)


def exact(times: np.ndarray) -> np.ndarray:
    """Positions from theta'' = sin(theta) cos(theta) phi'^2 - (g/l) sin(theta), with constant phi' sin^2(theta)."""
    momentum = phi_rate0 * np.sin(theta0) ** 2

    def derivative(_, y):
        theta, rate, _ = y
        phi_rate = momentum / np.sin(theta) ** 2
        return [rate, np.sin(theta) * np.cos(theta) * phi_rate**2 - g / length * np.sin(theta), phi_rate]

    theta, _, phi = solve_ivp(
        derivative, (0, times[-1]), [theta0, 0, 0], t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853"
    ).y
    return length * np.transpose([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), -np.cos(theta)])


figure, (path, error) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for step_size, colour, line in ((0.002, "#E69F00", "-"), (0.001, "#56B4E9", "--"), (0.0005, "#0072B2", ":")):
    times, positions = simulate(step_size)
    deviation = np.linalg.norm(positions - exact(times), axis=1)
    print(f"step {1000 * step_size:4.1f} fs: largest deviation from the exact path {deviation.max():.2e} nm")
    error.semilogy(times[1:], deviation[1:], line, color=colour, linewidth=2, label=f"{1000 * step_size:g} fs")
path.plot(*exact(np.linspace(0, duration, 1000))[:, :2].T, color="0.6", linewidth=3, label="exact")
path.plot(*positions[:, :2].T, ".", color="#0072B2", markersize=4, label="RattleIntegrator, 0.5 fs")
path.set(xlabel="x (nm)", ylabel="y (nm)", aspect="equal", title="spherical pendulum from above")
path.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, fontsize="small")
error.set(xlabel="time (ps)", ylabel="deviation from the exact path (nm)", title="second order in the time step")
error.legend(title="time step")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "pendulum.png", dpi=120)
