# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Particles that slide without friction on surfaces sigma(r) = 0: seven expressions to copy.

A weak spring to the origin keeps them near it. The constraint forces do no work, so the energy is conserved.

python examples/surfaces.py [plot.png]
"""

import sys
from itertools import permutations, product

import matplotlib.pyplot as plt
import numpy as np
import openmm as mm
import openmm.unit as u
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import openmmconstraints as mc

SURFACES = {  # name: (expression, parameters, initial position, which is projected onto the surface)
    "sphere": ("x1^2 + y1^2 + z1^2 - r^2", {"r": 0.5}, (0.3, 0.3, 0.2)),
    "plane": ("nx*x1 + ny*y1 + nz*z1 - d", {"nx": 0.6, "ny": 0.0, "nz": 0.8, "d": 0.1}, (0, 0, 0)),
    "cylinder": ("x1^2 + y1^2 - r^2", {"r": 0.4}, (0.4, 0, -0.5)),
    "paraboloid": ("z1 - a*(x1^2 + y1^2)", {"a": 1.0}, (0.4, 0.1, 0.2)),
    "ellipsoid": ("(x1/a)^2 + (y1/b)^2 + (z1/c)^2 - 1", {"a": 0.7, "b": 0.5, "c": 0.3}, (0.4, 0.2, 0.2)),
    "torus": ("(sqrt(x1^2 + y1^2) - R)^2 + z1^2 - r^2", {"R": 0.5, "r": 0.2}, (0.65, 0, 0.1)),
    "gyroid": ("sin(k*x1)*cos(k*y1) + sin(k*y1)*cos(k*z1) + sin(k*z1)*cos(k*x1)", {"k": 2 * np.pi}, (0.2, 0.1, 0.0)),
}


def slide(expression: str, parameters: dict[str, float], start) -> tuple[np.ndarray, float]:
    """The particle's path, and the largest deviation of its energy (kJ/mol)."""
    system = mm.System()
    system.addParticle(20)
    surface = mc.CustomConstraintForce(1, expression)
    for name in parameters:
        surface.addPerConstraintParameter(name)
    surface.addConstraint([0], list(parameters.values()))
    system.addForce(surface)
    spring = mm.CustomExternalForce("20*(x^2 + y^2 + 1.1*z^2)")
    spring.addParticle(0)
    system.addForce(spring)
    integrator = mc.RattleIntegrator(1 * u.femtosecond)
    integrator.setConstraintTolerance(1e-10)  # nm: |sigma|/|grad sigma|
    integrator.setMaxProjection(0.3)  # nm: starts are beside the surface
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("Reference"))
    context.setPositions([start])
    integrator.applyConstraints()
    context.setVelocities([[0.5, 1.0, 0.7]])
    integrator.applyVelocityConstraints()
    path, energies = [], []
    for _ in range(2500):
        state = context.getState(positions=True, energy=True)
        path.append(state.getPositions(asNumpy=True).value_in_unit(u.nanometer)[0])
        energies.append((state.getKineticEnergy() + state.getPotentialEnergy()).value_in_unit(u.kilojoule_per_mole))
        integrator.step(5)
    return np.array(path), np.max(np.abs(np.array(energies) - energies[0]))


def triangles(expression: str, parameters: dict[str, float], path: np.ndarray, cells: int = 24) -> np.ndarray:
    """The surface around a path, by marching tetrahedra: where sigma changes its sign along an edge of a cell."""
    half = np.ptp(path, axis=0).max() / 2 + 0.1
    lines = [
        np.linspace(middle - half, middle + half, cells + 1) for middle in (path.min(axis=0) + path.max(axis=0)) / 2
    ]
    points = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
    python = expression.replace("^", "**")
    names = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, **parameters}
    sigma = eval(python, names, dict(zip(("x1", "y1", "z1"), np.moveaxis(points, -1, 0), strict=True)))
    found = []
    for order in permutations(range(3)):  # six tetrahedra fill a cell: each walks along its axes in another order
        steps = [np.sum(np.eye(3, dtype=int)[list(order[:n])], axis=0) for n in range(4)]
        corner = [tuple(slice(k, k + cells) for k in step) for step in steps]
        x = np.stack([points[c] for c in corner], axis=-2).reshape(-1, 4, 3)
        s = np.stack([sigma[c] for c in corner], axis=-1).reshape(-1, 4)
        for signs in product((False, True), repeat=4):
            inside = [n for n in range(4) if signs[n]]
            outside = [n for n in range(4) if not signs[n]]
            edges = [(i, o) for i in inside for o in outside]
            here = np.all((s < 0) == signs, axis=1)
            cut = [
                x[here, i] + (s[here, i] / (s[here, i] - s[here, o]))[:, None] * (x[here, o] - x[here, i])
                for i, o in edges
            ]
            found += [np.stack([cut[n] for n in three], axis=1) for three in ((0, 1, 2), (1, 2, 3))[: len(cut) - 2]]
    return np.concatenate([part for part in found if len(part)])


figure = plt.figure(figsize=(13, 8))
figure.subplots_adjust(left=0.01, right=0.95, bottom=0.06, top=0.9, wspace=0.25, hspace=0.35)
for i, (name, (expression, parameters, start)) in enumerate(SURFACES.items()):
    path, deviation = slide(expression, parameters, start)
    print(f"{name:10s} {expression:68s} energy within {deviation:.0e} kJ/mol")
    axes = figure.add_subplot(2, 4, i + 1, projection="3d")
    axes.add_collection3d(
        Poly3DCollection(triangles(expression, parameters, path), facecolor="0.75", alpha=0.35, edgecolor="none")
    )
    axes.plot(*path.T, color="#0072B2", linewidth=0.8)
    axes.plot(*path[0], "o", color="#D55E00", markersize=5)
    axes.set_aspect("equal")
    axes.set(xlabel="x (nm)", ylabel="y (nm)", zlabel="z (nm)", title=name)
    axes.locator_params(nbins=4)
    axes.tick_params(labelsize=7)
figure.suptitle("12.5 ps on a surface σ(r) = 0, from the dot")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "surfaces.png", dpi=110)
