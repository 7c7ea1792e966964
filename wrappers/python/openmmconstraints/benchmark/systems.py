# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The systems that have a name."""

from __future__ import annotations

from collections.abc import Sequence

from openmmconstraints.benchmark import force_fields, generated
from openmmconstraints.benchmark.model import Chosen, NamedSystem
from openmmconstraints.inspection.errors import UserError

_BIO = ("HBonds", "AllBonds", "HAngles")
_RIGID = ("Rigid",)

_ALL = (
    NamedSystem("villin", "protein in water, 8,867 atoms", _BIO, force_fields.villin),
    NamedSystem("villin-protein", "the same protein alone, 582 atoms", _BIO, force_fields.villin_protein),
    NamedSystem("dppc", "membrane of 128 lipids in water, 28,160 atoms", _BIO, force_fields.dppc),
    NamedSystem("dhfr", "protein in water, 23,558 atoms; needs openmmtools", _BIO, force_fields.dhfr),
    NamedSystem(
        "dhfr-protein", "the same protein alone, 2,489 atoms; needs openmmtools", _BIO, force_fields.dhfr_protein
    ),
    NamedSystem("t4-lysozyme", "implicit solvent, 2,621 atoms; needs openmmtools", _BIO, force_fields.t4_lysozyme),
    NamedSystem("dna", "dodecamer in water, 13,646 atoms; needs openmmtools", _BIO, force_fields.dna),
    NamedSystem("src", "kinase in water, 56,627 atoms; needs openmmtools", _BIO, force_fields.src),
    NamedSystem("chain", "n beads in a row", ("AllBonds", "AllAngles"), generated.chain, 1000, 50),
    NamedSystem("polyethylene", "n CH2 in a row", _BIO, generated.polyethylene, 500, 20),
    NamedSystem("graphene", "flat patch of n x n cells", ("AllBonds",), generated.graphene, 10, 4),
    NamedSystem("nanotube", "(20, 0), n cells long", ("AllBonds",), generated.nanotube, 10, 3),
    NamedSystem("mesh", "crumpled square lattice of n x n beads", ("AllBonds",), generated.mesh, 24, 4),
    NamedSystem("co2", "n linear molecules of 3 atoms", _RIGID, generated.carbon_dioxide, 500, 10),
    NamedSystem("needles", "n linear molecules of 5 atoms", _RIGID, generated.needles, 200, 10),
    NamedSystem("benzene", "n rings of 12 bonds", ("AllBonds", "Rigid"), generated.benzene, 200, 10),
    NamedSystem("water", "n rigid molecules", _RIGID, generated.water, 1000, 30),
)
LARGEST_SIZE = 10_000_000  # chain:10000000 takes some 10 GB
SYSTEMS = {entry.name: entry for entry in _ALL}
DEFAULT = ("villin", "chain", "polyethylene", "nanotube", "co2", "benzene", "water")


def choose(words: Sequence[str] | None, quick: bool) -> list[Chosen]:
    """The systems of a command line, as `name` or `name:size`.

    :param words: None: a selection that needs no other package
    :param quick: the smallest size, where none is given
    :raises UserError: if there is none of that name, or of that size
    """
    return [_parse(word, quick) for word in dict.fromkeys(words or DEFAULT)]


def _parse(word: str, quick: bool) -> Chosen:
    name, colon, size = word.partition(":")
    entry = SYSTEMS.get(name)
    if entry is None:
        raise UserError(f"there is no system '{name}'; choose from {', '.join(SYSTEMS)}.")
    if not colon:
        return Chosen(entry, entry.quick_size if quick else entry.size)
    if entry.size is None:
        raise UserError(f"the system '{name}' has no size to choose: write '{name}'.")
    is_number = size.isascii() and size.isdigit() and len(size) <= len(str(LARGEST_SIZE))
    if not is_number or not 2 <= int(size) <= LARGEST_SIZE:
        raise UserError(
            f"'{size}' is not a size of the system '{name}': a whole number of 2 to {LARGEST_SIZE:,}, as in {name}:50."
        )
    return Chosen(entry, int(size))
