# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How busy other programs kept the machine while something was timed."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

QUIET = 0.2  # cores that other programs may use
_STAT = Path("/proc/stat")


class OtherPrograms:
    """Measures from its creation on."""

    def __init__(self) -> None:
        self._begin, self._busy, self._own = perf_counter(), _busy_seconds(), _own_seconds()

    def cores(self) -> float | None:
        """How many cores, on average, other programs or machines used; None where that is not known (no Linux)."""
        busy = _busy_seconds()
        if busy is None or self._busy is None:
            return None
        others = (busy - self._busy) - (_own_seconds() - self._own)
        return max(0.0, others / (perf_counter() - self._begin))


def warning(cores: float | None, of_what: str = "times") -> str | None:
    """A sentence where other programs were busy."""
    if cores is None or cores <= QUIET:
        return None
    return f"Other programs used {cores:.1f} cores meanwhile: do not rely on {of_what}, nor on their ratios."


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _busy_seconds() -> float | None:
    """Of all cores, since the machine started; time that another virtual machine took counts."""
    try:
        words = _STAT.read_text(encoding="utf-8").split("\n", 1)[0].split()
    except OSError:
        return None
    user, nice, system, _idle, _wait, interrupt, soft, stolen = map(int, words[1:9])
    return (user + nice + system + interrupt + soft + stolen) / os.sysconf("SC_CLK_TCK")
