# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Two rigid domains of a protein, joined by a hinge, in water.

The villin headpiece of OpenMM's test.pdb is cut at the bond CA-C of leucine 20, between its second helix and its third.
Each part is one rigid body. Both bodies have CA and C, so they share an axis about which one can rotate against the
other. That angle is the dihedral psi of leucine 20. Water is rigid too, so a step of 4 fs is possible. Without water,
the distribution of the angle follows from energies of the protein alone.

python examples/hinged_domains.py [plot.png]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.app as app
import openmm.unit as u

import openmmconstraints as mc

temperature, step_size, every = 300.0, 0.004, 5  # K, ps, steps between two records
start, steps = 500, 2000  # steps before the records, and with them

pdb = app.PDBFile(str(Path(app.__file__).with_name("data") / "test.pdb"))
model = app.Modeller(pdb.topology, pdb.positions)
model.delete([residue for residue in model.topology.residues() if residue.name in ("HOH", "Cl")])
forces = app.ForceField("amber14-all.xml", "amber14/tip3p.xml")
alone = forces.createSystem(model.topology)  # the protein without water, to compare with
size = alone.getNumParticles()
model.addSolvent(forces, boxShape="dodecahedron", padding=0.5 * u.nanometer)  # a small box: this is an example
system = forces.createSystem(
    model.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.8 * u.nanometer, removeCMMotion=False
)
positions = np.array(model.positions.value_in_unit(u.nanometer))

atoms = {(atom.residue.id, atom.name): atom.index for atom in model.topology.atoms() if atom.residue.name != "HOH"}
psi = [atoms["20", "N"], atoms["20", "CA"], atoms["20", "C"], atoms["21", "N"]]
hinge = psi[1:3]
neighbours: dict[int, list[int]] = {}
for first, second in model.topology.bonds():
    neighbours.setdefault(first.index, []).append(second.index)
    neighbours.setdefault(second.index, []).append(first.index)


def domain(near: int, far: int) -> list[int]:
    """The atoms that bonds join to `near` but for its bond to `far`; and `far`, which completes the axis."""
    found, ahead = {near, far}, [near]
    while ahead:
        new = set(neighbours[ahead.pop()]) - found
        found |= new
        ahead += new
    return sorted(found)


domains = [domain(*hinge), domain(*reversed(hinge))]
print(mc.makeRigid(system, domains, positions))


def dihedral(x: np.ndarray) -> float:
    """psi (radians) at positions x."""
    first, axis, last = np.diff(x[psi], axis=0)
    across = np.cross(axis, last)
    return np.arctan2(np.linalg.norm(axis) * first @ across, np.cross(first, axis) @ across)


def distances(x: np.ndarray) -> np.ndarray:
    """All distances (nm) within each of the two bodies."""
    return np.concatenate([np.linalg.norm(x[d][:, None] - x[d], axis=-1).ravel() for d in domains])


def rotated(x: np.ndarray, by: float) -> np.ndarray:
    """The positions of the protein with its second domain rotated about the hinge by an angle (radians)."""
    second, origin = domains[1], x[hinge[0]]
    axis = (x[hinge[1]] - origin) / np.linalg.norm(x[hinge[1]] - origin)
    arm = x[second] - origin
    y = x[:size].copy()
    y[second] = (
        origin + np.cos(by) * arm + np.sin(by) * np.cross(axis, arm) + (1 - np.cos(by)) * np.outer(arm @ axis, axis)
    )
    return y


integrator = mc.RattleLangevinIntegrator(temperature, 1.0, step_size)
integrator.setRandomNumberSeed(20)
context = mm.Context(system, integrator, mm.Platform.getPlatform("CPU"))
context.setPositions(positions)
mc.minimize(context, 10, 100)
context.setVelocitiesToTemperature(temperature, 20)
integrator.step(start)
closed, shape = dihedral(positions), distances(positions)
opening, error = [], 0.0
for _ in range(steps // every):
    integrator.step(every)
    x = context.getState(positions=True).getPositions(asNumpy=True)._value
    turned = dihedral(x) - closed
    opening.append(np.degrees((turned + np.pi) % (2 * np.pi) - np.pi))
    error = max(error, np.abs(distances(x) - shape).max())
opening = np.array(opening)
times = step_size * (start + every * (1 + np.arange(len(opening))))

waters = sum(residue.name == "HOH" for residue in model.topology.residues())
ions = sum(residue.name in ("CL", "NA") for residue in model.topology.residues())
freedom = integrator.getNumDegreesOfFreedom()
print(
    f"bodies of {len(domains[0])} and {len(domains[1])} atoms, which share {len(hinge)}; {waters} waters, {ions} ions"
)
print(f"degrees of freedom: {freedom}, of which the protein has {freedom - 6 * waters - 3 * ions}")
print(f"largest error of a distance in a body: {error:.0e} nm")
print(
    f"opening: {opening.mean():.1f} degrees, standard deviation {opening.std():.1f}, in {times[-1] - times[0]:.1f} ps"
)

angles = np.linspace(-4, 4, 161)
protein = mm.Context(alone, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
energies = []
for degrees in angles:
    protein.setPositions(rotated(positions, np.radians(degrees)))
    energies.append(protein.getState(energy=True).getPotentialEnergy()._value)
weight = np.exp(-(np.array(energies) - min(energies)) / (0.00831446 * temperature))

figure, (course, share) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained", sharey=True, gridspec_kw={"width_ratios": (2, 1)}
)
course.plot(times, opening, color="#0072B2", linewidth=1, label=f"two rigid domains in water, {1000 * step_size:g} fs")
course.set(
    xlabel="time (ps)", ylabel="rotation about the hinge,\nfrom the PDB file (degrees)", title="ψ of Leu 20 of villin"
)
course.legend(loc="upper left")
share.hist(opening, 16, density=True, orientation="horizontal", color="#0072B2", alpha=0.4, label="in water, this run")
share.plot(
    weight / (weight.sum() * (angles[1] - angles[0])),
    angles,
    color="0.4",
    linewidth=2,
    label="without water,\nexp(−U/kT)",
)
low, high = min(-3.5, opening.min() - 0.5), max(3.5, opening.max() + 0.5)
share.set(xlabel="probability density (1/degree)", ylim=(low, high + 1), title="its distribution")
share.legend(loc="upper right")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "hinged_domains.png", dpi=120)
