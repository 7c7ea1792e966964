# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Observables of positions, degrees of freedom by atom, and frequencies of small vibrations under constraints."""

from __future__ import annotations

import numpy as np
import openmm as mm
from openmm import app

import openmmconstraints as mc
from openmmconstraints.inspection.system import particle_masses

SPEED_OF_LIGHT = 0.0299792458  # cm/ps


def held_distances(system: mm.System) -> np.ndarray:
    """Pairs of particles [constraints, 2] whose distances a System or its ConstraintForces constrain."""
    pairs = [system.getConstraintParameters(n)[:2] for n in range(system.getNumConstraints())]
    for force in system.getForces():
        if mc.ConstraintForce.isinstance(force):
            force = mc.ConstraintForce.cast(force)
            pairs += [force.getDistanceParameters(n)[:2] for n in range(force.getNumDistances())]
    return np.array(pairs, dtype=int).reshape(-1, 2)


def particle_freedom(system: mm.System, positions: np.ndarray) -> np.ndarray:
    """Degrees of freedom [numParticles] of each particle: its mean kinetic energy under the constraints, in kT/2.

    They are the diagonal of the projector onto the directions that the constraints allow, in mass-weighted coordinates,
    summed over x, y and z: 3 without constraints; those of a rigid water add up to 6. They depend weakly on the
    positions. Constraints have to be independent.

    :param positions: [numParticles, 3] nm, on the constraints
    """
    scale = 1 / np.sqrt(particle_masses(system))
    freedom = np.full(len(positions), 3.0)
    for pairs in _clusters(held_distances(system), len(positions)):
        particles, local = np.unique(pairs, return_inverse=True)
        removed = _removed_directions(pairs, local.reshape(-1, 2), len(particles), positions, scale)
        freedom[particles] -= (removed**2).reshape(len(particles), -1).sum(axis=1)
    return freedom


def _removed_directions(
    pairs: np.ndarray, local: np.ndarray, count: int, positions: np.ndarray, scale: np.ndarray
) -> np.ndarray:
    """An orthonormal basis [3 count, constraints] of the directions that the constraints remove, mass-weighted."""
    gradient = np.zeros((len(pairs), count, 3))
    rows = np.arange(len(pairs))
    bonds = positions[pairs[:, 1]] - positions[pairs[:, 0]]
    for end, sign in ((0, -1), (1, 1)):
        gradient[rows, local[:, end]] = sign * scale[pairs[:, end], None] * bonds
    return np.linalg.qr(gradient.reshape(len(pairs), -1).T)[0]


def _clusters(pairs: np.ndarray, count: int) -> list[np.ndarray]:
    """Clusters: constraints that share particles, directly or through other constraints."""
    root = list(range(count))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for i, j in pairs:
        root[find(i)] = find(j)
    found: dict[int, list[np.ndarray]] = {}
    for pair in pairs:
        found.setdefault(find(pair[0]), []).append(pair)
    return [np.array(cluster) for cluster in found.values()]


def atom_classes(topology: app.Topology) -> dict[str, np.ndarray]:
    """Which atoms [numAtoms] are water, heavy atoms of the protein, its hydrogens; empty classes are left out."""
    residues = [atom.residue for atom in topology.atoms()]
    protein = np.array([any(atom.name == "CA" for atom in residue.atoms()) for residue in residues])
    water = np.array([residue.name == "HOH" for residue in residues])
    hydrogen = np.array([atom.element is app.element.hydrogen for atom in topology.atoms()])
    classes = {"water": water, "heavy": protein & ~hydrogen, "hydrogen": protein & hydrogen}
    return {name: mask for name, mask in classes.items() if mask.any()}


def backbone(topology: app.Topology) -> np.ndarray:
    """Indices of N, CA, C of the protein, residue by residue: [residues, 3]."""
    found = []
    for residue in topology.residues():
        atoms = {atom.name: atom.index for atom in residue.atoms()}
        if "CA" in atoms:
            found.append([atoms[name] for name in ("N", "CA", "C")])
    return np.array(found)


def backbone_dihedrals(positions: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """phi, then psi (degrees) wherever there is a neighbour: [2 (residues - 1)]; atoms: of backbone()."""
    x = positions[atoms]
    phi = _dihedral(x[:-1, 2], x[1:, 0], x[1:, 1], x[1:, 2])
    psi = _dihedral(x[:-1, 0], x[:-1, 1], x[:-1, 2], x[1:, 0])
    return np.concatenate([phi, psi])


def _dihedral(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    axis = c - b
    first, second = np.cross(b - a, axis), np.cross(axis, d - c)
    sine = np.linalg.norm(axis, axis=1) * np.sum((b - a) * second, axis=1)
    return np.degrees(np.arctan2(sine, np.sum(first * second, axis=1)))


def rmsd(positions: np.ndarray, reference: np.ndarray) -> float:
    """Root mean square distance (nm) after the best superposition (Kabsch, doi 10.1107/S0567739476001873)."""
    x, y = positions - positions.mean(axis=0), reference - reference.mean(axis=0)
    u, singular, v = np.linalg.svd(x.T @ y)
    singular[-1] *= np.sign(np.linalg.det(u @ v))
    return float(np.sqrt(max(0.0, (x**2).sum() + (y**2).sum() - 2 * singular.sum()) / len(x)))


def gyration_radius(positions: np.ndarray, masses: np.ndarray) -> float:
    """Mass-weighted (nm)."""
    centre = masses @ positions / masses.sum()
    return float(np.sqrt(masses @ ((positions - centre) ** 2).sum(axis=1) / masses.sum()))


def jensen_shannon(first: np.ndarray, second: np.ndarray, bins: int = 24) -> float:
    """Divergence (bits, 0: equal, 1: nothing in common) of two samples of angles (degrees) [samples, angles].

    The mean over the angles of the divergence of their histograms (Lin, doi 10.1109/18.61115).
    """
    edges = np.linspace(-180, 180, bins + 1)
    p, q = (
        np.array([np.histogram(column, edges)[0] / len(angles) for column in angles.T]) for angles in (first, second)
    )
    return float(np.mean(_entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2))


def _entropy(p: np.ndarray) -> np.ndarray:
    return -np.sum(p * np.log2(p, out=np.zeros_like(p), where=p > 0), axis=1)


def bonded_hessian(bonded: mm.System, positions: np.ndarray) -> np.ndarray:
    """Second derivatives (kJ/mol/nm^2) of an energy, by central differences: [3 numParticles, 3 numParticles]."""
    context = mm.Context(bonded, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    shift = 1e-5  # nm

    def forces(n: int, by: float) -> np.ndarray:
        moved = positions.copy()
        moved.flat[n] += by
        context.setPositions(moved)
        return context.getState(forces=True).getForces(asNumpy=True)._value.ravel()

    hessian = np.array([forces(n, -shift) - forces(n, shift) for n in range(positions.size)]) / (2 * shift)
    return (hessian + hessian.T) / 2


def fastest_frequency(hessian: np.ndarray, system: mm.System, positions: np.ndarray) -> float:
    """The highest frequency (1/cm) of small vibrations that the constraints of a System allow.

    Normal modes about a minimum of the energy: eigenvalues of the mass-weighted Hessian, projected onto the directions
    that the constraints allow. The period is 1/(c nu); with steps longer than period/pi, the Verlet method is unstable
    for a harmonic mode.
    """
    scale = 1 / np.sqrt(particle_masses(system))
    weights = np.repeat(scale, 3)
    projected = weights[:, None] * hessian * weights
    pairs = held_distances(system)
    if len(pairs):
        removed = _removed_directions(pairs, pairs, len(positions), positions, scale)
        projected -= removed @ (removed.T @ projected)
        projected -= (projected @ removed) @ removed.T
    return float(np.sqrt(np.linalg.eigvalsh(projected)[-1]) / (2 * np.pi * SPEED_OF_LIGHT))
