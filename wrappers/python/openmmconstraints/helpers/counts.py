# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Numbers of things in summaries."""

from __future__ import annotations


def count_of(number: int, noun: str, nouns: str | None = None) -> str:
    """1 atom, 1,000 atoms"""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
