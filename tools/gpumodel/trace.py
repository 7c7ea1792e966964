# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a launch did: for each warp the instructions in their order, and what they accessed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .sass import Instruction
    from .values import Lanes

Array = Any
SECTOR = 32  # bytes that global memory moves at once
BANKS = 32
WORD = 4
Version = tuple[int, int]  # a word of global memory, and how often it was written before


@dataclass
class Run:
    """Instructions start to end, executed by some warps; accesses by the instruction's place, then by warp.

    In a cooperative launch blocks wait for each other: a read of a flag waits for the write whose value it saw, and an
    atomic operation with a result for the one before. So the last block to arrive at a barrier is the slowest one,
    whichever it was when the launch was executed.
    """

    start: int
    end: int
    accesses: dict[int, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    is_barrier: bool = False
    waits: dict[int, dict[int, list[Version]]] = field(default_factory=dict)  # by place, then by warp
    posts: dict[int, dict[int, list[Version]]] = field(default_factory=dict)


def _groups(of: Array) -> Array:
    """Where values of a sorted array begin to differ."""
    return np.flatnonzero(np.r_[True, of[1:] != of[:-1]])


class Trace:
    """Runs of each warp. A global access is a tuple of sectors, one of shared memory its number of passes."""

    def __init__(self, cooperative: bool = False) -> None:
        self.runs: dict[int, list[Run]] = {}
        self.all: list[tuple[Run, int]] = []  # with the number of warps
        self.cooperative = cooperative
        self.present = Run(0, 0)
        self.versions: dict[int, int] = {}
        self.posted: set[Version] = set()

    def begin(self, start: int, warps: Array) -> None:
        """These warps execute instructions from here."""
        self.present = Run(start, start)
        self.all.append((self.present, len(warps)))
        for warp in warps.tolist():
            self.runs.setdefault(warp, []).append(self.present)

    def finish(self, end: int) -> None:
        """The last instruction was the one before this place."""
        self.present.end = end

    def release(self, warps: Array) -> None:
        """These warps have met at a barrier."""
        barrier = Run(0, 0, is_barrier=True)
        for warp in warps.tolist():
            self.runs.setdefault(warp, []).append(barrier)

    def access(self, instruction: Instruction, space: str, lanes: Lanes, at: Array, size: int) -> None:
        """Lanes access memory of a space, so many bytes each."""
        warps = lanes.threads >> 5
        if space == "shared":
            self._shared(instruction, warps, at, size)
            return
        if space == "local":  # the same word of all lanes lies together
            at = -1 - (lanes.threads + at // 4 * 2**20) * 4
        units = [at // SECTOR, (at + size - 1) // SECTOR]
        keys = np.unique(np.concatenate([(warps << 44) + unit + (1 << 43) for unit in units]))
        of, sectors = keys >> 44, (keys & (1 << 44) - 1) - (1 << 43)
        starts = _groups(of)
        parts = [tuple(part.tolist()) for part in np.split(sectors, starts[1:])]
        accesses = {int(of[s]): part for s, part in zip(starts, parts, strict=True)}
        self.present.accesses[instruction.place] = accesses
        if self.cooperative and space == "global":
            self._order(instruction, warps, at // WORD)

    def _order(self, instruction: Instruction, warps: Array, words: Array) -> None:
        """Which write each read of a flag, and each atomic operation, comes after."""
        reads = instruction.opcode in ("LDG", "LD")
        if reads and not instruction.has("STRONG"):
            return
        has_result = reads or instruction.opcode in ("ATOMG", "ATOM")
        waits = self.present.waits.setdefault(instruction.place, {}) if has_result else {}
        posts = self.present.posts.setdefault(instruction.place, {}) if not reads else {}
        for warp, word in dict.fromkeys(zip(warps.tolist(), words.tolist(), strict=True)):
            waits.setdefault(warp, []).append((word, self.versions.get(word, 0)))
            if not reads:
                version = self.versions[word] = self.versions.get(word, 0) + 1
                self.posted.add((word, version))
                posts.setdefault(warp, []).append((word, version))

    def _shared(self, instruction: Instruction, warps: Array, at: Array, size: int) -> None:
        """Passes: how many different words the busiest bank has."""
        words = at // 4
        if size > 4:
            words = (words[:, None] + np.arange(size // 4)).reshape(-1)
            warps = np.repeat(warps, size // 4)
        keys = np.unique((warps << 32) + words)
        # Banks of a warp, sorted: their numbers grow with the word only up to 31.
        busy, counts = np.unique((keys >> 32) * BANKS + (keys & 0xFFFFFFFF) % BANKS, return_counts=True)
        of = busy // BANKS
        starts = _groups(of)
        most = np.maximum.reduceat(counts, starts)
        self.present.accesses[instruction.place] = {
            int(of[s]): (int(passes),) for s, passes in zip(starts, most, strict=True)
        }
