# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Versions that a run on a GPU depends on. Exits with 1 and a remedy where the driver is too old for NVRTC."""

import platform
import sys

from openmmconstraints.inspection.cuda import find_versions
from openmmconstraints.inspection.versions import openmm_version, plugin_version

cuda = find_versions()
print(f"openmm-constraints {plugin_version()}, OpenMM {openmm_version()}, Python {platform.python_version()}")
if cuda is None:
    sys.exit("error: OpenMM's CUDA platform is not installed. Remedy: pip install openmm[cuda13], or openmm[cuda12]")
print(f"{cuda.summary} ({cuda.path})")
if cuda.problem is not None:
    sys.exit(f"error: {cuda.problem}")
