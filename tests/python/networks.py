# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Ideal chains of three rigid bonds without ends, each bound to its own image along x, and their exact pressure.

The unit vectors of the bonds add up to (L/b, 0, 0), L being the edge along x and b the length of a bond. Constrained
positions have the density prod_k delta(sigma_k) sqrt(det J M^-1 J^T), so a chain has the free energy

    A = -kT ln V - kT ln Z(L),   Z(L) = int dc dpsi sqrt(det G) / s,

with c the cosine of the first bond with x, s the length of the sum of the others, psi their turn about this sum, and
G = m J M^-1 J^T, which holds 2 and minus the products of bonds that share a bead.
"""

import numpy as np
import openmm as mm

import openmmconstraints as mc

BOND = 0.4  # nm
MASS = 20.0  # Da
WIDTH = 3.0  # of the box along y and z, over its edge along x


def log_z(edge: float) -> float:
    """ln Z(L) by the midpoint rule. The first bond's cosine begins where the sum of the others is their length."""
    pull = edge / BOND
    lowest = (pull**2 - 3) / (2 * pull)
    cosine = lowest + (1 - lowest) * (np.arange(2000) + 0.5) / 2000
    psi = 2 * np.pi * (np.arange(200) + 0.5) / 200
    first = np.stack([cosine, np.sqrt(1 - cosine**2), 0 * cosine], axis=-1)
    total = [pull, 0, 0] - first
    length = np.linalg.norm(total, axis=-1)
    across = np.cross(total / length[:, None], [0, 0, 1])  # a unit vector: total is in the plane of x and y
    side = np.sqrt(1 - length**2 / 4)[:, None, None] * (
        np.cos(psi)[:, None] * across[:, None] + np.sin(psi)[:, None] * np.array([0, 0, 1])
    )
    second, third = total[:, None] / 2 + side, total[:, None] / 2 - side
    ab, bc, ca = (
        np.sum(u * v, axis=-1) for u, v in ((first[:, None], second), (second, third), (third, first[:, None]))
    )
    determinant = 8 - 2 * ab * bc * ca - 2 * (ab**2 + bc**2 + ca**2)
    return np.log((1 - lowest) * np.mean(np.sqrt(determinant) / length[:, None]))


def pressure_along(edge: float, chains: int, kt: float) -> tuple[float, float]:
    """-(L/V) dA/dL of all chains, along x and across it (kJ/mol/nm^3)."""
    change = 1e-3
    slope = (log_z(edge * (1 + change)) - log_z(edge * (1 - change))) / (2 * change)
    ideal = chains * kt / (WIDTH**2 * edge**3)
    return ideal * (1 + slope), ideal


def build_chains(edge: float, chains: int, integrator: mm.Integrator, platform: mm.Platform) -> mm.Context:
    system, bonds = mm.System(), mc.ConstraintForce()
    system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, WIDTH * edge, 0], [0, 0, WIDTH * edge])
    bonds.setUsesPeriodicBoundaryConditions(True)
    positions = []
    radius = np.sqrt((BOND**2 - (edge / 3) ** 2) / 3)  # of a screw, on which all bonds make one angle with x
    for i in range(chains):
        turns = 2 * np.pi * (np.arange(3) / 3 + i / chains)
        for k, turn in enumerate(turns):
            system.addParticle(MASS)
            positions.append([k * edge / 3, 1 + radius * np.cos(turn), 1 + radius * np.sin(turn)])
            bonds.addDistance(3 * i + k, 3 * i + (k + 1) % 3, BOND)
    system.addForce(bonds)
    context = mm.Context(system, integrator, platform)
    context.setPositions(positions)
    return context
