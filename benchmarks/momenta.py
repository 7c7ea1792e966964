# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How far momentum and angular momentum drift where a cluster is solved in overlapping subdomains, and in one piece, by
CUDA's kernels, on the emulator of tests/emulator.

    cmake --build build --target fakecuda emulatednvrtc
    python benchmarks/momenta.py --steps 1000000     # half an hour

A free chain without forces, at 300 K, with RattleIntegrator, which conserves both exactly at any tolerance but for
rounding. Its subdomains own eight bonds each. The momentum of the centre of mass is removed at the start. A line for
each number of steps: the change of momentum since the start, over the sum of all particles' absolute momenta, and the
same of angular momentum; the change of energy, over the energy; the largest relative error of a bond.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import openmm as mm
from emulator import start_on_emulator
from openmm import unit

import openmmconstraints as mc

ROOT = Path(__file__).resolve().parents[1]
BOND, ANGLE, MASS = 0.15, np.radians(111), 12.0  # nm, Da
STEP_SIZE = 0.002
OWN = 8  # bonds of a subdomain
CHUNK = 1000  # steps between looks at the clock


def chain(bonds: int) -> np.ndarray:
    """Positions of a chain with random dihedrals, nm."""
    random = np.random.default_rng(1)
    x = [np.zeros(3)]
    along = np.array([1.0, 0, 0])
    for _ in range(bonds):
        across = np.cross(along, random.normal(size=3))
        along = -np.cos(ANGLE) * along + np.sin(ANGLE) * across / np.linalg.norm(across)
        along /= np.linalg.norm(along)
        x.append(x[-1] + BOND * along)
    return np.array(x) - np.mean(x, axis=0)


def begin(bonds: int, precision: str, tolerance: float) -> mm.Context:
    """A Context on the emulator, with velocities on the constraints."""
    system = mm.System()
    for _ in range(bonds + 1):
        system.addParticle(MASS)
    force = mc.ConstraintForce()
    for i in range(bonds):
        force.addDistance(i, i + 1, BOND)
    system.addForce(force)
    integrator = mc.RattleIntegrator(STEP_SIZE)
    integrator.setConstraintTolerance(tolerance)
    integrator.setSolver(mc.ConstraintIntegrator.MatrixInversion)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CUDA"), {"Precision": precision})
    context.setPositions(chain(bonds))
    v = np.random.default_rng(2).normal(size=(bonds + 1, 3)) * np.sqrt(0.0083145 * 300 / MASS)
    context.setVelocities(v - v.mean(axis=0))
    integrator.step(1)
    return context


@dataclass
class Moments:
    """What is conserved, and the sizes of which it is the sum."""

    momentum: np.ndarray
    angular: np.ndarray
    energy: float
    sizes: tuple[float, float]
    error: float

    @staticmethod
    def of(context: mm.Context) -> Moments:
        """As it is now."""
        state = context.getState(positions=True, velocities=True)
        x = state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
        p = MASS * state.getVelocities(asNumpy=True).value_in_unit(unit.nanometer / unit.picosecond)
        angular = np.cross(x, p)
        lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
        return Moments(
            p.sum(axis=0),
            angular.sum(axis=0),
            float((p * p).sum() / 2 / MASS),
            (np.linalg.norm(p, axis=1).sum(), np.linalg.norm(angular, axis=1).sum()),
            float(np.abs(lengths / BOND - 1).max()),
        )

    def changes(self, first: Moments) -> list[float]:
        """Relative changes since then, and the error now."""
        return [
            float(np.linalg.norm(self.momentum - first.momentum) / first.sizes[0]),
            float(np.linalg.norm(self.angular - first.angular) / first.sizes[1]),
            self.energy / first.energy - 1,
            self.error,
        ]


def run(own: int, precision: str, options: argparse.Namespace) -> None:
    """Print the lines of one."""
    os.environ["OPENMM_CONSTRAINTS_PARTS"] = str(own)
    context = begin(options.bonds, precision, options.tolerance)
    integrator = context.getIntegrator()
    solver = integrator.getSolverSummary().solver
    if ("in overlapping subdomains" in solver) != (own > 0):
        raise SystemExit(f"solved otherwise: {solver}")
    first = Moments.of(context)
    start = time.monotonic()
    done, shown = 0, 1000
    while done < options.steps:
        chunk = min(CHUNK, options.steps - done)
        integrator.step(chunk)
        done += chunk
        seconds = time.monotonic() - start
        is_last = done == options.steps or seconds > options.seconds
        if done >= shown or is_last:
            shown *= 10
            cells = [f"{value:.1e}" for value in Moments.of(context).changes(first)]
            what = f"subdomains of {own}" if own else "one piece"
            print(f"| {precision} | {what} | {done} | {' | '.join(cells)} | {done / seconds:.0f} |", flush=True)
        if is_last:
            break


def main() -> int:
    """Start itself on the emulator, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="at most so long each")
    parser.add_argument("--bonds", type=int, default=24)
    parser.add_argument("--tolerance", type=float, default=1e-5)
    parser.add_argument("--precisions", nargs="*", default=["mixed", "double"])
    options = parser.parse_args()
    # The fewer threads, the faster.
    status = start_on_emulator(options.build, "momenta", FAKECUDA_MULTIPROCESSORS="4", FAKECUDA_BLOCK="16")
    if status is not None:
        return status
    print("| precision | solved in | steps | momentum | angular momentum | energy | bond error | steps/s |")
    print("|---|---|---|---|---|---|---|---|")
    for precision in options.precisions:
        for own in (OWN, 0):
            run(own, precision, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
