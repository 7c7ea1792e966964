# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How set-up, step time and memory grow with the number of constraints.

    python benchmarks/scale.py
    python benchmarks/scale.py --platform OpenCL --precision mixed --systems chain --sizes 10000 1000000

A System without forces is set up in a process of its own, with its constraints and once more without: the difference is
this plugin's share. The first step makes a device's arrays and compiles kernels, unless these are in a cache: run this
twice.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from time import perf_counter

import numpy as np
import openmm as mm
from rich.progress import track

import openmmconstraints as mc
from openmmconstraints.inspection.platforms import choose_platform
from openmmconstraints.terminal.table import make_console, make_table

STEP_SIZE = 0.001  # ps


@dataclass
class RepeatUnit:
    """A group of particles and constraints of which a System consists, many times over."""

    masses: list[float]
    positions: np.ndarray  # [particles, 3] nm, within a copy
    bonds: list[tuple[int, int]]  # within a copy; larger indices are particles of the next copy
    shift: tuple[float, float, float]  # nm, from copy to copy
    angles: list[tuple[int, int, int]] = field(default_factory=list)

    @property
    def tuples(self) -> list[tuple[int, ...]]:
        """Particles of each constraint; their number tells its kind."""
        return [*self.bonds, *self.angles]


_ANGLE = np.deg2rad(104.52)
_WATER = 0.09572 * np.array([[0, 0, 0], [1, 0, 0], [np.cos(_ANGLE), np.sin(_ANGLE), 0]])
_ZIGZAG = np.array([[0, 0, 0], [0.125, 0.09, 0]])
_BENT = np.array([[0, 0, 0], [0.1, 0.1, 0], [0.2, 0.1, 0.1], [0.3, 0, 0.1]])
_HYDROGENS = np.array([[[0, -0.06, 0.09], [0, -0.06, -0.09]], [[0, 0.06, 0.09], [0, 0.06, -0.09]]])
_METHYLENES = np.concatenate([np.vstack([c, c + h]) for c, h in zip(_ZIGZAG, _HYDROGENS, strict=True)])

REPEAT_UNITS = {
    # One cluster, whose matrix is tridiagonal.
    "chain": RepeatUnit([12, 12], _ZIGZAG, [(0, 1), (1, 2)], (0.25, 0, 0)),
    # A chain that is bent at every particle, with its angles held.
    "angles": RepeatUnit(
        [12] * 4, _BENT, [(i, i + 1) for i in range(4)], (0.4, 0, 0), [(i, i + 1, i + 2) for i in range(4)]
    ),
    # All distances of 50 particles: 144 of 1,225 are independent.
    "clique": RepeatUnit(
        [12] * 50, np.random.default_rng(1).uniform(size=(50, 3)), list(combinations(range(50), 2)), (2, 0, 0)
    ),
    # Polyethylene, all bonds: one cluster, a tree.
    "polymer": RepeatUnit([12, 1, 1] * 2, _METHYLENES, [(0, 1), (0, 2), (0, 3), (3, 4), (3, 5), (3, 6)], (0.25, 0, 0)),
    # Rigid water: clusters of three.
    "water": RepeatUnit([16, 1, 1], _WATER, [(0, 1), (0, 2), (1, 2)], (0.31, 0, 0)),
}


@dataclass
class Measurement:
    """Time and memory of one System."""

    constraints: int
    context: float  # s
    first: float  # s, velocities and the first step, less the time of a step: projections, a device's arrays
    step: float  # s
    resident: int  # bytes of the process after the steps
    peak: int  # bytes, at most


def measured(x: np.ndarray) -> np.ndarray:
    """Distances or angles of two or three particles: x is of shape [constraints, particles, 3]."""
    bonds = x[:, 1:] - x[:, :-1]
    if bonds.shape[1] == 1:
        return np.linalg.norm(bonds[:, 0], axis=1)
    sine = np.linalg.norm(np.cross(bonds[:, 0], bonds[:, 1]), axis=1)
    return np.arctan2(sine, -(bonds[:, 0] * bonds[:, 1]).sum(axis=1))


def build(name: str, constraints: int, with_constraints: bool) -> tuple[mm.System, np.ndarray]:
    """A System of about so many constraints in a ConstraintForce, and its positions (nm)."""
    unit = REPEAT_UNITS[name]
    copies = max(1, round(constraints / len(unit.tuples)))
    size = len(unit.masses)
    positions = (unit.positions + np.arange(copies)[:, None, None] * unit.shift).reshape(-1, 3)
    system = mm.System()
    for _ in range(copies):
        for mass in unit.masses:
            system.addParticle(mass)
    force = mc.ConstraintForce()
    add = {2: force.addDistance, 3: force.addAngle}
    columns = []
    for within in unit.tuples if with_constraints else ():
        particles = np.array(within) + size * np.arange(copies)[:, None]
        particles = particles[particles.max(axis=1) < len(positions)]
        columns.append((add[len(within)], particles.tolist(), measured(positions[particles]).tolist()))
    for copy in range(copies):
        for add_constraint, particles, values in columns:
            if copy < len(values):
                add_constraint(*particles[copy], values[copy])
    system.addForce(force)
    return system, positions


def measure(name: str, constraints: int, with_constraints: bool, platform: str, precision: str) -> Measurement:
    """Set up a System and take some steps, in a fresh process."""
    system, positions = build(name, constraints, with_constraints)
    properties = {"Precision": precision} if platform in ("OpenCL", "CUDA") else {}
    integrator = mc.RattleIntegrator(STEP_SIZE)
    start = perf_counter()
    context = mm.Context(system, integrator, mm.Platform.getPlatform(platform), properties)
    creation = perf_counter() - start
    context.setPositions(positions)
    start = perf_counter()
    context.setVelocitiesToTemperature(10, 1)  # at 300 K one of a million angles changed too much in a step
    integrator.step(1)
    context.getState()
    first = perf_counter() - start
    count = max(3, 100_000 // constraints)
    times = []
    for _ in range(3):
        start = perf_counter()
        integrator.step(count)
        context.getState()
        times.append((perf_counter() - start) / count)
    force = mc.ConstraintForce.cast(system.getForce(0))
    count = force.getNumDistances() + force.getNumAngles()
    return Measurement(count, creation, first - min(times), min(times), *memory())


def memory() -> tuple[int, int]:
    """Resident memory of this process (bytes): now, and at most."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return tuple(1024 * int(fields[name].split()[0]) for name in ("VmRSS", "VmHWM"))


def in_fresh_process(function: Callable[..., Measurement], *arguments) -> Measurement:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--platform", default="Reference")
    parser.add_argument("--precision", default="mixed", help="of OpenCL and CUDA")
    parser.add_argument("--systems", nargs="+", choices=REPEAT_UNITS, default=list(REPEAT_UNITS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[10_000, 100_000, 1_000_000], help="constraints")
    arguments = parser.parse_args()
    platform = choose_platform(arguments.platform).getName()
    table = make_table(
        f"RattleIntegrator on {platform}{f', {arguments.precision}' if platform in ('OpenCL', 'CUDA') else ''}",
        ["System"],
        [
            "Constraints",
            "Context, s",
            "ours, s",
            "First step, s",
            "ours, s",
            "Step, ms",
            "ours, ms",
            "B resident",
            "B peak",
        ],
        caption="ours: less the time of the System without constraints. B: bytes per constraint, likewise.",
    )
    cases = [(name, size) for name in arguments.systems for size in arguments.sizes]
    for name, size in track(cases, "Measuring", transient=True):
        ours, theirs = (
            in_fresh_process(measure, name, size, constrained, platform, arguments.precision)
            for constrained in (True, False)
        )
        table.add_row(
            name,
            f"{ours.constraints:,}",
            f"{ours.context:.2f}",
            f"{ours.context - theirs.context:.2f}",
            f"{ours.first:.2f}",
            f"{ours.first - theirs.first:.2f}",
            f"{1e3 * ours.step:.1f}",
            f"{1e3 * (ours.step - theirs.step):.1f}",
            f"{(ours.resident - theirs.resident) / ours.constraints:,.0f}",
            f"{(ours.peak - theirs.peak) / ours.constraints:,.0f}",
        )
    make_console().print(table)


if __name__ == "__main__":
    main()
