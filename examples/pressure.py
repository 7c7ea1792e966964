# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A polymer network without ends is held at a pressure.

Chains of rigid bonds span the periodic box, and links join them to one network, so there is no molecule that a barostat
could scale. mc.computePressure() scales atoms and includes the constraint forces. The box is changed a little whenever
the pressure differs from what is wanted, as in Berendsen's barostat, and projected onto the constraints.

python examples/pressure.py [plot.png]
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u

import openmmconstraints as mc

n, edge, bond = 5, 2.4, 0.53  # beads along each edge; nm. A chain of 5 bonds, 2.65 nm long, spans 2.4 nm
wanted, temperature = 200.0, 300 * u.kelvin  # bar
system = mm.System()
system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
beads = mm.NonbondedForce()
beads.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
beads.setCutoffDistance(0.9)
beads.setUseSwitchingFunction(True)
beads.setSwitchingDistance(0.75)
bonds = mc.ConstraintForce()
bonds.setUsesPeriodicBoundaryConditions(True)
positions = []
random = np.random.default_rng(2)
for i, j, k in np.ndindex(n, n, n):
    system.addParticle(56)
    beads.addParticle(0, 0.36, 0.6)  # sigma (nm), epsilon (kJ/mol)
    zigzag = 0.11 * np.array([0, np.sin(1.3 * np.pi * i), np.cos(1.3 * np.pi * i)])
    positions.append((np.array([i, j, k]) + 0.5) * edge / n + zigzag + random.normal(scale=0.01, size=3))


def bead(i: int, j: int, k: int) -> int:
    return (i % n * n + j % n) * n + k % n


for i, j, k in np.ndindex(n, n, n):
    bonds.addDistance(bead(i, j, k), bead(i + 1, j, k), bond)
    if (i, k % 2) == (0, 0) or (i, k % 2) == (2, 1):  # links to the next chains
        bonds.addDistance(bead(i, j, k), bead(i, j + 1, k), bond)
    if (i, j % 2) == (1, 0) or (i, j % 2) == (3, 1):
        bonds.addDistance(bead(i, j, k), bead(i, j, k + 1), bond)
system.addForce(beads)
system.addForce(bonds)

integrator = mc.RattleLangevinIntegrator(temperature, 2 / u.picosecond, 4 * u.femtosecond)
integrator.setRandomNumberSeed(1)
integrator.setMaxProjection(0.3 * u.nanometer)  # the start is made up
context = mm.Context(system, integrator, mm.Platform.getPlatformByName("CPU"))
context.setPositions(positions)
integrator.applyConstraints()
context.setVelocitiesToTemperature(temperature, 1)
integrator.step(500)


def scale_box(factor: float) -> None:
    """Scale box and positions, and return to the constraints; velocities stay what they are."""
    state = context.getState(positions=True)
    context.setPeriodicBoxVectors(*(factor * vector for vector in state.getPeriodicBoxVectors()))
    context.setPositions(factor * state.getPositions(asNumpy=True))
    integrator.applyConstraints()


times, edges, pressures, tensors = [], [], [], []
for block in range(900):
    integrator.step(10)
    pressure = mc.computePressure(context).value_in_unit(u.bar)
    state = context.getState()
    times.append(state.getTime().value_in_unit(u.picosecond))
    edges.append(state.getPeriodicBoxVolume().value_in_unit(u.nanometer**3) ** (1 / 3))
    pressures.append(pressure)
    if block < 500:
        scale_box(1 + 6e-6 / (1 + block / 40) * (pressure - wanted))  # smaller and smaller steps, so that it settles
    elif block % 4 == 0:
        tensors.append(mc.computePressureTensor(context).value_in_unit(u.bar))

held = np.array(pressures[500:])  # at constant volume
blocks = held.reshape(10, -1).mean(axis=1)
print(f"{integrator.getNumDegreesOfFreedom()} degrees of freedom, {bonds.getNumDistances()} rigid bonds")
print(f"edge of the box: {edges[0]:.3f} nm at first, {edges[-1]:.3f} nm at the end")
print(
    f"pressure: {wanted:.0f} bar wanted, {held.mean():.0f} ± {blocks.std(ddof=1) / 10**0.5:.0f} bar in the last 16 ps"
)
print("along x, y and z: " + ", ".join(f"{value:.0f}" for value in np.diag(np.mean(tensors, axis=0))) + " bar")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(times, edges, color="#0072B2")
left.axvline(times[500], color="0.3", linestyle=":", label="constant from here on")
left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16))
left.set(xlabel="time (ps)", ylabel="edge of the box (nm)", title="the network finds its volume")
smooth = np.convolve(pressures, np.ones(25) / 25, mode="valid")
right.plot(times, pressures, color="0.8", label="instantaneous")
right.plot(times[12 : 12 + len(smooth)], smooth, color="#D55E00", label="mean over 1 ps")
right.axhline(wanted, color="0.3", linestyle="--", label="wanted")
right.set(xlabel="time (ps)", ylabel="pressure (bar)", title="by scaling atoms, with constraint forces")
right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "pressure.png", dpi=120)
