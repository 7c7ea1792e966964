# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a user waits for at a first step: devices compile their kernels then."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

COMPILING = ("OpenCL", "CUDA")
SECONDS = 2.0  # after which something is said


@contextmanager
def saying_if_compiling(platform: str) -> Iterator[None]:
    """Say on stderr that kernels are compiled, if what is done first on this platform takes long."""
    text = f"{platform} compiles kernels, once for each kind of System ..."
    timer = Timer(SECONDS, lambda: print(text, file=sys.stderr, flush=True))
    timer.daemon = True
    if platform in COMPILING:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
