# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The Systems that tests/compare_states.py runs, and which integrators each takes by itself.

Most are put together by the Assembly of tests/oclgrind, which has clusters of every size and every kind of constraint.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.villin import build_villin

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/oclgrind"))
sys.path.append(str(ROOT / "benchmarks"))

import systems  # noqa: E402
from bodies import build_chain  # noqa: E402
from cases import (  # noqa: E402
    BODY_PARTS,
    BORDER,
    GLOBAL_FACTORS,
    JOINED_SUBDOMAINS,
    SCHEMES,
    SOLVERS,
    SOME_SHARED,
    SUBDOMAINS,
    add_barostat,
    pull_apart,
)
from systems import Assembly  # noqa: E402

# PoCL and the emulator compile kernels for some ten seconds a run, so most systems run with few integrators.
ALL = tuple(SCHEMES)
FEW = ("Rattle", "RattleLangevin", "ConstraintForce")  # each stage, and noise
RATTLE, SHAKE, LANGEVIN = ("Rattle",), ("Shake",), ("RattleLangevin",)
MERGED = {"OPENMM_CONSTRAINTS_BORDER": "0"}
PARAMETER = "lambda"  # which the lengths of `moving` follow
Built = tuple[mm.System, np.ndarray]


def nothing(_: object) -> None:
    """Does nothing."""


@dataclass(frozen=True)
class Held:
    """How to make a System with its positions (nm), and what runs of it take."""

    build: Callable[[], Built]
    direct: tuple[str, ...] = RATTLE  # integrators that take this method, unless others are asked for
    iterative: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)  # while its Context exists
    change: Callable[[mm.Context], object] = nothing  # what changes after the first step
    is_for_blocks: bool = False  # whether others show the like where a device has no thread blocks
    has_pme: bool = False  # whose Fourier transforms the emulator lacks


# ---- with the Assembly -----------------------------------------------------------------------------------------------


def assembled(*builders: Callable[[Assembly], object], moves: bool = False) -> Built:
    """What these functions add, one after the other."""
    assembly = Assembly(moves)
    for build in builders:
        build(assembly)
    return assembly.system, np.array(assembly.positions)


def chain_with_angles(a: Assembly) -> None:
    p = a.chain(299)
    for i in range(298):
        a.angle(*p[i : i + 3])


def make_triclinic(a: Assembly) -> None:
    """Put all into a box, with one more chain whose particles are in other images than their neighbours."""
    box = np.array([[6, 0, 0], [0.4, 6, 0], [0.2, -0.6, 6]])
    a.system.setDefaultPeriodicBoxVectors(*box)
    p = a.chain(7)
    a.angle(*p[1:4])
    a.dihedral(*p[3:7])
    a.sum_of_distances(*p[5:8])
    for i in p:
        a.positions[i] = a.positions[i] + box[i % 3] * (i % 2)
    for force in a.forces:
        force.setUsesPeriodicBoundaryConditions(True)


def particle_on_a_sphere(a: Assembly) -> None:
    """An expression of absolute coordinates."""
    (particle,) = a.add([20], [[0, 0, 0]])
    force = mc.CustomConstraintForce(1, "sqrt(x1^2+y1^2+z1^2)-r")
    force.addPerConstraintParameter("r")
    force.addConstraint([particle], [float(np.linalg.norm(a.positions[particle]))])
    a.add_force(force)


def add_mesh(a: Assembly, edge: int = 12) -> None:
    """A square mesh, not quite flat."""
    flat = 0.15 * np.stack([*np.indices((edge, edge)), np.zeros((edge, edge))], axis=-1).reshape(-1, 3)
    p = a.add([12.0] * edge**2, flat + 0.01 * a.random.normal(size=flat.shape))
    for i in p:
        if i % edge > 0:
            a.distance(i - 1, i)
        if i >= edge:
            a.distance(i - edge, i)


def add_rigid_molecules(a: Assembly) -> None:
    """Benzene and carbon dioxide, held by all their distances, far more than are independent."""
    turn = np.arange(6) * np.pi / 3
    ring = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=-1)
    benzene = a.add([12.0] * 6 + [1.0] * 6, np.concatenate([0.1395 * ring, 0.2475 * ring]))
    dioxide = a.add([16, 12, 16], [[-0.1163, 0, 0], [0, 0, 0], [0.1163, 0, 0]])
    for molecule in (benzene, dioxide):
        for i, j in combinations(molecule, 2):
            a.distance(i, j)


def moving(a: Assembly) -> None:
    """Lengths that grow, one that follows a Context parameter, and a plane that rises."""
    p = a.chain(9)
    a.distance(p[0], p[2], 0.05)
    a.distance(p[6], p[8], -0.05)
    followed = mc.ConstraintForce()
    followed.addGlobalParameter(PARAMETER, 0)
    q = a.add([12, 14], [[0, 0, 0], [0.12, 0, 0]])
    followed.addDistance(*q, 0.12)
    followed.setDistanceInterpolation(0, PARAMETER, 0.13)
    a.add_force(followed)
    plane = mc.CustomConstraintForce(1, "z1-h-0.2*t")
    plane.addPerConstraintParameter("h")
    plane.addConstraint([p[4]], [float(a.positions[p[4]][2])])
    a.add_force(plane)


def far(a: Assembly) -> None:
    """A chain whose last particle is too far off to be projected in a step."""
    a.positions[a.chain(5)[-1]] += [0.2, 0.2, 0.1]


# ---- others ----------------------------------------------------------------------------------------------------------


def hinges() -> Built:
    """Ten bodies; springs between them bend the hinges."""
    system, positions = build_chain(10, 2)
    springs = mm.HarmonicBondForce()
    for i in range(0, len(positions) - 13, 5):
        springs.addBond(i, i + 13, 0.9 * float(np.linalg.norm(positions[i + 13] - positions[i])), 300)
    system.addForce(springs)
    return system, positions


def villin(constraints: str) -> Built:
    """In water, at the places of its file."""
    built = build_villin(constraints)
    return built.system, built.positions


def follow(context: mm.Context) -> None:
    context.setParameter(PARAMETER, 0.5)


def without_integrator(prepare: Callable[[Assembly, object], object]) -> Callable[[Assembly], object]:
    return lambda assembly: prepare(assembly, None)


HELD = {
    "small": Held(partial(assembled, systems.small), ALL, ("Rattle", "ConstraintForce")),
    "local": Held(partial(assembled, systems.local), SHAKE, RATTLE),
    "anchored": Held(partial(assembled, systems.anchored), LANGEVIN),
    "triclinic": Held(partial(assembled, systems.kinds, make_triclinic), ALL, ("Rattle", "RattleLangevin")),
    "one-cluster": Held(partial(assembled, systems.large, particle_on_a_sphere), ("Rattle", "ConstraintForce"), SHAKE),
    "chain": Held(partial(assembled, chain_with_angles), RATTLE, RATTLE),
    "mesh": Held(partial(assembled, add_mesh)),
    "redundant": Held(partial(assembled, systems.redundant, add_rigid_molecules), ("Rattle", "RattleLangevin")),
    "bodies": Held(partial(assembled, systems.bodies), FEW),
    "body-parts": Held(partial(assembled, systems.bodies), environment=BODY_PARTS),
    "hinges": Held(hinges, (*FEW, "Shake"), RATTLE),
    "border": Held(partial(assembled, systems.groups), (*FEW, "NoseHoover"), RATTLE, BORDER),
    "border-of-bodies": Held(
        partial(assembled, systems.groups_of_bodies), ("Rattle", "ConstraintForce"), environment=BORDER
    ),
    "merged": Held(partial(assembled, systems.groups), environment=MERGED),
    "moving": Held(partial(assembled, moving, moves=True), ("Rattle", "Shake", "NoseHoover"), change=follow),
    "barostat": Held(partial(assembled, systems.everything, without_integrator(add_barostat)), LANGEVIN),
    "far": Held(partial(assembled, far)),
    "failing": Held(
        partial(assembled, systems.small, without_integrator(pull_apart)), ("Rattle", "ConstraintForce"), RATTLE
    ),
    "subdomains": Held(partial(assembled, systems.large), FEW, environment=SUBDOMAINS, is_for_blocks=True),
    "joined-subdomains": Held(
        partial(assembled, systems.row_of_bodies), environment=JOINED_SUBDOMAINS, is_for_blocks=True
    ),
    "shared-subdomains": Held(
        partial(assembled, systems.branched), environment=SOME_SHARED | SUBDOMAINS, is_for_blocks=True
    ),
    "global-factors": Held(partial(assembled, systems.branched), environment=GLOBAL_FACTORS, is_for_blocks=True),
    "villin-HBonds": Held(partial(villin, "HBonds"), has_pme=True),
    "villin-AllBonds": Held(partial(villin, "AllBonds"), LANGEVIN, has_pme=True),
}


def usual(platform: str, is_emulated: bool) -> list[str]:
    """The systems that are run unless others are asked for."""
    has_blocks = platform == "CUDA"  # where OpenCL has them, its kernels have the same text
    return [
        name
        for name, held in HELD.items()
        if (has_blocks or not held.is_for_blocks) and not (is_emulated and held.has_pme)
    ]


__all__ = ["HELD", "SCHEMES", "SOLVERS", "Built", "Held", "usual"]
