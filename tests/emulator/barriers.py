# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The barriers and fences in our kernel texts, and a text without one of them: for the mutants.py here and in
../oclgrind.

The host makes several functions of one text, where a marker stands for a stage, a solve or a kind of subdomains. Their
barriers share a name, with ANY for the marker: solve_ANY:1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

KERNELS = Path(__file__).parents[2] / "platforms" / "common"
WAIT = re.compile(r"\b(?:(?:SYNC_THREADS|THREAD_GROUP_SYNC|GRID_FENCE)\b|WAIT_FOR_SUBDOMAINS\(c\))")
ANY = "ANY"
HOST = ("subdomain_ANY:1", "subdomain_ANY:2")  # in text that the host writes, also as clusterOfSubdomains_ANY
FUNCTION = re.compile(r"^(?:DEVICE|KERNEL|PART_OF_KERNEL)\b[^;{]*?\b(\w+)\(", re.MULTILINE)


def barriers(text: str) -> Iterator[tuple[str, int, int]]:
    """A name, as worstOfBlock:2 for the second in that function, and where it begins and ends. Definitions of macros
    have none."""
    functions = [(match.start(), match[1]) for match in FUNCTION.finditer(text)]
    counts: Counter[str] = Counter()
    for match in WAIT.finditer(text):
        begin = text.rfind("\n", 0, match.start()) + 1
        line = text[begin : match.start()]
        is_of_macro = text[max(0, begin - 2) : begin] == "\\\n"
        before = [name for start, name in functions if start < match.start()]
        if before and not is_of_macro and not line.lstrip().startswith(("#", "//", "*", "/*")):
            counts[before[-1]] += 1
            yield f"{before[-1]}:{counts[before[-1]]}", match.start(), match.end()


def names() -> list[str]:
    """Of all barriers. A text with $PLACE$ is compiled for shared and for global memory, each of which counts."""
    found = [*HOST]
    for path in sorted(KERNELS.glob("*/*.cc")):
        text = re.sub(r"\$(?:STAGE|SOLVE|KIND)\$", ANY, path.read_text())
        for place in ("Shared", "Global") if "$PLACE$" in text else ("",):
            found += [name for name, _, _ in barriers(text.replace("$PLACE$", place))]
    return found


def noting(text: str) -> str:
    """The text in which threads that come to a barrier say its name, once: REACHED(name)."""
    for found, start, end in reversed(list(barriers(text))):
        text = f'{text[:start]}{{ REACHED("{found}") {text[start:end]} }}{text[end:]}'
    return text


def has_name(barrier: str, name: str) -> bool:
    """Whether a barrier of a text is of those that share a name."""
    pattern = re.escape(name).replace(ANY, r"\w+").replace("subdomain_", "(?:subdomain|clusterOfSubdomains)_")
    return re.fullmatch(pattern, barrier) is not None


def without(text: str, name: str) -> str:
    """The text without the barriers of this name."""
    for found, start, end in reversed(list(barriers(text))):
        if has_name(found, name):
            text = text[:start] + text[end:]
    return text
