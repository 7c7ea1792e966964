# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Terms of OpenMM's bonded Forces: which act within rigid bodies only, and Forces without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import openmm as mm

from openmmconstraints.inspection.listing import is_ours
from openmmconstraints.inspection.molecules import BAROSTATS
from openmmconstraints.wrapper import _assignForce

#: Of each bonded Force: the list of its terms in its XML, and their particles.
_TERMS = {
    mm.HarmonicBondForce: ("Bonds", ("p1", "p2")),
    mm.HarmonicAngleForce: ("Angles", ("p1", "p2", "p3")),
    mm.PeriodicTorsionForce: ("Torsions", ("p1", "p2", "p3", "p4")),
    mm.RBTorsionForce: ("Torsions", ("p1", "p2", "p3", "p4")),
    mm.CMAPTorsionForce: ("Torsions", ("a1", "a2", "a3", "a4", "b1", "b2", "b3", "b4")),
    mm.CustomBondForce: ("Bonds", ("p1", "p2")),
    mm.CustomAngleForce: ("Angles", ("p1", "p2", "p3")),
    mm.CustomTorsionForce: ("Torsions", ("p1", "p2", "p3", "p4")),
}

#: Forces without terms of a few particles that could be removed.
_WITHOUT_TERMS = (
    mm.NonbondedForce,
    mm.CustomNonbondedForce,
    mm.GBSAOBCForce,
    mm.CustomGBForce,
    mm.CustomExternalForce,
    mm.CustomVolumeForce,
    mm.CMMotionRemover,
    mm.AndersenThermostat,
    *BAROSTATS,
)


@dataclass(frozen=True)
class InternalTerms:
    """Terms of a Force that act within a body only."""

    numbers: list[int]
    root: ElementTree.Element  #: the Force's XML


def is_treated(force: mm.Force) -> bool:
    """Whether terms of it within a body can be removed: energies that depend on a parameter are not constant."""
    return type(force) in _TERMS and not has_parameters(force)


def has_parameters(force: mm.Force) -> bool:
    """Whether a Force has global parameters."""
    return hasattr(force, "getNumGlobalParameters") and force.getNumGlobalParameters() > 0


def has_untreated_terms(force: mm.Force, bodies_of: list[frozenset[int]]) -> bool:
    """Whether a Force has, or may have, terms within bodies that are not removed."""
    if type(force) in _TERMS:
        return not is_treated(force) and bool(internal_terms(force, bodies_of).numbers)
    if isinstance(force, mm.CustomCompoundBondForce):
        bonds = (force.getBondParameters(k)[0] for k in range(force.getNumBonds()))
        return any(_is_internal(particles, bodies_of) for particles in bonds)
    if isinstance(force, mm.NonbondedForce):
        offsets = (force.getExceptionParameterOffset(k)[1] for k in range(force.getNumExceptionParameterOffsets()))
        return any(_is_internal(force.getExceptionParameters(k)[:2], bodies_of) for k in offsets)
    return not (isinstance(force, _WITHOUT_TERMS) or is_ours(force))


def internal_terms(force: mm.Force, bodies_of: list[frozenset[int]]) -> InternalTerms:
    """Find the terms of a bonded Force whose particles are all in one body."""
    root = ElementTree.fromstring(mm.XmlSerializer.serialize(force))
    name, keys = _TERMS[type(force)]
    entries = root.find(name)
    numbers = [
        n
        for n, entry in enumerate(() if entries is None else entries)
        if _is_internal([int(entry.get(key)) for key in keys], bodies_of)
    ]
    return InternalTerms(numbers, root)


def without_terms(force: mm.Force, terms: InternalTerms) -> None:
    """Remove terms from a Force. References to it stay valid."""
    goes = set(terms.numbers)
    entries = terms.root.find(_TERMS[type(force)][0])
    entries[:] = [entry for number, entry in enumerate(entries) if number not in goes]
    _assignForce(force, mm.XmlSerializer.deserialize(ElementTree.tostring(terms.root, encoding="unicode")))


def _is_internal(particles: Sequence[int], bodies_of: list[frozenset[int]]) -> bool:
    return bool(frozenset.intersection(*(bodies_of[p] for p in particles)))
