# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The platforms of OpenMM that this package's integrators can use."""

from __future__ import annotations

from types import NoneType
from typing import TypeAlias

import openmm as mm

from openmmconstraints.inspection.errors import UserError

#: A platform, as users give it: its name, or itself.
PlatformSource: TypeAlias = str | mm.Platform

#: Of RattleIntegrator; a platform has the kernels of all integrators or of none.
KERNEL = "IntegrateRattleStep"


class PlatformError(UserError, ValueError):
    """A platform that is not there, or does not work."""


def found_platforms() -> dict[str, mm.Platform]:
    """All platforms that OpenMM has loaded, by name."""
    return {p.getName(): p for p in map(mm.Platform.getPlatform, range(mm.Platform.getNumPlatforms()))}


def supports_plugin(platform: mm.Platform) -> bool:
    """Whether this plugin's integrators run there."""
    return platform.supportsKernels([KERNEL])


def choose_platform(given: PlatformSource | None) -> mm.Platform:
    """The platform that is given, itself or by its name; None: the fastest that works.

    :raises TypeError: if it is anything else
    :raises PlatformError: if there is none, or it does not work
    """
    usable = {key: platform for key, platform in found_platforms().items() if supports_plugin(platform)}
    name = given.getName() if isinstance(given, mm.Platform) else given
    if not isinstance(name, (str, NoneType)):
        raise TypeError(
            f'platform is a name such as "CPU", or itself, as openmm.Platform.getPlatform("CPU"), not {given!r}.'
        )
    if name is not None and name not in usable:
        raise PlatformError(f"platform '{name}' is not available here; choose from {', '.join(usable) or 'none'}.")
    if name is None:
        candidates = sorted(usable.values(), key=_speed, reverse=True)
    else:
        candidates = [given if isinstance(given, mm.Platform) else usable[name]]
    failures = []
    for platform in candidates:
        try:
            try_platform(platform)
        except mm.OpenMMException as error:
            failures.append(f"{platform.getName()}: {error}")
            continue
        return platform
    raise PlatformError(f"no platform works here ({'; '.join(failures) or 'none supports this plugin'}).")


def _speed(platform: mm.Platform) -> float:
    """OpenMM's estimate. OpenCL on a CPU is slower than the CPU platform, whatever OpenMM estimates."""
    return 0.5 if runs_on_pocl(platform) else platform.getSpeed()


def runs_on_pocl(platform: mm.Platform) -> bool:
    """Whether a platform's device is a CPU that PoCL (Portable Computing Language) makes an OpenCL device of."""
    if platform.getName() != "OpenCL":
        return False
    try:
        found = devices(platform)
    except mm.OpenMMException:  # there is none, or its driver is broken
        return False
    return bool(found) and found[0].get("OpenCLPlatformName") == "Portable Computing Language"


def devices(platform: mm.Platform) -> list[dict[str, str]]:
    """Properties of a platform's devices. OpenMM 8.4 cannot list them: there, of the one that it takes by itself."""
    if hasattr(platform, "getDevices"):
        return [dict(device) for device in platform.getDevices()]
    context = try_platform(platform)
    return [{name: platform.getPropertyValue(context, name) for name in platform.getPropertyNames()}]


def try_platform(platform: mm.Platform) -> mm.Context:
    """Create a Context of one particle: a GPU platform may be installed where there is no GPU."""
    system = mm.System()
    system.addParticle(1.0)
    return mm.Context(system, mm.VerletIntegrator(0.001), platform)
