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
from openmmconstraints.commands.failures import is_explained, lacking_for_cuda, missing_library, why_no_device
from openmmconstraints.inspection.cuda import CudaVersions, find_versions
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
    failures = mm.Platform.getPluginLoadFailures()
    found = found_platforms()
    lacking = lacking_for_cuda(cuda)
    for name in dict.fromkeys([*found, *_build_info.PLATFORMS]):
        missing = None if name in found or (lacking and name == "CUDA") else missing_library(name, failures)
        if missing is not None:
            lacking |= {missing, f"libOpenMM{name}.so"}
        _print_line(console, name, _describe_platform(name, found.get(name), cuda, missing))
    if cuda is not None and cuda.problem is not None:
        console.print(Text(cuda.problem, style="bold red"), soft_wrap=True)  # so that its command can be copied
    foreign = describe_foreign_platforms()
    for line in foreign:
        console.print(Text(line, style="bold red"))
    others = {name for name in ("CUDA", "HIP") if any(line.startswith(f"openmm-{name.lower()}") for line in foreign)}
    failures = [f for f in failures if _is_broken(f) or not is_explained(f, lacking, others)]
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


def _describe_platform(
    name: str, platform: mm.Platform | None, cuda: CudaVersions | None, missing: str | None = None
) -> str:
    """Whether integrators work there, on which devices, and why not.

    :param missing: a library that OpenMM's platform lacks
    """
    if name != "CUDA" or cuda is None:
        return _describe_support(name, platform, missing)
    is_built = _build_info.PLATFORMS.get(name) is None
    if platform is None and cuda.driver is None and is_built:
        return cuda.summary
    refused = cuda.problem is not None and is_built  # the line below says why
    return f"{cuda.summary}: {'does not work' if refused else _describe_support(name, platform, missing)}"


def _describe_support(name: str, platform: mm.Platform | None, missing: str | None) -> str:
    if platform is not None and supports_plugin(platform):
        return _describe_devices(platform)
    reason = _build_info.PLATFORMS.get(name)
    if reason is not None:
        return f"does not work, not built: {reason}"
    if platform is None and missing is not None:
        return f"does not work: OpenMM's {name} platform needs {missing}, which is not installed"
    if platform is None:
        return f"does not work: built, not loaded: OpenMM could not load its {name} platform, or has none"
    return f"does not work: {'built, but could not be loaded' if name in _build_info.PLATFORMS else 'has no library'}"


def _describe_devices(platform: mm.Platform) -> str:
    """Names of the devices, for platforms that have them."""
    if "DeviceName" not in platform.getPropertyNames():
        return "works"
    try:
        names = ", ".join(device["DeviceName"] for device in devices(platform))
    except mm.OpenMMException as error:  # a broken driver
        return f"does not work: {why_no_device(error)}"
    return f"works on {names}" if names else "does not work: no device"


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
