# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A user's own System, from files: with the constraints that it has."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.benchmark.model import Chosen, NamedSystem
from openmmconstraints.benchmark.villin import STEP_SIZE
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.listing import Listing
from openmmconstraints.terminal.extra_particles import require_particles
from openmmconstraints.terminal.files import is_structure, load_structure, load_xml

SET = "own"  # what its set of constraints is called
MINIMIZER_ITERATIONS = 50  # of positions that no simulation has left
#: What changes the state besides the integrators that are compared.
_DISTURBING = ("Barostat", "Thermostat", "CMMotionRemover")


class OwnSystem:
    """A Model of one System: it has one set of constraints."""

    is_relaxed = True

    def __init__(self, system: mm.System, positions: np.ndarray) -> None:
        self.system, self.positions = system, positions

    def create(self, constraints: str | None) -> mm.System:
        """A copy of the System. Without its constraints it cannot be made: what they replace is not known."""
        if constraints != SET:
            raise ValueError(f"create: there is one set of constraints, {SET!r}, not {constraints!r}")
        return copy.deepcopy(self.system)


def read_own(system_file: Path | None, state_file: Path | None) -> Chosen:
    """The System of one file, from the positions of another.

    :raises UserError: if one of both is missing, cannot be read or does not fit, or if there are no constraints
    """
    if system_file is None:
        raise UserError("--state is for --system: give the file of the System, too.")
    if state_file is None:
        raise UserError("--system needs --state: a State written by openmm.XmlSerializer, or a file of positions.")
    system = load_xml(system_file, mm.System)
    listing = Listing(system)
    if len(listing.kind) == 0:
        raise UserError(f"'{system_file}' has no constraints: there is nothing to be compared.")
    positions = _start(system, state_file)
    for f in reversed(range(system.getNumForces())):
        if any(word in type(system.getForce(f)).__name__ for word in _DISTURBING):
            system.removeForce(f)
    name = Path(system_file.name.removesuffix(".gz")).stem
    model = OwnSystem(system, positions)
    if is_structure(state_file):
        model.positions = _minimized(system, positions, name)
    return Chosen(NamedSystem(name, "", (SET,), lambda: model), None)


def _start(system: mm.System, path: Path) -> np.ndarray:
    """Positions [numParticles, 3] (nm); the System gets the box that belongs to them."""
    if is_structure(path):
        structure = load_structure(path)
        positions, topology, box = structure.positions, structure.topology, structure.box
    else:
        state, topology = load_xml(path, mm.State), None
        if not state.getDataTypes() & mm.State.Positions:
            raise UserError(f"'{path}' has no positions: write a State taken with getState(positions=True).")
        positions, box = state.getPositions(asNumpy=True), state.getPeriodicBoxVectors()
    require_particles(system, len(positions), topology, path)
    if box is not None and system.usesPeriodicBoundaryConditions():
        system.setDefaultPeriodicBoxVectors(*box)
    return np.array(positions.value_in_unit(unit.nanometer))


def _minimized(system: mm.System, positions: np.ndarray, name: str) -> np.ndarray:
    """Positions that no simulation has left may have bad contacts."""
    context = mm.Context(system, mc.RattleIntegrator(STEP_SIZE), mm.Platform.getPlatform("CPU"))
    context.setPositions(positions)
    try:
        mc.minimize(context, maxIterations=MINIMIZER_ITERATIONS)
    except mm.OpenMMException as error:
        raise UserError(f"{name} cannot be started: {error}") from error
    return np.array(context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer))
