# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The OpenMM that is installed: its version has to fit, and it gets the platform libraries of this package."""

import os
from pathlib import Path

import openmm

from openmmconstraints import _build_info

#: Beside OpenMM's own plugins where OpenMM is a wheel in the same site-packages.
FOLDER = Path(__file__).resolve().parent.parent / "OpenMM.libs" / "lib" / "plugins"
PREFIX = "libOpenMMConstraints"  # and the platform's name


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
            f'installed in {Path(openmm.__file__).parent}. Type: pip install "openmm=={series}.*"'
        )


def _series(version):
    return ".".join(version.split(".")[:2])


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
