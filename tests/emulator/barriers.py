# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The barriers and fences in a kernel text, and the text without one of them: for the mutants.py here and in
../oclgrind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

WAIT = re.compile(r"\b(?:(?:SYNC_THREADS|THREAD_GROUP_SYNC|GRID_FENCE)\b|WAIT_FOR_PARTS\(c\))")
ANY = "ANY"  # in a name: of every stage, solve or kind of parts that the host compiles a text for
FUNCTION = re.compile(r"^(?:DEVICE|KERNEL)\b[^;{]*?\b(\w+)\(", re.MULTILINE)


def barriers(text: str) -> Iterator[tuple[str, int, int]]:
    """A name, as worstOfBlock:2 for the second in that function, and where it begins and ends. Definitions of macros
    have none."""
    functions = [(match.start(), match[1]) for match in FUNCTION.finditer(text)]
    counts: Counter[str] = Counter()
    for match in WAIT.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        before = [name for start, name in functions if start < match.start()]
        if before and not line.lstrip().startswith(("#", "//", "*", "/*")):
            counts[before[-1]] += 1
            yield f"{before[-1]}:{counts[before[-1]]}", match.start(), match.end()


def without(text: str, name: str) -> str:
    """The text without the barrier of this name, wherever it has one."""
    pattern = re.compile(re.escape(name).replace(ANY, r"\w+"))
    for found, start, end in reversed(list(barriers(text))):
        if pattern.fullmatch(found):
            text = text[:start] + text[end:]
    return text
