# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Libraries that OpenMM could not load: which messages another line of `info` says in its own words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from openmmconstraints.inspection.cuda import DRIVER, CudaVersions

#: OpenMM found a driver's library, and no device: of CUDA, and of OpenCL, also where no driver is registered.
_NO_DEVICE = re.compile(r"CUDA_ERROR_NO_DEVICE|clGetPlatformIDs|\(-1001\)|No compatible \w+ (device|platform)")


def missing_library(platform: str, failures: Sequence[str]) -> str | None:
    """What OpenMM's library of a platform lacks; None: nothing, or that is not why it was not loaded."""
    pattern = rf"libOpenMM{re.escape(platform)}\.\w+: ([^\s:]+): cannot open shared object file"
    found = (re.search(pattern, failure) for failure in failures)
    return next((match[1] for match in found if match is not None), None)


def is_explained(failure: str, lacking: Collection[str], foreign: Collection[str]) -> bool:
    """Whether another line says why a library was not loaded.

    :param lacking: libraries that are said to be missing, and those that are not loaded for this reason
    :param foreign: platforms whose package is said to be of another version
    """
    missing = re.search(r"([^\s:]+): cannot open shared object file", failure)
    of_another = any(re.search(rf"libOpenMM\w*{re.escape(name)}\.\w+", failure) for name in foreign)
    return of_another or (missing is not None and missing[1] in lacking)


def lacking_for_cuda(cuda: CudaVersions | None) -> set[str]:
    """Libraries whose lack the line of the CUDA platform, or the remedy below, tells."""
    if cuda is None or (cuda.driver is not None and cuda.nvrtc is not None):
        return set()
    said = {DRIVER} if cuda.driver is None else set()
    said |= {cuda.library} if cuda.nvrtc is None else set()
    return said | {"libOpenMMCUDA.so"}


def why_no_device(error: Exception) -> str:
    """The cause in a few words, or else the message."""
    text = str(error)
    return "no device" if _NO_DEVICE.search(text) else f"no device: {text}"
