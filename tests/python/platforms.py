# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The platform that tests with the marker `platform` run on, and its rounding errors.

CONSTRAINTS_TEST_PLATFORM names it ("Reference" without it), CONSTRAINTS_TEST_PRECISION its precision: "single", "mixed"
or "double". Tests that start programs or processes pass NAME and PROPERTIES to them.
"""

from __future__ import annotations

import os

import openmm as mm
import pytest

NAME = os.environ.get("CONSTRAINTS_TEST_PLATFORM", "Reference")
PRECISION = os.environ.get("CONSTRAINTS_TEST_PRECISION", "double")
IS_REFERENCE = NAME == "Reference"
# Averages are taken over so many times fewer steps on devices, which are slow for few particles; standard errors are
# sqrt(5) times larger then, and their estimates scatter more.
FEWER, LARGER = (1, 1) if IS_REFERENCE else (5, 3)
PROPERTIES = {} if IS_REFERENCE else {"Precision": PRECISION}
if NAME == "CUDA":
    PROPERTIES["DeterministicForces"] = "true"

#: Where both hosts are tested: these, and the device under test.
HOSTS = ("Reference", "CPU")
EVERYWHERE = [*HOSTS, *([] if NAME in HOSTS else [pytest.param(NAME, marks=pytest.mark.platform)])]


def named(name: str) -> mm.Platform:
    """A platform of EVERYWHERE."""
    return under_test() if name == NAME else mm.Platform.getPlatform(name)


def under_test() -> mm.Platform:
    """The platform; sets its precision as the default of new Contexts."""
    platform = mm.Platform.getPlatform(NAME)
    for name, value in PROPERTIES.items():
        platform.setPropertyDefaultValue(name, value)
    return platform


def bound(
    reference: float, *, double: float | None = None, mixed: float | None = None, single: float | None = None
) -> float:
    """The error bound of a result on the platform under test; where not given, that of the next better precision.

    Double precision: OpenMM adds forces as fixed-point numbers of 2^-32 kJ/mol/nm (2e-10).
    Mixed: forces and energies are computed in float (relative 1e-5), positions and velocities are as in double.
    Single: floats also hold velocities (1e-7, relative) and positions (1e-7 nm at 1 nm, so 1e-6 of a bond), and
    tolerances below 1e-6 count as 1e-6.
    """
    allowed = reference
    for name, value in (("double", double), ("mixed", mixed), ("single", single)):
        if IS_REFERENCE:
            break
        allowed = allowed if value is None else value
        if name == PRECISION:
            break
    return allowed
