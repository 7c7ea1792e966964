# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A gas of C60, each molecule one rigid body of 60 atoms.

Carbon atoms of different molecules attract each other as Girifalco's do, J. Phys. Chem. 96, 858 (1992). In a thin gas
the distribution of distances between centres is exp(-U/kT) with the potential of two molecules, which he gives in
closed form. Translation and rotation have three degrees of freedom each.

python examples/c60_gas.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u

import openmmconstraints as mc

molecules, edge, temperature = 100, 17.0, 2000.0  # number, nm, K
sigma, epsilon = 0.3469, 0.2773  # nm, kJ/mol: of carbon atoms
radius, mass = 0.355, 12.011  # nm, u
kT = 0.00831446 * temperature  # kJ/mol
rng = np.random.default_rng(60)


def buckminsterfullerene() -> np.ndarray:
    """Positions [60, 3] nm: the even permutations of three points with all signs, on a sphere."""
    golden = (1 + 5**0.5) / 2
    points = [(0, 1, 3 * golden), (1, 2 + golden, 2 * golden), (2, 1 + 2 * golden, golden)]
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    atoms = {tuple(np.roll(s * p, k) + 0.0) for p in points for k in range(3) for s in signs}
    shape = np.array(sorted(atoms))
    return radius * shape / np.linalg.norm(shape, axis=1)[:, None]


def girifalco(r: np.ndarray) -> np.ndarray:
    """Energy (kJ/mol) of two molecules with uniform surfaces at the distance r (nm) of their centres."""
    s, n = r / (2 * radius), 60
    alpha = n**2 * 4 * epsilon * sigma**6 / (12 * (2 * radius) ** 6)
    beta = n**2 * 4 * epsilon * sigma**12 / (90 * (2 * radius) ** 12)
    attraction = 1 / (s * (s - 1) ** 3) + 1 / (s * (s + 1) ** 3) - 2 / s**4
    repulsion = 1 / (s * (s - 1) ** 9) + 1 / (s * (s + 1) ** 9) - 2 / s**10
    return beta * repulsion - alpha * attraction


shape = buckminsterfullerene()
size = len(shape)
system = mm.System()
system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
carbon = mm.NonbondedForce()
carbon.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
carbon.setCutoffDistance(1.2)
bodies = mc.ConstraintForce()
bodies.setUsesPeriodicBoundaryConditions(True)
places: list[np.ndarray] = []
while len(places) < molecules:  # anywhere, but not in each other
    place = rng.uniform(0, edge, 3)
    apart = place - np.reshape(places, (-1, 3))
    if np.linalg.norm(apart - edge * np.round(apart / edge), axis=1).min(initial=edge) > 1.0:
        places.append(place)
positions = np.concatenate([shape + place for place in places])
for first in range(0, size * molecules, size):
    for i in range(first, first + size):
        system.addParticle(mass)
        carbon.addParticle(0, sigma, epsilon)
        for j in range(first, i):  # atoms of one molecule do not interact
            carbon.addException(j, i, 0, 1, 0)
    bodies.addRigidBody(range(first, first + size), shape)
system.addForce(carbon)
system.addForce(bodies)

integrator = mc.RattleLangevinIntegrator(temperature * u.kelvin, 0.5 / u.picosecond, 25 * u.femtosecond)
integrator.setRandomNumberSeed(60)
context = mm.Context(system, integrator, mm.Platform.getPlatformByName("CPU"))
context.setPositions(positions)
context.setVelocitiesToTemperature(temperature * u.kelvin, 60)
integrator.step(250)
distances, translation, rotation = [], [], []
for _ in range(300):
    integrator.step(6)
    integrator.applyVelocityConstraints()
    state = context.getState(positions=True, velocities=True)
    x = state.getPositions(asNumpy=True)._value.reshape(molecules, size, 3)
    v = state.getVelocities(asNumpy=True)._value.reshape(molecules, size, 3)
    apart = x.mean(axis=1)[:, None] - x.mean(axis=1)
    apart -= edge * np.round(apart / edge)
    distances.append(np.linalg.norm(apart, axis=-1)[np.triu_indices(molecules, 1)])
    of_centre = 0.5 * size * mass * (v.mean(axis=1) ** 2).sum(axis=-1)
    translation.append(of_centre)
    rotation.append(0.5 * mass * (v**2).sum(axis=(1, 2)) - of_centre)
translation, rotation = np.concatenate(translation), np.concatenate(rotation)
print(f"{integrator.getNumDegreesOfFreedom() / molecules:g} degrees of freedom a molecule")
for name, energy in (("translation", translation), ("rotation", rotation)):
    print(f"{name}: {2 * energy.mean() / 3 / 0.00831446:.0f} K of {temperature:g} K")

bins = np.linspace(0.8, 2.4, 33)
middle = (bins[1:] + bins[:-1]) / 2
counts = np.histogram(np.concatenate(distances), bins)[0]
uniform = len(distances) * len(distances[0]) * 4 * np.pi / 3 * np.diff(bins**3) / edge**3

figure, (pairs, kinetic) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
r = np.linspace(0.8, 2.4, 400)
pairs.plot(r, np.exp(-girifalco(r) / kT), color="0.6", linewidth=3, label="exp(−U/kT), Girifalco")
pairs.plot(middle, counts / uniform, "o", color="#0072B2", markersize=4, label=f"{molecules} rigid C$_{{60}}$")
pairs.set(
    xlabel="distance of two centres (nm)", ylabel="pair distribution g(r)", title=f"thin gas at {temperature:g} K"
)
pairs.legend()
e = np.linspace(0, 8, 200)
kinetic.plot(e, 2 * np.sqrt(e / np.pi) * np.exp(-e), color="0.6", linewidth=3, label="Maxwell, 3 degrees of freedom")
steps = np.linspace(0, 8, 33)
for energy, style, colour, name in (
    (translation, "o", "#0072B2", "translation"),
    (rotation, "^", "#D55E00", "rotation"),
):
    density = np.histogram(energy / kT, steps, density=True)[0]
    kinetic.plot((steps[1:] + steps[:-1]) / 2, density, style, color=colour, markersize=4, label=name)
kinetic.set(xlabel="kinetic energy of a molecule / kT", ylabel="probability density", title="6 degrees of freedom")
kinetic.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "c60_gas.png", dpi=120)
