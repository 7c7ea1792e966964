# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Files that users give to the commands, also packed by gzip (.gz)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import openmm as mm
from openmm import app, unit

from openmmconstraints.inspection.errors import UserError

_T = TypeVar("_T")


@dataclass(frozen=True)
class Structure:
    """What a file of positions has."""

    positions: unit.Quantity  #: [number of atoms, 3]
    topology: app.Topology | None  #: None: the file has no names of atoms
    box: Any = None  #: vectors of the periodic box that belongs to the positions; None: that of the System


def load_xml(path: Path, kind: type[_T]) -> _T:
    """Read a System, a State, ... that openmm.XmlSerializer wrote.

    :raises UserError: if the file cannot be read or holds something else
    """
    text = _text(path, _read(path))
    try:
        found = mm.XmlSerializer.deserialize(text)
    except (mm.OpenMMException, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".") or "it is not XML"
        raise UserError(f"'{path}' is not a {kind.__name__} written by openmm.XmlSerializer: {reason}.") from error
    if not isinstance(found, kind):
        raise UserError(f"'{path}' holds a {type(found).__name__}, not a {kind.__name__}.")
    return found


def load_structure(path: Path) -> Structure:
    """Read positions, and a topology where there is one, of a file whose name is_structure().

    :raises UserError: if the file cannot be read
    """
    ending = _ending(path)
    content = _read(path)
    if ending not in _BINARY:
        _text(path, content)
    try:
        with TemporaryDirectory() as folder:  # OpenMM reads some formats from a file only
            plain = path
            if path.suffix.lower() == ".gz":
                plain = Path(folder) / f"unpacked{ending}"
                plain.write_bytes(content)
            return _LOADERS[ending](str(plain))
    except Exception as error:  # OpenMM's parsers throw whatever their lines of code do
        raise UserError(f"'{path}' cannot be read as a structure: {type(error).__name__}: {error}.") from error


def load_topology(path: Path) -> app.Topology:
    """Read names of atoms.

    :raises UserError: if the file cannot be read, or has none
    """
    if not is_structure(path):
        raise UserError(f"'{path}' is not a file with names of atoms, by its name: give a {_listed(_NAMING)} file.")
    topology = load_structure(path).topology
    if topology is None:
        raise UserError(f"'{path}' has no names of atoms: give a {_listed(_NAMING)} file.")
    return topology


def is_structure(path: Path) -> bool:
    """Whether a file has positions of atoms, by its name: .pdb, .cif, .gro, .rst7 or .inpcrd, with .gz or without."""
    return _ending(path) in _LOADERS


def _load_pdb(name: str) -> Structure:
    pdb = app.PDBFile(name)
    return Structure(pdb.getPositions(asNumpy=True), pdb.topology)


def _load_cif(name: str) -> Structure:
    cif = app.PDBxFile(name)
    return Structure(cif.getPositions(asNumpy=True), cif.topology)


def _load_gro(name: str) -> Structure:
    """The first frame. OpenMM keeps names, no topology; elements and bonds are not needed for names."""
    gro = app.GromacsGroFile(name)
    topology = app.Topology()
    chain = topology.addChain("")
    residue, last = None, None
    for atom, *this in zip(gro.atomNames, gro.residueNames, gro.residueIds, strict=True):
        if this != last:
            residue, last = topology.addResidue(this[0], chain, str(this[1])), this
        topology.addAtom(atom, None, residue)
    return Structure(gro.getPositions(asNumpy=True), topology, gro.getPeriodicBoxVectors())


def _load_amber(name: str) -> Structure:
    amber = app.AmberInpcrdFile(name)
    return Structure(amber.getPositions(asNumpy=True), None, amber.boxVectors)


_LOADERS: dict[str, Callable[[str], Structure]] = {
    ".pdb": _load_pdb,
    ".cif": _load_cif,
    ".gro": _load_gro,
    ".rst7": _load_amber,
    ".inpcrd": _load_amber,
}
_NAMING = (".pdb", ".cif", ".gro")  # with names of atoms
_BINARY = (".rst7", ".inpcrd")  # may be NetCDF


def _listed(endings: tuple[str, ...]) -> str:
    return f"{', '.join(endings[:-1])} or {endings[-1]}"


def _ending(path: Path) -> str:
    """That of the name, in lower case, without .gz."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def _read(path: Path) -> bytes:
    """The content of a file, unpacked."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read '{path}': {error.strerror}.") from error
    if path.suffix.lower() != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"cannot read '{path}': it is not a whole file of gzip: {error}.") from error


def _text(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read '{path}': it is not a text file.") from error
