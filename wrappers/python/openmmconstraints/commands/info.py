# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints info`: versions, platforms, and the clusters of a System's constraints."""

from __future__ import annotations

import re
from pathlib import Path

import openmm as mm
from rich.console import Console
from rich.text import Text

import openmmconstraints as mc
from openmmconstraints import _build_info
from openmmconstraints._openmm import describe_foreign_platforms
from openmmconstraints.inspection.cuda import DRIVER, CudaVersions, find_versions
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.inspection.platforms import devices, found_platforms, supports_plugin
from openmmconstraints.inspection.system import count_degrees_of_freedom
from openmmconstraints.inspection.versions import openmm_version, plugin_version
from openmmconstraints.terminal.clusters import cluster_table
from openmmconstraints.terminal.files import load_xml
from openmmconstraints.terminal.table import make_console


def info(system_file: Path | None, solver: str) -> int:
    """Print the report; returns the exit status."""
    system = None if system_file is None else load_xml(system_file, mm.System)
    console = make_console()
    print_installation(console)
    if system is not None:
        print_clusters(console, system, str(system_file), solver)
    return 0


def print_installation(console: Console) -> None:
    """Versions, a line for each platform, what failed to load."""
    built = f"OpenMM {_build_info.OPENMM_VERSION}, {_build_info.COMPILER}, SWIG {_build_info.SWIG_VERSION}"
    _print_line(console, "openmm-constraints", plugin_version())
    _print_line(console, "OpenMM", openmm_version())
    _print_line(console, "built with", f"{built}, {_build_info.BUILD_TYPE or 'no build type'}")
    cuda = find_versions()
    found = found_platforms()
    for name in dict.fromkeys([*found, *_build_info.PLATFORMS]):
        _print_line(console, name, _describe_platform(name, found.get(name), cuda))
    if cuda is not None and cuda.problem is not None:
        console.print(Text(cuda.problem, style="bold red"), soft_wrap=True)  # so that its command can be copied
    for line in describe_foreign_platforms():
        console.print(Text(line, style="bold red"))
    failures = [f for f in mm.Platform.getPluginLoadFailures() if not _lacks_driver_only(f, cuda)]
    if failures:
        console.print("Libraries that OpenMM could not load:")
    for failure in failures:
        console.print(Text(f"  {failure.strip()}", style="bold red" if _is_broken(failure) else ""), soft_wrap=True)
        if _is_broken(failure):
            console.print(Text("  ^ this one is a library of openmm-constraints", style="bold red"))


def _print_line(console: Console, name: str, text: str) -> None:
    console.print(f"{name:18} {text}", soft_wrap=True)


def _is_broken(failure: str) -> bool:
    """Whether a library of ours is not loaded although OpenMM has its platform."""
    return any(f"libOpenMMConstraints{name}." in failure for name in found_platforms())


def _lacks_driver_only(failure: str, cuda: CudaVersions | None) -> bool:
    """Whether a library is not loaded because there is no NVIDIA driver, which the platform's line says."""
    missing = rf"({re.escape(DRIVER)}|libOpenMMCUDA\.so): cannot open shared object file"
    return cuda is not None and cuda.driver is None and re.search(missing, failure) is not None


def _describe_platform(name: str, platform: mm.Platform | None, cuda: CudaVersions | None) -> str:
    """Whether integrators work there, on which devices, and why not."""
    if name != "CUDA" or cuda is None:
        return _describe_support(name, platform)
    refused = platform is not None and cuda.problem is not None
    if platform is None and cuda.driver is None and _build_info.PLATFORMS.get(name) is None:
        return cuda.summary
    return f"{cuda.summary}: {'does not work' if refused else _describe_support(name, platform)}"


def _describe_support(name: str, platform: mm.Platform | None) -> str:
    if platform is not None and supports_plugin(platform):
        found = _devices(platform)
        return "works" if not found else f"works on {found}"
    reason = _build_info.PLATFORMS.get(name)
    if reason is not None:
        return f"does not work, not built: {reason}"
    if platform is None:
        return f"does not work: built, not loaded: OpenMM could not load its {name} platform, or has none"
    return f"does not work: {'built, but could not be loaded' if name in _build_info.PLATFORMS else 'has no library'}"


def _devices(platform: mm.Platform) -> str:
    """Names of the devices, for platforms that have them."""
    if "DeviceName" not in platform.getPropertyNames():
        return ""
    try:
        return ", ".join(device["DeviceName"] for device in devices(platform)) or "no device"
    except mm.OpenMMException as error:  # a broken driver
        return f"no device: {error}"


def print_clusters(console: Console, system: mm.System, name: str, solver: str) -> None:
    """The clusters of the System's constraints, their solvers, and the degrees of freedom."""
    integrator = mc.RattleIntegrator(0.001)
    integrator.setSolver(getattr(mc.ConstraintIntegrator, solver))
    try:
        clusters = integrator.getClusters(system)
    except mm.OpenMMException as error:
        if not mc.Health(system, integrator=integrator).ok:
            raise UserError(f"the constraints of '{name}' cannot be used: {error}") from error
        clusters = None
    if clusters is not None:
        console.print(cluster_table(f"Clusters of constraints in {name} (solver: {solver})", clusters))
    for cluster in clusters or ():
        if cluster.note:
            console.print(f"{cluster.constraints:,} constraints in a cluster: {cluster.note}", style="bold")
    console.print(f"particles:                {system.getNumParticles():,}")
    console.print(f"constraints:              {system.getNumConstraints():,} in the System")
    if clusters is None:
        console.print("degrees of freedom:       depend on the positions: see openmm-constraints check", soft_wrap=True)
        return
    console.print(f"independent constraints:  {sum(c.count * c.constraints for c in clusters):,}")
    console.print(f"degrees of freedom:       {count_degrees_of_freedom(system, clusters):,}")
