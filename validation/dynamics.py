# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Langevin dynamics at constant temperature: integrators, Contexts and sampling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
import openmm as mm
from openmm import unit
from rich.console import Console
from rich.progress import track

import openmmconstraints as mc
from openmmconstraints.inspection.energy import BOLTZMANN

TEMPERATURE = 300.0  # K
KT = BOLTZMANN * TEMPERATURE
#: Number of geodesic steps of RattleLangevinIntegrator; 0 is LangevinMiddle.
METHODS = {"LangevinMiddle": 0, "g-BAOAB": 1}
PROGRESS = Console(stderr=True)


@dataclass
class Case:
    """A System whose constraints all are in this plugin's Forces, and how to run it."""

    name: str
    system: mm.System
    positions: np.ndarray  #: [numParticles, 3] nm
    degrees_of_freedom: int  #: expected, counted by hand
    step_size: float  #: ps
    friction: float = 20.0  #: 1/ps; the kinetic energy relaxes in 1/(2 friction)
    platform: str = "Reference"
    classes: dict[str, list[int]] = field(default_factory=dict)  #: particles by class

    @property
    def masses(self) -> np.ndarray:
        """[numParticles] u"""
        return np.array([self.system.getParticleMass(i)._value for i in range(self.system.getNumParticles())])


def seed_of(*words: object) -> int:
    """A seed that differs between runs and is the same whenever a run is repeated.

    It is made of names: a Case with another name gives other samples.
    """
    return crc32(repr(words).encode()) % 2**31 + 1


def geodesic_steps(method: str) -> int:
    """The number of geodesic steps of "LangevinMiddle", "g-BAOAB" or "g-BAOAB, K=4"."""
    return METHODS[method] if method in METHODS else int(method.rpartition("=")[2])


def langevin(case: Case, method: str, temperature: float = TEMPERATURE, step_size: float | None = None):
    """The integrator of a method."""
    integrator = mc.RattleLangevinIntegrator(temperature, case.friction, step_size or case.step_size)
    integrator.setNumGeodesicSteps(geodesic_steps(method))
    integrator.setConstraintTolerance(1e-8)
    integrator.setRandomNumberSeed(seed_of(case.name, method, temperature, integrator.getStepSize()._value))
    return integrator


def make_context(case: Case, integrator: mm.Integrator) -> mm.Context:
    """A Context with the positions of a case and velocities at TEMPERATURE, both projected onto the constraints."""
    platform = mm.Platform.getPlatform(case.platform)
    properties = {"CPU": {"Threads": "1"}, "OpenCL": {"Precision": "mixed"}}.get(case.platform, {})
    context = mm.Context(case.system, integrator, platform, properties)
    context.setPositions(case.positions)
    integrator.applyConstraints()
    context.setVelocitiesToTemperature(TEMPERATURE, seed_of(case.name))
    integrator.applyVelocityConstraints()
    return context


def sampled(context: mm.Context, label: str, count: int, interval: int, equilibration: int) -> Iterator[int]:
    """Equilibrates, then yields count times, once every interval steps."""
    integrator = context.getIntegrator()
    integrator.step(equilibration)
    for index in track(range(count), description=label, console=PROGRESS, transient=True):
        integrator.step(interval)
        yield index


def positions(context: mm.Context) -> np.ndarray:
    """[numParticles, 3] nm"""
    return np.array(context.getState(positions=True).getPositions(asNumpy=True)._value)


def velocities(context: mm.Context) -> np.ndarray:
    """[numParticles, 3] nm/ps, tangent to the constraints."""
    context.getIntegrator().applyVelocityConstraints()  # LangevinMiddle projects them in its next step only
    return np.array(context.getState(velocities=True).getVelocities(asNumpy=True)._value)


def energies(context: mm.Context) -> tuple[float, float]:
    """Potential and kinetic energy (kJ/mol)."""
    state = context.getState(energy=True)
    kJ = unit.kilojoule_per_mole
    return state.getPotentialEnergy().value_in_unit(kJ), state.getKineticEnergy().value_in_unit(kJ)
