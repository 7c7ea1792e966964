# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A molecule is held at heights above the centre of a small membrane: the free energy along its way through.

The membrane's beads are tied to places in space by springs, so the membrane moves, and the force on the constraint
fluctuates. What acts between molecule and membrane depends on the height of the molecule above the membrane's centre of
mass only; so this energy is the exact free energy profile. The mean of the multiplier is its derivative.

python examples/permeation.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u

import openmmconstraints as mc

BARRIER, WELL = 25.0, 10.0  # kJ/mol
INTERFACE = 1.2  # nm
HEIGHTS = np.linspace(-2.4, 2.4, 49)


def energy(h):
    """A barrier in the middle, and a well at each interface."""
    wells = sum(np.exp(-(((h - side * INTERFACE) / 0.4) ** 2)) for side in (-1, 1))
    return BARRIER * np.exp(-((h / 0.8) ** 2)) - WELL * wells


system, places = mm.System(), [[0.1, 0.2, HEIGHTS[0]]]
molecule = [system.addParticle(18)]
springs = mm.CustomExternalForce("200*((x-x0)^2+(y-y0)^2+(z-z0)^2)")
for name in ("x0", "y0", "z0"):
    springs.addPerParticleParameter(name)
for leaflet in (-1, 1):
    for x in np.arange(4) * 0.5:
        for y in np.arange(4) * 0.5:
            places.append([x, y, leaflet * 0.9])
            springs.addParticle(system.addParticle(72), places[-1])
membrane = list(range(1, system.getNumParticles()))
system.addForce(springs)

interaction = mm.CustomCentroidBondForce(
    2,
    f"{BARRIER}*exp(-(h/0.8)^2) - {WELL}*(exp(-((h-{INTERFACE})/0.4)^2)+exp(-((h+{INTERFACE})/0.4)^2)); h = z1-z2",
)
interaction.addBond([interaction.addGroup(molecule), interaction.addGroup(membrane)])
system.addForce(interaction)

constraint = mc.CustomCentroidConstraintForce(2, "z1 - z2 - h")
constraint.addGlobalParameter("h", HEIGHTS[0])
constraint.addConstraint([constraint.addGroup(molecule), constraint.addGroup(membrane)])
system.addForce(constraint)

integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 1 / u.picosecond, 4 * u.femtosecond)
integrator.setRandomNumberSeed(1)
integrator.setMaxProjection(0.2)  # nm: each height is 0.1 nm above the one before
context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
context.setPositions(places)
context.setVelocitiesToTemperature(300 * u.kelvin, 1)

means, errors = [], []
for height in HEIGHTS:
    context.setParameter("h", height)
    integrator.step(250)
    forces = []
    for _ in range(300):
        integrator.step(10)
        forces.append(constraint.getMultipliers(context)[0])
    blocks = np.mean(np.reshape(forces, (10, -1)), axis=1)
    means.append(np.mean(forces))
    errors.append(np.std(blocks, ddof=1) / np.sqrt(len(blocks)))
steps = np.diff(HEIGHTS) * (np.array(means[1:]) + means[:-1]) / 2
profile = np.concatenate([[0], np.cumsum(steps)]) + energy(HEIGHTS[0])

deviation = np.max(np.abs(profile - energy(HEIGHTS)))
print(
    f"mean forces fluctuate by {np.median(errors):.2f} kJ/mol/nm; the profile is off by at most {deviation:.2f} kJ/mol"
)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
fine = np.linspace(HEIGHTS[0], HEIGHTS[-1], 400)
left.plot(fine, np.gradient(energy(fine), fine), color="#999999", label="dU/dh")
left.errorbar(HEIGHTS, means, errors, fmt=".", color="#0072B2", label="mean multiplier")
left.set(ylabel="mean force (kJ/mol/nm)")
right.plot(fine, energy(fine), color="#999999", label="known")
right.plot(HEIGHTS, profile, ".", color="#D55E00", label="integral of the mean multiplier")
right.set(ylabel="free energy (kJ/mol)")
for panel in (left, right):
    panel.set_xlabel("height above the membrane's centre (nm)")
    panel.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "permeation.png", dpi=110)
