# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A droplet of water with rigid bonds and flexible angles: fast forces of angles, slow ones between molecules.

How well energy is kept depends on the slow step. Slow kicks resonate with the angles at half of their period, and in
long runs from a third of it on (Ma, Izaguirre, Skeel, SIAM J. Sci. Comput. 24, 1951 (2003)).

python examples/multiple_time_steps.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm

import openmmconstraints as mc

oxygen, hydrogen = 15.999, 1.008  # Da
bond, angle, stiffness = 0.09572, np.radians(104.52), 627.6  # nm, rad, kJ/mol/rad^2: TIP3P, flexible
fast_step, duration = 0.0005, 1.0  # ps
slow, fast = 0, 1  # force groups


def droplet(side: int = 3) -> tuple[mm.System, np.ndarray]:
    """Waters on a grid, which a weak well holds together."""
    system, positions = mm.System(), []
    held, angles, between = mc.ConstraintForce(), mm.HarmonicAngleForce(), mm.NonbondedForce()
    well = mm.CustomExternalForce("20*max(0, r-0.6)^2; r=sqrt(x^2+y^2+z^2)")
    shape = bond * np.array([[0, 0, 0], [1, 0, 0], [np.cos(angle), np.sin(angle), 0]])
    for cell in np.ndindex(side, side, side):
        o, h1, h2 = (system.addParticle(mass) for mass in (oxygen, hydrogen, hydrogen))
        positions.extend(0.31 * (np.array(cell) - (side - 1) / 2) + shape)
        for h in (h1, h2):
            held.addDistance(o, h, bond)
        angles.addAngle(h1, o, h2, angle, stiffness)
        for charge, sigma, epsilon in ((-0.834, 0.315, 0.636), (0.417, 1, 0), (0.417, 1, 0)):
            between.addParticle(charge, sigma, epsilon)
        for i, j in ((o, h1), (o, h2), (h1, h2)):
            between.addException(i, j, 0, 1, 0)
        well.addParticle(o)
    for force, group in ((held, slow), (between, slow), (well, slow), (angles, fast)):
        force.setForceGroup(group)
        system.addForce(force)
    return system, np.array(positions)


def energy_error(integrator: mc.ConstraintIntegrator, state: mm.State) -> float:
    """Largest deviation of the energy, in kT per degree of freedom."""
    context = mm.Context(system, integrator, platform)
    context.setState(state)
    energies = []
    for _ in range(50):
        integrator.step(max(1, round(duration / 50 / integrator.getStepSize()._value)))
        now = context.getState(energy=True)
        energies.append((now.getKineticEnergy() + now.getPotentialEnergy())._value)
    thermal = 0.00831446 * 300 * integrator.getNumDegreesOfFreedom()
    return max(abs(energy - energies[0]) for energy in energies) / thermal


platform = mm.Platform.getPlatformByName("Reference")
system, start = droplet()
bath = mc.RattleLangevinIntegrator(300, 10, 0.001)
context = mm.Context(system, bath, platform)
context.setPositions(start)
mc.minimize(context)
context.setVelocitiesToTemperature(300, 1)
bath.step(2000)
state = context.getState(positions=True, velocities=True)

# The period of an angle between rigid bonds: Wilson, Decius, Cross, Molecular Vibrations (1955), appendix VI.
inverse_mass = 2 / hydrogen / bond**2 + (2 - 2 * np.cos(angle)) / bond**2 / oxygen
period = 2 * np.pi / np.sqrt(stiffness * inverse_mass)  # ps

steps = np.arange(1, 25) * fast_step
several, single = [], []
for n, step in enumerate(steps, 1):
    several.append(energy_error(mc.RattleMTSIntegrator(step, [(slow, 1), (fast, n)]), state))
    single.append(energy_error(mc.RattleIntegrator(step), state) if step < 0.3 * period else np.nan)
    print(f"slow step {1000 * step:4.1f} fs: {several[-1]:.1e} kT per degree of freedom", end="")
    print(f", one step for all {single[-1]:.1e}" if np.isfinite(single[-1]) else "")
print(f"period of the angles {1000 * period:.1f} fs, a third of it {1000 * period / 3:.1f} fs")

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.semilogy(1000 * steps, single, "s-", color="#E69F00", label="RattleIntegrator: one step for all forces")
label = f"RattleMTSIntegrator: angles every {1000 * fast_step:g} fs"
axes.semilogy(1000 * steps, several, "o-", color="#0072B2", label=label)
for part, name in ((3, "a third"), (2, "half")):
    axes.axvline(1000 * period / part, color="0.6", linestyle="--")
    axes.text(1000 * period / part, 1.0, f"{name} of\nthe angles' period", fontsize="small", color="0.4",
              ha="center", va="bottom", transform=axes.get_xaxis_transform())  # fmt: skip
axes.set(xlabel="step of the slow forces (fs)", ylabel="energy error in 1 ps (kT per degree of freedom)")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize="small")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "multiple_time_steps.png", dpi=120)
