# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints check`: files in, tables or JSON out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import openmm as mm
from openmm import unit

import openmmconstraints as mc
from openmmconstraints.health import Health
from openmmconstraints.health.findings import count_severities
from openmmconstraints.health.report import print_report
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.terminal.extra_particles import require_particles
from openmmconstraints.terminal.files import is_structure, load_structure, load_topology, load_xml
from openmmconstraints.terminal.options import check_step_size, check_tolerance
from openmmconstraints.terminal.table import make_console


@dataclass(frozen=True)
class Settings:
    """What the user asked for; None: the default."""

    system: Path
    state: Path | None
    topology: Path | None
    solver: str
    tolerance: float | None
    step_size: float | None  # fs
    precision: str
    strict: bool
    json: bool


def check(settings: Settings) -> int:
    """Print the report; returns the exit status: 0 no errors, 1 errors, or warnings where `strict`.

    :raises UserError: if a file cannot be read, or files do not belong together
    """
    system = load_xml(settings.system, mm.System)
    positions = topology = None
    if settings.state is not None and is_structure(settings.state):
        structure = load_structure(settings.state)
        positions, topology = structure.positions, structure.topology
        require_particles(system, len(positions), topology, settings.state)
        if structure.box is not None:
            system.setDefaultPeriodicBoxVectors(*structure.box)
    elif settings.state is not None:
        positions = load_xml(settings.state, mm.State)
    if settings.topology is not None:
        topology = load_topology(settings.topology)
        require_particles(system, topology.getNumAtoms(), topology, settings.topology)
    try:
        health = Health(
            system, positions, topology=topology, integrator=_integrator(settings), precision=settings.precision
        )
    except ValueError as error:
        raise UserError(str(error)) from error
    if settings.json:
        print(json.dumps(health.as_dict(), indent=1))
    else:
        print_report(make_console(), health, str(settings.system))
    counts = count_severities(health.findings)
    return int(counts["error"] > 0 or (settings.strict and counts["warning"] > 0))


def _integrator(settings: Settings) -> mc.ConstraintIntegrator:
    """The integrator to check; with a step size of 0, which no check refuses, if none was given."""
    if settings.step_size is not None:
        check_step_size(mc.RattleIntegrator, settings.step_size)
    integrator = mc.RattleIntegrator((settings.step_size or 0) * unit.femtosecond)
    integrator.setSolver(getattr(mc.ConstraintIntegrator, settings.solver))
    if settings.tolerance is not None:
        check_tolerance(mc.RattleIntegrator, settings.tolerance)
        integrator.setConstraintTolerance(settings.tolerance)
    return integrator
