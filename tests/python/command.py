# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How the tests of the command line run it: in a process of its own, as a user does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def command(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run `openmm-constraints arguments` and return its exit status and output."""
    words = [sys.executable, "-m", "openmmconstraints", *map(str, arguments)]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False, timeout=300)


def assert_one_sentence(result: subprocess.CompletedProcess[str], *words: str) -> None:
    """The command refused a user's mistake: exit status 2, one line on stderr with these words, and no traceback."""
    assert result.returncode == 2, result
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    for word in words:
        assert word in result.stderr
