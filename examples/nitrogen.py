# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""1,000 rigid nitrogen molecules: the temperature with 5 degrees of freedom each, and the pressure in two ways.

The atomic pressure includes the virial of the constraint forces. The molecular pressure, which OpenMM's barostat
computes by finite differences of the energy, does not depend on constraint forces. Both agree:

    P V = (2/3) K_atoms + (1/3) (sum_i r_i.F_i + tr W)        P V = N k T - V dU/dV of whole molecules

python examples/nitrogen.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u

import openmmconstraints as mc

molecules, edge, bond = 1000, 4.4, 0.1098  # nm
temperature = 130 * u.kelvin
to_bar = (1 * u.kilojoule_per_mole / u.nanometer**3 / u.AVOGADRO_CONSTANT_NA).value_in_unit(u.bar)

system = mm.System()
system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
interaction = mm.NonbondedForce()
interaction.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
interaction.setCutoffDistance(1.2)
interaction.setUseSwitchingFunction(True)
interaction.setSwitchingDistance(1.0)
interaction.setUseDispersionCorrection(False)
bonds = mc.ConstraintForce()
bonds.setUsesPeriodicBoundaryConditions(True)
positions = []
random = np.random.default_rng(1)
for i in range(molecules):
    for _ in range(2):
        system.addParticle(14.007)
        interaction.addParticle(0, 0.331, 0.3078)  # sigma (nm), epsilon (kJ/mol)
    interaction.addException(2 * i, 2 * i + 1, 0, 1, 0)
    bonds.addDistance(2 * i, 2 * i + 1, bond)
    middle = edge / 10 * (np.array([i % 10, i // 10 % 10, i // 100]) + 0.5)
    direction = random.normal(size=3)
    half = 0.5 * bond * direction / np.linalg.norm(direction)
    positions += [middle - half, middle + half]
system.addForce(interaction)
system.addForce(bonds)
barostat = mm.MonteCarloBarostat(1 * u.bar, temperature, 0)  # frequency 0: only to ask for the pressure
system.addForce(barostat)

integrator = mc.RattleLangevinIntegrator(temperature, 10 / u.picosecond, 4 * u.femtosecond)
integrator.setRandomNumberSeed(1)
context = mm.Context(system, integrator, mm.Platform.getPlatformByName("CPU"))
context.setPositions(positions)
context.setVelocitiesToTemperature(temperature, 1)
dof = integrator.getNumDegreesOfFreedom()
print(f"{dof} degrees of freedom, {dof / molecules:g} each")
integrator.step(1500)
integrator.setFriction(2)  # after equilibration, weaker: it forgets in a fraction of a block, below


def force_virial() -> float:
    """sum_i r_i.F_i = -3 V dU/dV when every atom's position is scaled with the box (kJ/mol)."""
    state = context.getState(positions=True)
    x, box = state.getPositions(asNumpy=True), state.getPeriodicBoxVectors()
    energies = []
    h = 3e-4  # a smaller difference would be lost in the rounding of a single-precision energy
    for scale in (1 + h, 1 - h):
        context.setPeriodicBoxVectors(*(scale * vector for vector in box))
        context.setPositions(scale * x)
        energies.append(context.getState(energy=True).getPotentialEnergy().value_in_unit(u.kilojoule_per_mole))
    context.setPeriodicBoxVectors(*box)
    context.setPositions(x)
    return -(energies[0] - energies[1]) / (2 * h)


volume = edge**3
temperatures, atomic, molecular = [], [], []
for _ in range(150):
    integrator.step(20)
    kinetic = context.getState(energy=True).getKineticEnergy().value_in_unit(u.kilojoule_per_mole)
    constraint_virial = np.trace([list(row) for row in integrator.getConstraintVirial()])
    temperatures.append(integrator.computeSystemTemperature().value_in_unit(u.kelvin))
    molecular.append(barostat.computeCurrentPressure(context).value_in_unit(u.bar))
    atomic.append((2 * kinetic + force_virial() + constraint_virial) / (3 * volume) * to_bar)

for label, values, unit in (
    ("temperature", temperatures, "K"),
    ("pressure, atoms and constraint virial", atomic, "bar"),
    ("pressure, molecules (OpenMM)", molecular, "bar"),
    ("difference of the two", np.subtract(atomic, molecular), "bar"),
):
    blocks = np.mean(np.reshape(values, (10, -1)), axis=1)
    print(f"{label:38s} {np.mean(values):8.2f} ± {np.std(blocks, ddof=1) / len(blocks) ** 0.5:.2f} {unit}")

figure, ((left, right), (unused, below)) = plt.subplots(
    2, 2, figsize=(10, 5.5), sharex=True, height_ratios=(2, 1), layout="constrained"
)
unused.remove()
time = 0.08 * np.arange(1, len(temperatures) + 1)
left.plot(time, temperatures, color="#0072B2")
left.axhline(temperature.value_in_unit(u.kelvin), color="0.4", linestyle="--", label="heat bath")
left.set(xlabel="time (ps)", ylabel="temperature (K)", title="5 degrees of freedom a molecule")
left.tick_params(labelbottom=True)
left.legend()
count = np.arange(1, len(atomic) + 1)
right.plot(time, np.cumsum(molecular) / count, color="0.7", linewidth=4, label="molecules, OpenMM's finite differences")
right.plot(time, np.cumsum(atomic) / count, color="#D55E00", linewidth=1.2, label="atoms, constraint virial")
right.set(ylabel="running mean of\nthe pressure (bar)", title=f"{molecules} rigid N₂")
right.legend()
below.plot(time, np.subtract(atomic, molecular), ".", color="#D55E00")
below.axhline(0, color="0.4", linewidth=0.8)
below.set(xlabel="time (ps)", ylabel="atoms − molecules,\neach sample (bar)")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "nitrogen.png", dpi=120)
