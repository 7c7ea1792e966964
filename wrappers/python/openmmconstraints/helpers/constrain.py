# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constrain bonds and angles of a System, by its force field or at given lengths."""

from __future__ import annotations

from typing import Any, Literal, overload

import openmm as mm
from openmm import app

from openmmconstraints.helpers.constrained import Constrained
from openmmconstraints.helpers.force_field import Which, hold_terms
from openmmconstraints.helpers.given_lengths import COVALENT, hold_lengths
from openmmconstraints.helpers.lengths import Lengths
from openmmconstraints.helpers.move_constraints import moveConstraints
from openmmconstraints.inspection.labels import require_same_size
from openmmconstraints.wrapper import ConstraintForce

Bonds = Literal["all", "hydrogens", "covalent", "covalent-hydrogens"] | None
WHICH = ("all", "hydrogens")
#: What one knows from ForceField.createSystem(), and what it is here.
_OF_OPENMM = {
    "HBonds": 'bonds="hydrogens"',
    "AllBonds": 'bonds="all"',
    "HAngles": 'bonds="all", angles="hydrogens"',
}


@overload
def constrain(
    system: mm.System,
    topology: app.Topology,
    bonds: Which = "all",
    angles: Which = None,
    rigidWater: bool = True,
    *,
    lengths: None = None,
    positions: None = None,
) -> ConstraintForce | None: ...


@overload
def constrain(
    system: mm.System,
    topology: app.Topology,
    bonds: Bonds = "all",
    angles: Which = None,
    rigidWater: bool = True,
    *,
    lengths: Lengths,
    positions: Any = None,
) -> Constrained: ...


def constrain(
    system: mm.System,
    topology: app.Topology,
    bonds: Bonds = "all",
    angles: Which = None,
    rigidWater: bool = True,
    *,
    lengths: Lengths | None = None,
    positions: Any = None,
) -> ConstraintForce | Constrained | None:
    """Constrain bonds and angles of a System: at the lengths of its own harmonic terms, or at `lengths`.

    Without `lengths` it does what `constraints=` of OpenMM's `ForceField.createSystem()` does, for a System that was
    created without. The constraints go into a ConstraintForce of their own, so that OpenMM does not set up its own
    solver for them: that takes seconds to hours for large coupled sets. `bonds="hydrogens"` is the set of HBonds,
    `bonds="all"` that of AllBonds, and `bonds="all", angles="hydrogens"` that of HAngles. As in HAngles, an angle is
    constrained by the distance of its ends, which is computed from the angle and the lengths of its bonds. A
    Urey-Bradley term between the ends is replaced; its length is not used. Integrators find angles that are redundant,
    as some of `angles="all"` are. Angles of a force field were not made to be held together: with `angles="all"`, those
    about an atom with four neighbours, or in a planar group or a ring, have no shape that meets them all, and the first
    projection raises an exception with the atoms of a smallest set. Hold `angles="hydrogens"`, or take lengths that
    agree, `lengths="positions"`. Errors name the atoms, as after setTopology().

    Constraints that the System has already are kept, and move into that ConstraintForce too; Forces that you have added
    stay as they are. A further call appends to the Force of an earlier one, as moveConstraints() does. Terms that are
    replaced stay in their Force, with a force constant of zero, because OpenMM's Forces cannot remove terms.

    With `lengths` the System needs no harmonic terms: its potential may be machine-learned, AMOEBA, or that of beads
    (docs: Potentials without bonds). Bonds are those of the topology or, for `bonds="covalent"`, all pairs of atoms
    that are closer at the positions than 1.25 times the sum of their covalent radii; `"covalent-hydrogens"` are those
    with a hydrogen. Alkali and alkaline-earth metals are ions there, and a hydrogen with two partners is refused.
    Angles are pairs of the chosen bonds that share an atom. A molecule of an oxygen and two hydrogens, by its bonds or
    as a residue, is water. Lengths are

    - `"positions"`: distances at the positions, best those of a minimum. Each bond and angle has its own, so that the
      positions are on the constraints, and nothing moves; planar groups and rings stay as puckered as they are. But all
      rigid waters get the average of their shapes, which would differ if the coordinates are rounded, and what is
      straight within rounding is put on a line: the summary says by how much.
    - a table, `{("O", "H"): 0.09572, ("H", "O", "H"): 104.52*unit.degrees}`, of elements or symbols in either order. Of
      three, the vertex in the middle, it has the distance of the ends, or the angle as a Quantity.
    - a function: of two atoms of the Topology it returns the length of their bond, of three, where angles or rigid
      waters are to be held, the distance of the ends or the angle as a Quantity.

    Lengths of a table or a function that differ from distances at `positions`, if these are given, by more than 10 %
    are warned of. Plain numbers are nm. Distances are those of nearest images if any Force of the System is periodic.
    Pairs that the System constrains already keep their lengths, which may differ from new ones by 0.1 %, and from
    distances at the positions by 2 %. Virtual sites and massless atoms are left out: call `freeze()` afterwards.

    >>> print(mc.constrain(system, topology, "hydrogens", lengths="positions", positions=x))  # doctest: +SKIP
    constrained 12 bonds and 0 angles

    Parameters
    ----------
    system : openmm.System
        changed in place, unless an exception is thrown
    topology : openmm.app.Topology
        of the System, with its bonds
    bonds : "all", "hydrogens", "covalent", "covalent-hydrogens" or None
        which bonds of the topology to constrain, or of those found at the positions, which takes `lengths`
    angles : "all", "hydrogens" or None
        which of the System's HarmonicAngleForce terms to constrain; with `lengths`, which pairs of bonds. "hydrogens":
        those between two hydrogens, and those of one hydrogen with an oxygen at the vertex
    rigidWater : bool
        whether to make all water molecules rigid, whatever `bonds` and `angles` are
    lengths : "positions", dict or function, optional
        the lengths; None: those of the force field
    positions : openmm.State, array of shape (numParticles, 3) (nm) or Quantity, optional
        of all particles; needed to find bonds, and for `lengths="positions"`; other lengths are compared with them

    Returns
    -------
    ConstraintForce or None
        without `lengths`: the Force with the constraints (the periodic one, if there are two), owned by the System;
        None if nothing was left to hold
    Constrained
        with `lengths`: what was done; print it. It has the Force

    Raises
    ------
    TypeError
        if `lengths` or one of them is no length
    ValueError
        if the topology is not the System's, or there is no length or angle for some atoms, or one that cannot be, or is
        longer or shorter than at `positions` by a factor of more than 1.5; the message names the atoms. If there is
        nothing to hold
    """
    for name, value, options in (("bonds", bonds, (*WHICH, *COVALENT)), ("angles", angles, WHICH)):
        if value is not None and value not in options:
            listed = ", ".join(f'"{option}"' for option in options)
            here = _OF_OPENMM.get(str(value))
            hint = f". For {value} of OpenMM type {here}." if here else ""
            raise ValueError(f"constrain: {name} must be {listed} or None, not {value!r}{hint}")
    require_same_size(system, topology, "constrain")
    if lengths is not None:
        return hold_lengths(system, topology, bonds, angles, rigidWater, lengths, positions)
    if bonds in COVALENT:
        raise ValueError(
            f'constrain: bonds="{bonds}" needs lengths=: "positions", a table such as {{("O", "H"): 0.0957}}, or a '
            "function of atoms."
        )
    if positions is not None:
        raise ValueError('constrain: positions= is for lengths= only, as in lengths="positions".')
    hold_terms(system, topology, bonds, angles, rigidWater)
    force = moveConstraints(system, topology)
    is_asked = bonds is not None or angles is not None
    if force is None and is_asked and not any(map(ConstraintForce.isinstance, system.getForces())):
        raise ValueError(
            "constrain: there is nothing to hold: no harmonic term of the System joins atoms that were asked for, and "
            'it has no constraints. Without such terms give lengths="positions", positions=..., or a table of lengths. '
            'Where the topology has no bonds either, bonds="covalent-hydrogens" finds some at the positions.'
        )
    return force
