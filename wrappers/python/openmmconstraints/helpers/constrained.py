# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What constrain() has done at given lengths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from openmmconstraints.helpers.counts import count_of
from openmmconstraints.wrapper import ConstraintForce

#: Atoms that a summary names.
MOST_NAMED = 3


@dataclass(frozen=True, repr=False)
class Constrained:
    """What constrain() has done at given lengths; str() is a sentence."""

    force: ConstraintForce | None  #: which has the constraints (the periodic one of two); None: there are none
    bonds: int  #: how many bonds have a constraint now that had none, those of rigid water included
    angles: int  #: how many pairs of ends of angles have one now, those of rigid water included
    waters: int = 0  #: how many water molecules are rigid
    waterShape: tuple[float, float] | None = None  #: O-H and H-H (nm) of waters by positions: averages of all waters
    found: Mapping[str, int] = field(default_factory=dict)  #: "O-H": how many bonds were found at the positions
    kept: int = 0  #: how many of the chosen bonds and angles had a constraint already
    keptDeviation: float = 0.0  #: by how much, relative, a length that was kept differs from the new one at most
    move: float = 0.0  #: by how much (nm) what is new moves the atom that it moves farthest, at lengths by positions
    moved: str = ""  #: this atom, by name and index; "": all stay where they are
    leftOut: int = 0  #: how many bonds have a virtual site or a massless atom, and were left out
    ions: tuple[str, ...] = ()  #: elements for which no bonds were looked for
    unbound: tuple[str, ...] = ()  #: hydrogens without a bond, by name and index

    def __repr__(self) -> str:
        return f"Constrained({self})"

    def __str__(self) -> str:
        parts = []
        if self.found:
            kinds = ", ".join(f"{number:,} {kind}" for kind, number in self.found.items())
            parts.append(f"found {count_of(sum(self.found.values()), 'bond')} by distance: {kinds}")
        parts.append(f"constrained {count_of(self.bonds, 'bond')} and {count_of(self.angles, 'angle')}")
        if self.waters:
            rigid = f"{count_of(self.waters, 'water')} {'is' if self.waters == 1 else 'are'} rigid"
            if self.waterShape:
                rigid += ", O-H {:.5f} nm and H-H {:.5f} nm on average".format(*self.waterShape)
            parts.append(rigid)
        if self.kept:
            differ = f", whose lengths differ by up to {100 * self.keptDeviation:.2g} %" if self.keptDeviation else ""
            parts.append(f"kept {count_of(self.kept, 'constraint')} that the System had{differ}")
        if self.moved:
            parts.append(f"fitted what is straight within rounding, which moves {self.moved} by {self.move:.2g} nm")
        if self.leftOut:
            parts.append(f"left out {count_of(self.leftOut, 'bond')} of virtual sites or massless atoms")
        if self.ions:
            parts.append(f"took {', '.join(self.ions)} for ions without bonds")
        if self.unbound:
            names = ", ".join(self.unbound[:MOST_NAMED]) + (", ..." if len(self.unbound) > MOST_NAMED else "")
            parts.append(f"{count_of(len(self.unbound), 'hydrogen')} without a bond: {names}")
        return "; ".join(parts)
