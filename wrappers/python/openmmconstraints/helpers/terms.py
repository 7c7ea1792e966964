# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Terms of OpenMM's bonded Forces: which act within rigid bodies only, and Forces without them."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import openmm as mm

from openmmconstraints.wrapper import ConstraintForce, CustomConstraintForce, _assignForce

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
    mm.CMMotionRemover,
    mm.AndersenThermostat,
    mm.MonteCarloBarostat,
    mm.MonteCarloAnisotropicBarostat,
    mm.MonteCarloMembraneBarostat,
    mm.MonteCarloFlexibleBarostat,
)


@dataclass(frozen=True)
class InternalTerms:
    """Terms of a Force that act within a body only."""

    numbers: list[int]
    pairs: list[tuple[int, int]]  #: of all its terms, where these are pairs
    root: ElementTree.Element  #: the Force's XML


def is_treated(force: mm.Force) -> bool:
    """Whether terms of it within a body can be removed: energies that a derivative is taken of are not constant."""
    return type(force) in _TERMS and not _has_derivatives(force)


def may_have_terms(force: mm.Force) -> bool:
    """Whether it may have terms within bodies that are not removed."""
    is_ours = ConstraintForce.isinstance(force) or CustomConstraintForce.isinstance(force)
    return not (is_treated(force) or isinstance(force, _WITHOUT_TERMS) or is_ours)


def internal_terms(force: mm.Force, bodies_of: list[frozenset[int]]) -> InternalTerms:
    """Find the terms of a bonded Force whose particles are all in one body."""
    root = ElementTree.fromstring(mm.XmlSerializer.serialize(force))
    name, keys = _TERMS[type(force)]
    numbers, pairs = [], []
    for number, entry in enumerate(root.find(name) or ()):
        particles = [int(entry.get(key)) for key in keys]
        if len(keys) == 2:
            pairs.append((particles[0], particles[1]))
        if frozenset.intersection(*(bodies_of[p] for p in particles)):
            numbers.append(number)
    return InternalTerms(numbers, pairs, root)


def without_terms(force: mm.Force, terms: InternalTerms) -> None:
    """Remove terms from a Force. References to it stay valid."""
    goes = set(terms.numbers)
    entries = terms.root.find(_TERMS[type(force)][0])
    entries[:] = [entry for number, entry in enumerate(entries) if number not in goes]
    _assignForce(force, mm.XmlSerializer.deserialize(ElementTree.tostring(terms.root, encoding="unicode")))


def _has_derivatives(force: mm.Force) -> bool:
    return hasattr(force, "getNumEnergyParameterDerivatives") and force.getNumEnergyParameterDerivatives() > 0
