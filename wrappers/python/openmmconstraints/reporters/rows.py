# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Files with one row a step, which a run continues after it was interrupted."""

from __future__ import annotations

import bz2
import gzip
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from os import PathLike, fspath
from typing import IO, Any, TypeVar

_T = TypeVar("_T")
_COMPRESSED: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


class RowFile:
    """A CSV file of a run, whose rows begin with the step. A run that was interrupted continues it."""

    stream: IO[str] | None = None  #: None: rows go nowhere, or `begin` has yet to continue the file
    _is_ours = False  # to be closed; here since the constructor may raise

    def __init__(self, file: str | PathLike[str] | IO[str] | None, append: bool) -> None:
        """
        :param file:   a name, of a file that is opened here, or an open file, which is not closed; None: no file
        :param append: whether a run continues the file that its earlier part wrote
        :raises OSError: if it cannot be written
        """
        self._append = append
        self._continued: str | None = None  # until `begin` continues it
        if not isinstance(file, (str, PathLike)):
            self.stream = file
            return
        self._is_ours = True
        if append:
            self._continued = fspath(file)
            require_writable(self._continued)
        else:
            self.stream = open_rows(fspath(file), "w")

    def begin(self, header: Sequence[str], step: int) -> None:
        """Before the first row: write the header, or continue the file for the rows that follow `step`.

        :raises ValueError: if the file is another run's, see continue_file()
        """
        if self._continued is not None:
            self.stream = continue_file(self._continued, ",".join(header), step_of, step)
        elif not self._append:
            self.write(header)

    def write(self, row: Iterable[str]) -> None:
        if self.stream is None:
            return
        self.stream.write(",".join(row) + "\n")
        if hasattr(self.stream, "flush"):
            self.stream.flush()

    def __del__(self) -> None:
        if self._is_ours and self.stream is not None:
            self.stream.close()


def step_of(line: str) -> int:
    """The step of a row.

    :raises ValueError: if there is none
    """
    return int(line.split(",", 1)[0])


def latest(rows: Iterable[tuple[int, _T]]) -> list[tuple[int, _T]]:
    """The pairs (step, row) of one run. A run that continued from an earlier state wrote some steps again: of these,
    the rows that were written last are kept."""
    kept: list[tuple[int, _T]] = []
    for step, row in rows:
        while kept and kept[-1][0] >= step:
            kept.pop()
        kept.append((step, row))
    return kept


def open_rows(path: str, mode: str) -> IO[str]:
    """A text file, compressed where its name ends in .gz or .bz2. (OpenMM's own, 8.6.1, do not accept text.)"""
    opener = next((opener for end, opener in _COMPRESSED.items() if path.endswith(end)), open)
    return opener(path, mode + "t", encoding="utf-8")


def require_writable(path: str) -> None:
    """:raises OSError: if a file cannot be written; one that is not there is made"""
    with open(path, "ab"):
        pass


def read_lines(path: str) -> tuple[list[str], bool]:
    """The whole lines of a file, and whether more follows that a killed run left: half a line, half a compressed
    block."""
    lines, is_cut = [], False
    with open_rows(path, "r") as file:
        try:
            for line in file:
                lines.append(line)
        except (EOFError, zlib.error):
            is_cut = True
    if lines and not lines[-1].endswith("\n"):
        lines.pop()
        is_cut = True
    return [line[:-1] for line in lines], is_cut


def continue_file(path: str, header: str, step_of: Callable[[str], int], step: int) -> IO[str]:
    """Open a file that an earlier part of a run wrote, for the rows that follow `step`.

    Half a line at the end is removed, and so are rows of later steps, which the run will write again: the file becomes
    what it would be without the interruption. An empty file gets the header.

    :param step_of: the step in a row; it raises ValueError if there is none
    :raises ValueError: if the file has other columns, holds anything but rows, or only rows of later steps
    """
    lines, is_cut = read_lines(path)
    if lines and lines[0] != header:
        raise ValueError(f"'{path}' has the columns {lines[0]}, not {header}. Write to another file.")
    rows = parse(path, lines, step_of)
    kept = [line for at, line in latest(rows) if at <= step]
    if rows and not kept:
        raise ValueError(
            f"'{path}' begins at step {rows[0][0]}, and this run is at step {step}: no row would be kept. "
            "Continue from a checkpoint of the run that wrote it, or write to another file."
        )
    if is_cut or len(kept) + 1 != len(lines):
        with open_rows(rewritten := _beside(path), "w") as file:
            file.writelines(f"{line}\n" for line in (header, *kept))
        os.replace(rewritten, path)
    return open_rows(path, "a")


def parse(path: str, lines: list[str], step_of: Callable[[str], int]) -> list[tuple[int, str]]:
    """(step, row) of the lines after the header.

    :raises ValueError: if a line is none
    """
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        if line == lines[0]:
            raise ValueError(f"'{path}': line {number} is the header again. These are two files: read each by itself.")
        try:
            rows.append((step_of(line), line))
        except (ValueError, IndexError):
            raise ValueError(
                f"'{path}': line {number} is no row of this file: {line[:60]!r}. Remove it if a killed run left it."
            ) from None
    return rows


def _beside(path: str) -> str:
    """A name in the same folder, compressed the same way."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".rewritten-{name}")
