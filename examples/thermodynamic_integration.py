# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Thermodynamic integration over the length of rigid dimers, which a Context parameter interpolates.

Windows run one after another at constant values of the parameter; the integral of the mean derivative is the free
energy. A dimer that nothing acts on has A(d) - A(d0) = -2 kT ln(d/d0), by the area of the sphere on which it turns; a
spring between its atoms adds its energy.

python examples/thermodynamic_integration.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm

import openmmconstraints as mc

d0, d1 = 0.10, 0.20  # nm
stiffness, rest = 3000.0, 0.16  # kJ/mol/nm^2, nm
temperature, dimers, samples = 300.0, 200, 60
kT = 0.00831446261815324 * temperature
windows = np.linspace(0, 1, 9)


def derivatives(has_springs: bool) -> tuple[np.ndarray, np.ndarray]:
    """The mean of dA/dp of a dimer in each window, and its standard error."""
    system, held, springs = mm.System(), mc.ConstraintForce(), mm.HarmonicBondForce()
    held.addGlobalParameter("lambda", 0)
    places = []
    for _ in range(dimers):
        pair = system.addParticle(12), system.addParticle(16)
        held.setDistanceInterpolation(held.addDistance(*pair, d0), "lambda", d1)
        springs.addBond(*pair, rest, stiffness if has_springs else 0)
        places += [[0, 0, 0], [d0, 0, 0]]
    system.addForce(held)
    system.addForce(springs)
    integrator = mc.RattleLangevinIntegrator(temperature, 50, 0.004)
    integrator.setRandomNumberSeed(1)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
    context.setPositions(places)
    context.setVelocitiesToTemperature(temperature, 1)
    means, errors = [], []
    for value in windows:
        context.setParameter("lambda", value)
        integrator.applyConstraints()
        integrator.step(30)  # equilibrates
        found = []
        for _ in range(samples):
            integrator.step(8)  # longer than velocities are correlated
            found.append(integrator.computeParameterDerivatives()["lambda"] / dimers)
        means.append(np.mean(found))
        errors.append(np.std(found, ddof=1) / np.sqrt(samples))
    return np.array(means), np.array(errors)


figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
lengths = d0 + windows * (d1 - d0)
fine = np.linspace(d0, d1, 200)
spacing = windows[1] - windows[0]
for has_springs, name, colour, marker in (
    (False, "free dimers", "#0072B2", "o"),
    (True, "with a spring", "#E69F00", "s"),
):
    mean, error = derivatives(has_springs)
    spring = 0.5 * stiffness * (fine - rest) ** 2 * has_springs
    exact = spring - spring[0] - 2 * kT * np.log(fine / d0)
    slope = (d1 - d0) * (stiffness * (fine - rest) * has_springs - 2 * kT / fine)
    # Simpson's rule over pairs of windows
    steps = spacing / 3 * (mean[:-2:2] + 4 * mean[1:-1:2] + mean[2::2])
    weights = spacing / 3 * np.array([1] + [4, 2] * (len(windows) // 2 - 1) + [4, 1])
    free_energy = np.concatenate([[0], np.cumsum(steps)])
    uncertainty = np.sqrt(np.sum((weights * error) ** 2))
    print(f"{name}: A({d1}) - A({d0}) = {free_energy[-1]:.2f} +- {uncertainty:.2f} kJ/mol, exactly {exact[-1]:.2f}")
    left.errorbar(lengths, mean, 2 * error, fmt=marker, markersize=4, color=colour, label=name)
    left.plot(fine, slope, color=colour, linewidth=1)
    right.plot(lengths[::2], free_energy, marker, markersize=5, color=colour, label=name)
    right.plot(fine, exact, color=colour, linewidth=1)
left.set(xlabel="length (nm)", ylabel="mean dA/dλ (kJ/mol)", title="windows (points) and closed forms")
right.set(xlabel="length (nm)", ylabel="free energy (kJ/mol)", title="their integral")
right.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "thermodynamic_integration.png", dpi=120)
