# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Scripts of a user, for `openmm-constraints run`."""

from __future__ import annotations

import textwrap
from pathlib import Path

import platforms

SYSTEM = f"""
import sys
import openmm as mm
from openmm import unit

PLATFORM, PROPERTIES = mm.Platform.getPlatform("{platforms.NAME}"), {platforms.PROPERTIES}


def make_system():
    system = mm.System()
    angles = mm.HarmonicAngleForce()
    for i in range(5):
        system.addParticle(12.0)
        if i > 0:
            system.addConstraint(i - 1, i, 0.15)
        if i > 1:
            angles.addAngle(i - 2, i - 1, i, 1.9, 400.0)
    system.addForce(angles)
    return system


POSITIONS = [mm.Vec3(0.12 * i, 0.09 * (i % 2), 0.0) for i in range(5)]


def make_context(integrator):
    context = mm.Context(make_system(), integrator, PLATFORM, PROPERTIES)
    context.setPositions(POSITIONS)
    context.setVelocitiesToTemperature(300, 1)
    return context
"""


def sentences(stderr: str) -> list[str]:
    """What `openmm-constraints run` says besides its table."""
    return [line for line in stderr.splitlines() if line.startswith("openmm-constraints run: ")]


def writer_in(folder: Path):
    """A function that writes a user's script to a folder, with a module of its own beside it, and returns its path."""
    (folder / "chain.py").write_text(SYSTEM)

    def write(text: str) -> Path:
        path = folder / "simulate.py"
        path.write_text(textwrap.dedent(text))
        return path

    return write
