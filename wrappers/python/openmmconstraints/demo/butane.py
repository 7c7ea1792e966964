# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The mean force on butane's dihedral, held at a series of values, beside the exact one.

United atoms in vacuum: only the torsion's energy depends on the dihedral, so the mean force is its derivative, with
rigid bonds too. Torsion: TraPPE, Martin, Siepmann, J. Phys. Chem. B 102, 2569 (1998), doi 10.1021/jp972543+.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.freeenergy import Dihedral, MeanForceProfile, pull, run_window
from openmmconstraints.inspection.energy import BOLTZMANN

TORSION = {
    1: (335.03, 0.0),
    2: (-68.19, np.pi),
    3: (791.32, 0.0),
}  # n: K_n (in k), phase of K_n (1 + cos(n phi - phase))
BOND, ANGLE, BENDING = 0.154, np.radians(114.0), 62500.0  # nm, rad, in k/rad^2
START = [[0.0, 0.14, -0.06], [0.0, 0.0, 0.0], [BOND, 0.0, 0.0], [BOND, -0.14, 0.06]]  # near the first window, trans
TEMPERATURE, FRICTION, STEP_SIZE = 300.0, 5.0, 0.004  # K, 1/ps, ps
WINDOWS = 19
SEED = 3


def butane() -> mm.System:
    """CH3-CH2-CH2-CH3 with rigid bonds."""
    system, bending, torsion = mm.System(), mm.HarmonicAngleForce(), mm.PeriodicTorsionForce()
    for mass in (15.035, 14.027, 14.027, 15.035):
        system.addParticle(mass)
    for i in range(3):
        system.addConstraint(i, i + 1, BOND)
    for i in range(2):
        bending.addAngle(i, i + 1, i + 2, ANGLE, BENDING * BOLTZMANN)
    for periodicity, (height, phase) in TORSION.items():
        torsion.addTorsion(0, 1, 2, 3, periodicity, phase, height * BOLTZMANN)
    system.addForce(bending)
    system.addForce(torsion)
    return system


def exact_mean_force(dihedral: np.ndarray) -> np.ndarray:
    """dA/dphi (kJ/mol/rad) at dihedrals (rad)."""
    terms = [-n * height * np.sin(n * dihedral - phase) for n, (height, phase) in TORSION.items()]
    return BOLTZMANN * np.sum(terms, axis=0)


@dataclass(frozen=True)
class MeanForces:
    """What was measured, with the exact values."""

    profile: MeanForceProfile
    exact: np.ndarray  # [windows] kJ/mol/rad

    @property
    def within(self) -> int:
        """How many windows agree with the exact value within two standard errors."""
        return int(np.sum(np.abs(self.profile.mean_force - self.exact) <= 2 * self.profile.error))


def measure_mean_force(advance: Callable[[int], None], windows: int = WINDOWS, steps: int = 10_000) -> MeanForces:
    """Drag the dihedral through its values, then run at each; on the Reference platform."""
    coordinate = Dihedral(0, 1, 2, 3)
    values = np.linspace(-np.pi, np.pi, windows)
    integrator = mc.RattleLangevinIntegrator(TEMPERATURE, FRICTION, STEP_SIZE)
    starts = pull(butane, START, coordinate, values, integrator, 1000, seed=SEED, platform="Reference", progress=False)
    done = []
    for number, (value, start) in enumerate(zip(values, starts, strict=True)):
        done.append(
            run_window(
                butane, start, coordinate, value, integrator, steps, equilibration=steps // 10, seed=SEED + number,
                platform="Reference",
            )
        )  # fmt: skip
        advance(1)
    return MeanForces(MeanForceProfile(coordinate, TEMPERATURE, tuple(done)), exact_mean_force(values))
