# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints info`: versions, platforms, and the clusters of a System's constraints."""

from __future__ import annotations

from pathlib import Path

import openmm as mm
from rich.console import Console
from rich.text import Text

import openmmconstraints as mc
from openmmconstraints import _build_info
from openmmconstraints._openmm import describe_foreign_platforms
from openmmconstraints.commands.files import load_xml
from openmmconstraints.inspection.cuda import CudaVersions, find_versions
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.platforms import devices, found_platforms, supports_plugin
from openmmconstraints.inspection.system import count_degrees_of_freedom
from openmmconstraints.inspection.versions import openmm_version, plugin_version
from openmmconstraints.terminal.clusters import cluster_table
from openmmconstraints.terminal.table import make_console, make_table


def info(system_file: Path | None, solver: str) -> int:
    """Print the report; returns the exit status."""
    system = None if system_file is None else load_xml(system_file, mm.System)
    console = make_console()
    print_installation(console)
    if system is not None:
        print_clusters(console, system, str(system_file), solver)
    return 0


def print_installation(console: Console) -> None:
    """Versions, platforms, what was not built and why, what failed to load."""
    console.print(f"openmm-constraints {plugin_version()}")
    console.print(f"OpenMM             {openmm_version()}")
    console.print(
        f"built with         OpenMM {_build_info.OPENMM_VERSION}, {_build_info.COMPILER}, "
        f"SWIG {_build_info.SWIG_VERSION}, {_build_info.BUILD_TYPE or 'no build type'}"
    )
    cuda = find_versions()
    if cuda is not None:
        console.print(f"CUDA               {cuda.summary}")
    console.print(_platform_table(cuda))
    if cuda is not None and cuda.problem is not None:
        console.print(Text(cuda.problem, style="bold red"), soft_wrap=True)  # so that its command can be copied
    for line in describe_foreign_platforms():
        console.print(Text(line, style="bold red"))
    failures = list(mm.Platform.getPluginLoadFailures())
    if failures:
        console.print("Libraries that OpenMM could not load:")
    for failure in failures:
        console.print(Text(f"  {failure.strip()}", style="bold red" if _is_broken(failure) else ""))
        if _is_broken(failure):
            console.print(Text("  ^ this one is a library of openmm-constraints", style="bold red"))


def _is_broken(failure: str) -> bool:
    """Whether a library of ours is not loaded although OpenMM has its platform."""
    return any(f"libOpenMMConstraints{name}." in failure for name in found_platforms())


def _platform_table(cuda: CudaVersions | None):
    columns = ["Platform", "OpenMM has it", "Devices", "Library of this plugin", "Integrators work"]
    table = make_table("Platforms", columns, [])
    found = found_platforms()
    for name in dict.fromkeys([*found, *_build_info.PLATFORMS]):
        platform = found.get(name)
        table.add_row(
            name,
            "no" if platform is None else "yes",
            "-" if platform is None else _devices(platform),
            _library(name, platform),
            "yes" if platform is not None and supports_plugin(platform) and not _is_refused(name, cuda) else "no",
        )
    return table


def _is_refused(name: str, cuda: CudaVersions | None) -> bool:
    """Whether the driver accepts no kernel."""
    return name == "CUDA" and cuda is not None and cuda.problem is not None


def _devices(platform: mm.Platform) -> str:
    """Names of the devices, for platforms that have them."""
    if "DeviceName" not in platform.getPropertyNames():
        return "-"
    try:
        return ", ".join(device["DeviceName"] for device in devices(platform)) or "none"
    except mm.OpenMMException as error:  # a broken driver
        return str(error)


def _library(name: str, platform: mm.Platform | None) -> str:
    """Whether the library for a platform was built and loaded."""
    if name not in _build_info.PLATFORMS:
        return "that of Reference" if name == "CPU" else "none"
    reason = _build_info.PLATFORMS[name]
    if reason is not None:
        return f"not built: {reason}"
    if platform is None:
        return f"built, not loaded: OpenMM could not load its {name} platform, or has none"
    return "loaded" if supports_plugin(platform) else "built, but could not be loaded"


def print_clusters(console: Console, system: mm.System, name: str, solver: str) -> None:
    """The clusters of the System's constraints, their solvers, and the degrees of freedom."""
    integrator = mc.RattleIntegrator(0.001)
    integrator.setSolver(getattr(mc.ConstraintIntegrator, solver))
    try:
        clusters = integrator.getClusters(system)
    except mm.OpenMMException as error:
        raise UserError(f"the constraints of '{name}' cannot be used: {error}") from error
    console.print(cluster_table(f"Clusters of constraints in {name} (solver: {solver})", clusters))
    for cluster in clusters:
        if cluster.note:
            console.print(f"{cluster.constraints:,} constraints in a cluster: {cluster.note}", style="bold")
    console.print(f"particles:                {system.getNumParticles():,}")
    console.print(f"constraints:              {system.getNumConstraints():,} in the System")
    console.print(f"independent constraints:  {sum(c.count * c.constraints for c in clusters):,}")
    at_least = "at least " if any(c.rigidBodies and c.equations for c in clusters) else ""  # positions decide
    console.print(f"degrees of freedom:       {at_least}{count_degrees_of_freedom(system, clusters):,}")
