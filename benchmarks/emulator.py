# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Lets a benchmark run the kernels of CUDA on the emulator of tests/emulator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def environment(build: Path, cache: Path, **variables: str) -> dict[str, str]:
    """For a process whose CUDA is the stand-ins.

    :param build: where the targets fakecuda and emulatednvrtc are built
    :param cache: the folder of compiled kernels
    """
    tests = build.resolve() / "tests"
    folders = [str(tests / "emulator/nvrtc"), str(tests / "calls/fakecuda"), os.environ.get("LD_LIBRARY_PATH", "")]
    return {
        **os.environ,
        "LD_LIBRARY_PATH": ":".join(filter(None, folders)),
        **dict.fromkeys(("EMULATOR_CACHE", "OPENMM_CACHE_DIR", "TMPDIR"), str(cache)),
        **variables,
    }


def start_on_emulator(build: Path, name: str, **variables: str) -> int | None:
    """Run this program again with the stand-ins for CUDA's libraries; None: it runs so already.

    :param build: see environment(); compiled kernels are kept in its folder `name`
    :param variables: for its environment
    :returns: its exit status
    """
    if "EMULATOR_CACHE" in os.environ:
        return None
    cache = build.resolve() / name
    cache.mkdir(exist_ok=True)
    # g++ 12 vectorizes at -O2, and positions in mixed precision lose digits.
    own = environment(build, cache, **{"EMULATOR_FLAGS": "-O1", **variables})
    return subprocess.run([sys.executable, *sys.argv], env=own, check=False).returncode
