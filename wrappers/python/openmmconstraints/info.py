# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints info`: what is installed, what works, and what a System's constraints look like."""

from __future__ import annotations

from pathlib import Path

import openmm as mm
from rich.console import Console
from rich.text import Text

import openmmconstraints as mc
from openmmconstraints import _build_info
from openmmconstraints.errors import UserError
from openmmconstraints.platforms import found_platforms, supports_plugin
from openmmconstraints.system import count_degrees_of_freedom
from openmmconstraints.table import make_console, make_table
from openmmconstraints.versions import openmm_version, plugin_version


def info(system_file: Path | None, solver: str) -> int:
    """Print the report; returns the exit status."""
    system = None if system_file is None else load_system(system_file)
    console = make_console()
    print_installation(console)
    if system is not None:
        print_clusters(console, system, str(system_file), solver)
    return 0


def load_system(path: Path) -> mm.System:
    """Read a System that openmm.XmlSerializer wrote.

    :raises UserError: if the file cannot be read or holds something else
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise UserError(f"cannot read '{path}': {reason}.") from error
    try:
        system = mm.XmlSerializer.deserialize(text)
    except (mm.OpenMMException, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or "it is not XML"
        raise UserError(f"'{path}' is not a System written by openmm.XmlSerializer: {reason}.") from error
    if not isinstance(system, mm.System):
        raise UserError(f"'{path}' holds a {type(system).__name__}, not a System.")
    return system


def print_installation(console: Console) -> None:
    """Versions, platforms, what was not built and why, what failed to load."""
    console.print(f"openmm-constraints {plugin_version()}")
    console.print(f"OpenMM             {openmm_version()}")
    console.print(
        f"built with         OpenMM {_build_info.OPENMM_VERSION}, {_build_info.COMPILER}, "
        f"SWIG {_build_info.SWIG_VERSION}, {_build_info.BUILD_TYPE or 'no build type'}"
    )
    console.print(_platform_table())
    failures = list(mm.Platform.getPluginLoadFailures())
    if failures:
        console.print("Libraries that OpenMM could not load:")
    for failure in failures:
        ours = "OpenMMConstraints" in failure
        console.print(Text(f"  {failure.strip()}", style="bold red" if ours else ""))
        if ours:
            console.print(Text("  ^ this one is a library of openmm-constraints", style="bold red"))


def _platform_table():
    table = make_table("Platforms", ["Platform", "OpenMM has it", "Library of this plugin", "Integrators work"], [])
    found = found_platforms()
    for name in dict.fromkeys([*found, *_build_info.PLATFORMS]):
        if name not in _build_info.PLATFORMS:
            library = "that of Reference" if name == "CPU" else "none"
        else:
            reason = _build_info.PLATFORMS[name]
            library = "built" if reason is None else f"not built: {reason}"
        works = name in found and supports_plugin(found[name])
        table.add_row(name, "yes" if name in found else "no", library, "yes" if works else "no")
    return table


def print_clusters(console: Console, system: mm.System, name: str, solver: str) -> None:
    """Which clusters the System's constraints form, what serves them, and the degrees of freedom."""
    integrator = mc.RattleIntegrator(0.001)
    integrator.setSolver(getattr(mc.ConstraintIntegrator, solver))
    try:
        clusters = integrator.getClusters(system)
    except mm.OpenMMException as error:
        raise UserError(f"the constraints of '{name}' cannot be used: {error}") from error
    table = make_table(
        f"Clusters of constraints in {name} (solver: {solver})",
        ["Solver"],
        ["Clusters", "Constraints each", "Particles each", "Levels", "Factor entries"],
        caption="Levels: depth of the elimination tree. Factor entries: off-diagonal, fill included.",
    )
    for cluster in clusters:
        numbers = (cluster.count, cluster.constraints, cluster.particles, cluster.levels, cluster.factorEntries)
        table.add_row(cluster.solver, *(f"{number:,}" for number in numbers))
    console.print(table)
    console.print(f"particles:                {system.getNumParticles():,}")
    console.print(f"constraints:              {system.getNumConstraints():,} in the System")
    console.print(f"independent constraints:  {sum(c.count * c.constraints for c in clusters):,}")
    console.print(f"degrees of freedom:       {count_degrees_of_freedom(system, clusters):,}")
