# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Starts as `benchmarks/gpu.py --prepare` writes them, with four waters in the place of DHFR."""

from pathlib import Path

import numpy as np
import openmm as mm

WATER = np.array([[0, 0, 0], [0.09572, 0, 0], [-0.024, 0.0927, 0]])  # nm


def write_waters(folder: Path, molecules: int = 4) -> Path:
    """A file for each set of constraints, all alike."""
    system, force = mm.System(), mm.NonbondedForce()
    for molecule in range(molecules):
        for mass in (15.999, 1.008, 1.008):
            system.addParticle(mass)
            force.addParticle(0, 0.3, 0.1 if mass > 2 else 0)
        first = 3 * molecule
        for i, j in ((0, 1), (0, 2), (1, 2)):
            system.addConstraint(first + i, first + j, float(np.linalg.norm(WATER[i] - WATER[j])))
            force.addException(first + i, first + j, 0, 1, 0)
    system.addForce(force)
    positions = np.concatenate([WATER + np.array([0, 0, molecule]) for molecule in range(molecules)])
    velocities = np.repeat(np.random.default_rng(1).normal(0, 0.3, (molecules, 3)), 3, axis=0)
    start = {"positions": positions, "velocities": velocities, "half_step_velocities": velocities}
    text = np.frombuffer(mm.XmlSerializer.serialize(system).encode(), dtype=np.uint8)
    folder.mkdir(exist_ok=True)
    for constraints in ("HBonds", "AllBonds", "HAngles"):
        np.savez(folder / f"dhfr-{constraints}.npz", system=text, **start)
    return folder
