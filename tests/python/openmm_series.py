# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The one condition on which tests are skipped: the OpenMM in use is of an older series than what they are about."""

import openmm as mm
import pytest

SERIES = tuple(int(number) for number in mm.Platform.getOpenMMVersion().split(".")[:2])


def since(series, what):
    """Mark a test of what OpenMM has since a series ("8.6")."""
    wanted = tuple(int(number) for number in series.split("."))
    return pytest.mark.skipif(wanted > SERIES, reason=f"OpenMM has {what} since {series}")
