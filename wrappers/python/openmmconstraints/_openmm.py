# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The OpenMM that is installed: its version has to fit, and it gets the platform libraries of this package."""

import os
import re
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import openmm

from openmmconstraints import _build_info

#: Beside OpenMM's own plugins where OpenMM is a wheel in the same site-packages.
FOLDER = Path(__file__).resolve().parent.parent / "OpenMM.libs" / "lib" / "plugins"
PREFIX = "libOpenMMConstraints"  # and the platform's name
GPU_PACKAGES = ("openmm-cuda-12", "openmm-cuda-13", "openmm-hip-6", "openmm-hip-7")


def require_version():
    """Check that OpenMM is of the series (8.6, say) that this package was compiled against: its C++ interface may be
    another one in another series.

    Raises
    ------
    ImportError
        if it is of another series
    """
    built_for, found = _build_info.OPENMM_VERSION, openmm.Platform.getOpenMMVersion()
    series = _series(built_for)
    if _series(found) != series:
        raise ImportError(
            f"openmm-constraints {_build_info.VERSION} was built for OpenMM {built_for}, but OpenMM {found} is "
            f"installed in {Path(openmm.__file__).parent}. To keep this OpenMM, type: pip install openmm-constraints "
            f'"openmm=={_series(found)}.*". Or, to keep this openmm-constraints: pip install "openmm=={series}.*"'
        )


def _series(version):
    return ".".join(version.split(".")[:2])


def describe_foreign_platforms() -> list[str]:
    """A line for each package with a GPU platform of OpenMM that is not of OpenMM's version. pip leaves it behind where
    OpenMM is replaced without naming the platform's extra; then OpenMM cannot load the platform, or crashes in it."""
    lines = []
    for name in GPU_PACKAGES:
        try:
            found, wanted = version(name), version("openmm")
        except PackageNotFoundError:
            continue
        if found != wanted:
            extra = re.sub("openmm-|-", "", name)
            lines.append(
                f"{name} {found} is installed beside OpenMM {wanted}, which needs the same version of it. "
                f'Type: pip install "openmm[{extra}]=={wanted}"'
            )
    return lines


def load_plugins():
    """Load the platform libraries of this package that `import openmm` did not load. OpenMM loads libraries from one
    folder only; where it comes from conda, or where OPENMM_PLUGIN_DIR is set, that is not the folder of ours. Libraries
    for platforms that OpenMM does not have here (CUDA without a driver, for example) are not loaded.

    Raises
    ------
    openmm.OpenMMException
        if a library cannot be loaded
    """
    loaded = {os.path.realpath(name) for name in openmm.pluginLoadedLibNames}
    platforms = {openmm.Platform.getPlatform(i).getName() for i in range(openmm.Platform.getNumPlatforms())}
    for library in sorted(FOLDER.glob(f"{PREFIX}*")):
        name = library.name.removeprefix(PREFIX).split(".")[0]
        if name in platforms and os.path.realpath(library) not in loaded:
            openmm.Platform.loadPluginLibrary(str(library))


require_version()  # before any module of this package uses names that only this series of OpenMM has
for line in describe_foreign_platforms():
    warnings.warn(line, stacklevel=2)
