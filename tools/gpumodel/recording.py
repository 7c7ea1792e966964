# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Reads what tests/calls/Recorder.h wrote: launches, with the device's memory before and after each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

PAGE = 4096


@dataclass(frozen=True)
class Recorded:
    """A launch. The memory is that of the recording: a copy is needed before the next one is asked for."""

    kernel: str
    source: Path  # the text, as the stand-in for NVRTC kept it
    blocks: int
    threads: int
    shared: int
    cooperative: bool
    parameters: bytes
    base: int
    before: np.ndarray
    after_pages: dict[int, np.ndarray]  # pages that it changed

    def after(self) -> np.ndarray:
        """The memory after it."""
        result = self.before.copy()
        for page, content in self.after_pages.items():
            result[page * PAGE : page * PAGE + PAGE] = content
        return result


def read(folder: Path) -> Iterator[Recorded | str]:
    """Launches in their order, and other calls by their name, as "wait cuEventSynchronize"."""
    memory, base = np.zeros(0, np.uint8), 0
    with (folder / "calls.jsonl").open() as calls, (folder / "pages.bin").open("rb") as pages:
        for line in calls:
            call = json.loads(line)
            if call["call"] == "memory":
                base = call["base"]
            elif call["call"] != "launch":
                yield call["call"]
            else:
                size = (call["used"] + PAGE - 1) // PAGE * PAGE
                memory = np.concatenate([memory, np.zeros(size - memory.size, np.uint8)])
                _take(memory, _pages(pages, call["before"]))
                changed = _pages(pages, call["after"])
                yield Recorded(
                    call["kernel"],
                    Path(call["library"]).with_suffix(".cu"),
                    call["blocks"],
                    call["threads"],
                    call["shared"],
                    call["cooperative"],
                    bytes.fromhex(call["parameters"]),
                    base,
                    memory,
                    changed,
                )
                _take(memory, changed)


def _pages(file: BinaryIO, number: int) -> dict[int, np.ndarray]:
    kind = np.dtype([("page", "<u8"), ("content", "u1", PAGE)])
    table = np.frombuffer(file.read(number * kind.itemsize), kind)
    return {int(row["page"]): row["content"] for row in table}


def _take(memory: np.ndarray, pages: dict[int, np.ndarray]) -> None:
    for page, content in pages.items():
        memory[page * PAGE : page * PAGE + PAGE] = content
