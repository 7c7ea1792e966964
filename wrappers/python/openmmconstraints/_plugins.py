# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Where the platform libraries of this package lie, and loading them."""

import os
from pathlib import Path

import openmm

#: Beside OpenMM's own plugins where OpenMM is a wheel in the same site-packages.
FOLDER = Path(__file__).resolve().parent.parent / "OpenMM.libs" / "lib" / "plugins"
PREFIX = "libOpenMMConstraints"  # and the platform's name


def load():
    """Load our platform libraries, unless `import openmm` did so: it looks in one folder only, which is another one
    where OpenMM comes from conda or from OPENMM_PLUGIN_DIR. A library for a platform that OpenMM does not have here
    (CUDA without a driver, say) is left alone: it could not be loaded, nor be of use.

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
