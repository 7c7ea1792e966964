# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Files that users give to the commands."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import openmm as mm
from openmm import app

from openmmconstraints.inspection.errors import UserError

_T = TypeVar("_T")


def load_xml(path: Path, kind: type[_T]) -> _T:
    """Read a System, a State, ... that openmm.XmlSerializer wrote.

    :raises UserError: if the file cannot be read or holds something else
    """
    text = _read(path)
    try:
        found = mm.XmlSerializer.deserialize(text)
    except (mm.OpenMMException, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or "it is not XML"
        raise UserError(f"'{path}' is not a {kind.__name__} written by openmm.XmlSerializer: {reason}.") from error
    if not isinstance(found, kind):
        raise UserError(f"'{path}' holds a {type(found).__name__}, not a {kind.__name__}.")
    return found


def load_structure(path: Path) -> app.PDBFile | app.PDBxFile:
    """Read positions and topology of a PDB or PDBx/mmCIF file (.cif), chosen by its name.

    :raises UserError: if the file cannot be read
    """
    _read(path)
    try:
        return (app.PDBxFile if path.suffix == ".cif" else app.PDBFile)(str(path))
    except Exception as error:  # OpenMM's parsers throw whatever their lines of code do
        raise UserError(f"'{path}' cannot be read as a structure: {type(error).__name__}: {error}.") from error


def is_structure(path: Path) -> bool:
    """Whether a file is a PDB or PDBx/mmCIF file, by its name."""
    return path.suffix in (".pdb", ".cif")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise UserError(f"cannot read '{path}': {reason}.") from error
