# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The free energy along butane's dihedral from constrained runs on all cores, compared with a histogram of free runs.

    python pmf.py [pmf.png]

United atoms in vacuum (TraPPE: Martin, Siepmann, J. Phys. Chem. B 102, 2569 (1998), doi 10.1021/jp972543+). Only the
torsion energy depends on the dihedral, so the free energy must equal the torsion energy, with rigid bonds too. The
script takes half a minute on two idle cores.
"""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

KELVIN = unit.MOLAR_GAS_CONSTANT_R.value_in_unit(unit.kilojoule_per_mole / unit.kelvin)  # TraPPE's unit of energy
TEMPERATURE = 300 * unit.kelvin
TORSION = (  # periodicity, phase, K
    (1, 0, 335.03),
    (2, np.pi, -68.19),
    (3, 0, 791.32),
)
START = [[0.0, 0.14, -0.06], [0, 0, 0], [0.154, 0, 0], [0.154, -0.14, 0.06]]


def butane():
    """Four united atoms: rigid bonds, angles, a torsion."""
    system = mm.System()
    for mass in (15.035, 14.027, 14.027, 15.035):
        system.addParticle(mass)
    angles, torsions = mm.HarmonicAngleForce(), mm.PeriodicTorsionForce()
    for i in range(3):
        system.addConstraint(i, i + 1, 1.54 * unit.angstrom)
    for i in range(2):
        angles.addAngle(i, i + 1, i + 2, 114 * unit.degrees, 62500 * KELVIN)
    for periodicity, phase, energy in TORSION:
        torsions.addTorsion(0, 1, 2, 3, periodicity, phase, energy * KELVIN)
    system.addForce(angles)
    system.addForce(torsions)
    return system


def integrator():
    """The heat bath of all runs."""
    return mc.RattleLangevinIntegrator(TEMPERATURE, 5 / unit.picosecond, 4 * unit.femtosecond)


def free_run(seed, samples=50000, interval=25):
    """Dihedrals (rad) of a run in which the dihedral is not constrained."""
    bath = integrator()
    bath.setRandomNumberSeed(seed)
    context = mm.Context(butane(), bath, mm.Platform.getPlatform("Reference"))
    context.setPositions(START)
    context.setVelocitiesToTemperature(TEMPERATURE, seed)
    bath.step(1000)
    angles = np.empty(samples)
    for i in range(samples):
        bath.step(interval)
        a, b, c = np.diff(context.getState(positions=True).getPositions(asNumpy=True)._value, axis=0)
        n, m = np.cross(a, b), np.cross(b, c)
        angles[i] = np.arctan2(np.cross(n, m) @ b / np.linalg.norm(b), n @ m)
    return angles


def main(path="pmf.png"):
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as executor:
        free = [executor.submit(free_run, seed) for seed in (1, 2)]
        forces = fe.mean_force_profile(
            butane,
            START,
            fe.Dihedral(0, 1, 2, 3),
            np.linspace(-180, 180, 37) * unit.degrees,
            integrator(),
            steps=20000,
            executor=executor,
            seed=1,
            platform="Reference",  # the fastest for four particles
        )
        counts, edges = np.histogram(np.concatenate([run.result() for run in free]), 36, (-np.pi, np.pi))
    pmf = forces.integrate()

    phi = np.linspace(-np.pi, np.pi, 361)
    torsion = sum(k * KELVIN * (1 + np.cos(n * phi - phase)) for n, phase, k in TORSION)
    with np.errstate(divide="ignore"):
        histogram = -np.log(counts / counts.max()) * KELVIN * TEMPERATURE._value

    axes = pmf.plot()
    axes.plot(
        np.degrees(phi), torsion - torsion.min(), "k-", linewidth=0.8, zorder=0, label="exact: the torsion's energy"
    )
    middle = np.degrees((edges[1:] + edges[:-1]) / 2)
    axes.plot(middle, histogram, "s", color="tab:orange", markersize=4, label="histogram of free runs")
    axes.set_title("Butane (TraPPE united atoms) in vacuum, 300 K")
    axes.set_xticks(range(-180, 181, 60))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize="small")
    axes.figure.savefig(path, dpi=100)

    deviation = pmf.free_energy - np.interp(pmf.values, phi, torsion - torsion.min())
    print(f"barrier at 0 degrees: {pmf.free_energy[18]:.2f} ± {pmf.error[18]:.2f} kJ/mol, exact {np.ptp(torsion):.2f}")
    print(f"largest deviation from the torsion's energy: {np.abs(deviation).max():.2f} kJ/mol; wrote {path}")


if __name__ == "__main__":  # processes import this file
    main(*sys.argv[1:])
