# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A molecule with two rigid bonds, 1-2-3: the explicit constraint force compared with RATTLE.

ConstraintForceIntegrator computes the multipliers from forces and velocities and treats the constraint force like any
other force. The force is exact, but the lengths are only as accurate as the integration: without a feedback term
(Baumgarte) they drift quadratically in time. RATTLE solves for positions that satisfy the constraints.

python examples/two_bonds.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u

import openmmconstraints as mc

masses, lengths = (16.0, 12.0, 1.0), (0.12, 0.11)  # amu, nm
step_size, samples, every = 0.001, 250, 20  # ps


def run(integrator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, the largest relative error of a bond, and the energy's deviation from its start."""
    system = mm.System()
    for mass in masses:
        system.addParticle(mass)
    spring = mm.HarmonicBondForce()
    spring.addBond(0, 2, 0.2, 3000)
    system.addForce(spring)
    bonds = mc.ConstraintForce()
    bonds.addDistance(0, 1, lengths[0])
    bonds.addDistance(1, 2, lengths[1])
    system.addForce(bonds)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
    context.setPositions([[lengths[0], 0, 0], [0, 0, 0], [-0.5 * lengths[1], 0.75**0.5 * lengths[1], 0]])
    context.setVelocities([[0.3, 0.5, 0.2], [-0.1, -0.2, 0.1], [0.5, -0.4, 0.6]])
    integrator.applyVelocityConstraints()
    times, errors, energies = [], [], []
    for _ in range(samples):
        integrator.step(every)
        state = context.getState(positions=True, energy=True)
        x = state.getPositions(asNumpy=True).value_in_unit(u.nanometer)
        found = np.linalg.norm(x[:2] - x[1:], axis=1)
        times.append(state.getTime().value_in_unit(u.picosecond))
        errors.append(np.max(np.abs(found / lengths - 1)))
        energies.append((state.getPotentialEnergy() + state.getKineticEnergy()).value_in_unit(u.kilojoule_per_mole))
    return np.array(times), np.maximum(errors, 1e-17), np.array(energies) - energies[0]


drifting = mc.ConstraintForceIntegrator(step_size)
drifting.setStabilization(0, 0)
drifting.setMaxDrift(1)  # so large that no exception is raised
stabilized = mc.ConstraintForceIntegrator(step_size)
rattle = mc.RattleIntegrator(step_size)
rattle.setConstraintTolerance(1e-10)

figure, (error, energy) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for label, integrator, colour, line in (
    ("explicit, no feedback", drifting, "#D55E00", "--"),
    ("explicit, α = β = 0.1/Δt", stabilized, "#E69F00", ":"),
    ("RATTLE, tolerance 1e-10", rattle, "#0072B2", "-"),
):
    times, errors, energies = run(integrator)
    print(f"{label:26s} largest bond error {errors.max():.1e}, energy within {np.abs(energies).max():.1e} kJ/mol")
    error.semilogy(times, errors, line, color=colour, label=label, linewidth=1.2)
    energy.plot(times, energies, line, color=colour, linewidth=1.2)
error.set(xlabel="time (ps)", ylabel="largest relative error of a bond")
energy.set(xlabel="time (ps)", ylabel="energy - its value at the start (kJ/mol)")
figure.legend(loc="outside lower center", ncols=3)
figure.suptitle(f"two rigid bonds, {1000 * step_size:g} fs")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "two_bonds.png", dpi=120)
