# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Fenced code blocks of the Markdown pages, for tests that run them and compare the output."""

import re

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(text, language):
    """The blocks of one language."""
    return [block for found, block in FENCE.findall(text) if found == language]


def examples(text):
    """(python block, what is shown as its output) for each python block: None if no text block follows directly."""
    fences = list(FENCE.finditer(text))
    for fence, following in zip(fences, [*fences[1:], None], strict=True):
        if fence[1] == "python":
            shown = following and following[1] == "text" and not text[fence.end() : following.start()].strip()
            yield fence[2], following[2] if shown else None


def numbers_rounded(text):
    """A text with single spaces and numbers to three decimals, to compare shown with printed output."""
    return re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda match: f"{float(match[0]):.3f}", " ".join(text.split()))
