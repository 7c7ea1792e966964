# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Alanine dipeptide with a potential that knows no bonds: how large may a time step be with rigid bonds to hydrogen?

A PythonForce stands in for a learned potential: it gets positions, and returns an energy and forces. Here another
Context computes them, with the force field amber14, where a neural network would. constrain() finds the bonds to
hydrogen by covalent radii, and takes their lengths from a minimum of the energy.

python examples/learned_potential.py [plot.png]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile(str(Path(__file__).with_name("alanine_dipeptide.pdb")))
reference = mm.Platform.getPlatformByName("Reference")
force_field = app.ForceField("amber14-all.xml").createSystem(pdb.topology, removeCMMotion=False)
network = mm.Context(force_field, mm.VerletIntegrator(0.001), reference)


def compute(state: mm.State) -> tuple[float, np.ndarray]:
    network.setPositions(state.getPositions(asNumpy=True))
    result = network.getState(energy=True, forces=True)
    return result.getPotentialEnergy(), result.getForces(asNumpy=True)


def run(step_size: float, is_held: bool, duration: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Times (ps), and total energies less their mean (kJ/mol), from velocities of 300 K."""
    system = mm.System()
    for atom in pdb.topology.atoms():
        system.addParticle(atom.element.mass)
    system.addForce(mm.PythonForce(compute))
    if is_held:
        mc.constrain(system, pdb.topology, "covalent-hydrogens", lengths="positions", positions=pdb.positions)
    integrator = mc.RattleIntegrator(step_size * u.femtosecond)
    context = mm.Context(system, integrator, reference)
    context.setPositions(pdb.positions)
    context.setVelocitiesToTemperature(300 * u.kelvin, 1)
    times, energies = [], []
    for _ in range(round(1000 * duration / step_size)):
        integrator.step(1)
        state = context.getState(energy=True)
        times.append(state.getTime().value_in_unit(u.picosecond))
        energies.append((state.getKineticEnergy() + state.getPotentialEnergy()).value_in_unit(u.kilojoule_per_mole))
    return np.array(times), np.array(energies) - np.mean(energies)


def fluctuation(step_size: float, is_held: bool) -> float:
    """Standard deviation of the total energy (kJ/mol), or NaN where the run ends with an exception."""
    try:
        return float(np.std(run(step_size, is_held)[1]))
    except mm.OpenMMException:
        return np.nan


step_sizes = np.array([0.25, 0.5, 1, 1.5, 2, 3, 4])
free, held = (np.array([fluctuation(step_size, is_held) for step_size in step_sizes]) for is_held in (False, True))
print("standard deviation of the total energy (kJ/mol)\nstep (fs)   all bonds vibrate   X-H held")
for row in zip(step_sizes, free, held, strict=True):
    print("{:9g}   {:17.3f}   {:8.3f}".format(*row).replace("  nan", "stops"))
same = np.exp(np.interp(np.log(held[step_sizes == 2][0]), np.log(free[:-1]), np.log(step_sizes[:-1])))
print(f"with bonds to hydrogen held, 2 fs are as good as {same:.1f} fs without")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for step_size, is_held, style, label in (
    (2, False, {"color": "#E69F00", "linewidth": 0.8}, "2 fs, all bonds vibrate"),
    (2, True, {"color": "#0072B2", "linewidth": 1.6}, "2 fs, bonds to hydrogen held"),
    (0.5, False, {"color": "black", "linewidth": 0.8, "linestyle": "--"}, "0.5 fs, all bonds vibrate"),
):
    times, energies = run(step_size, is_held, 0.5)
    left.plot(times, energies, label=label, **style)
left.set(xlabel="time (ps)", ylabel="total energy - its mean (kJ/mol)", ylim=(-6, 10))
left.legend()
right.loglog(step_sizes, free, "o-", color="#D55E00", label="all bonds vibrate")
right.loglog(step_sizes, held, "s-", color="#0072B2", label="bonds to hydrogen held")
right.loglog(step_sizes, held[2] * step_sizes**2, ":", color="0.4", label="∝ Δt²")
right.set(xlabel="time step Δt (fs)", ylabel="standard deviation of the energy (kJ/mol)")
right.set_xticks(step_sizes, [f"{step_size:g}" for step_size in step_sizes])
right.minorticks_off()
right.legend()
figure.suptitle("alanine dipeptide, a potential without bonds")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "learned_potential.png", dpi=120)
