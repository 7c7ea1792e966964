# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Where the platform libraries of this package lie, and loading them."""

import os
from pathlib import Path

import openmm

#: Beside OpenMM's own plugins where OpenMM is a wheel in the same site-packages.
FOLDER = Path(__file__).resolve().parent.parent / "OpenMM.libs" / "lib" / "plugins"


def load():
    """Load our platform libraries, unless `import openmm` did so: it looks in one folder only, which is another one
    where OpenMM comes from conda or from OPENMM_PLUGIN_DIR.

    Raises
    ------
    openmm.OpenMMException
        if a library cannot be loaded
    """
    loaded = {os.path.realpath(name) for name in openmm.pluginLoadedLibNames}
    for library in sorted(FOLDER.glob("libOpenMMConstraints*")):
        if os.path.realpath(library) not in loaded:
            openmm.Platform.loadPluginLibrary(str(library))
