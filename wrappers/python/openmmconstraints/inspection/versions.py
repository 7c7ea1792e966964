# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which versions are installed."""

import openmm as mm

from openmmconstraints import _build_info


def plugin_version() -> str:
    """Version of this package."""
    return _build_info.VERSION


def openmm_version() -> str:
    """Version of the OpenMM library that is loaded."""
    return mm.Platform.getOpenMMVersion()
