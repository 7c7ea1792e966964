# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The atoms of torsions of peptides, by residue."""

from __future__ import annotations

from operator import index
from typing import TypeAlias

from openmm import app

from openmmconstraints.inspection.arguments import require

Atom: TypeAlias = app.topology.Atom
#: A residue of the topology, its index there, or its id, "52", "52A" or "B:52" with insertion code and chain.
Residue: TypeAlias = app.topology.Residue | int | str
Four: TypeAlias = tuple[int, int, int, int]

_BACKBONE = {"N", "CA", "C"}
_ALPHA = ("CA", "CH3")  # the caps ACE and NME have a methyl group there
_GAMMA = ("CG", "CG1", "OG", "OG1", "SG", "SE")


def phi(topology: app.Topology, residue: Residue) -> Four:
    """The atoms of a residue's phi: C of the residue before, N, CA, C. Bonds tell which residue that is.

    >>> fe.Dihedral(*fe.phi(pdb.topology, 1))  # doctest: +SKIP

    Parameters
    ----------
    topology : openmm.app.Topology
        with bonds
    residue : Residue, int or str
        of the topology; its index there, from 0; or its id, such as "52", or "B:52" where several chains have it

    Returns
    -------
    tuple[int, int, int, int]
        indices for Dihedral(), ConstraintForce.addDihedral() or a torsion Force of OpenMM

    Raises
    ------
    TypeError, ValueError
        if there is no such residue, or an atom of the four is not there: by name
    """
    own = _find(topology, residue, "phi")
    return _indices(_before(topology, own, "phi"), *(_atom(own, "phi", name) for name in ("N", "CA", "C")))


def psi(topology: app.Topology, residue: Residue) -> Four:
    """The atoms of a residue's psi: N, CA, C, N of the residue after. Arguments are those of phi()."""
    own = _find(topology, residue, "psi")
    return _indices(*(_atom(own, "psi", name) for name in ("N", "CA", "C")), _after(topology, own, "psi"))


def omega(topology: app.Topology, residue: Residue) -> Four:
    """The atoms of the peptide bond to the residue after, which IUPAC counts to this one: CA, C, and there N and CA.
    Of the caps ACE and NME the methyl group is taken for CA. Arguments are those of phi()."""
    own = _find(topology, residue, "omega")
    nitrogen = _after(topology, own, "omega")
    alpha = _atom(nitrogen.residue, "omega", *_ALPHA, "C")  # of NME in some files
    return _indices(_atom(own, "omega", *_ALPHA), _atom(own, "omega", "C"), nitrogen, alpha)


def chi1(topology: app.Topology, residue: Residue) -> Four:
    """The atoms of a residue's chi1: N, CA, CB, and the first atom after it (CG, CG1, OG, OG1, SG). Glycine and alanine
    have none; proline's is part of its ring. Arguments are those of phi()."""
    own = _find(topology, residue, "chi1")
    return _indices(*(_atom(own, "chi1", name) for name in ("N", "CA", "CB")), _atom(own, "chi1", *_GAMMA))


def _indices(*atoms: Atom) -> Four:
    first, second, third, fourth = (atom.index for atom in atoms)
    return first, second, third, fourth


def _name(residue: app.topology.Residue) -> str:
    """A:ALA2"""
    chain = str(residue.chain.id or "").strip()
    return f"{chain}:{residue.name}{_id(residue)}".lstrip(":")


def _id(residue: app.topology.Residue) -> str:
    return f"{residue.id}{(residue.insertionCode or '').strip()}"


def _find(topology: app.Topology, residue: Residue, method: str) -> app.topology.Residue:
    """
    Raises
    ------
    TypeError, ValueError
        if it is none, of another topology, or one of several with an id
    """
    require(app.Topology, topology, method)
    if isinstance(residue, app.topology.Residue):
        if residue.chain.topology is not topology:
            raise ValueError(f"{method}: {_name(residue)} is of another topology. Take it from topology.residues().")
        return residue
    residues = list(topology.residues())
    if isinstance(residue, str):
        chain, colon, number = residue.strip().rpartition(":")
        found = [
            one
            for one in residues
            if number in (one.id, _id(one))
            and (not colon or one.chain.id == chain)
            and {atom.name for atom in one.atoms()} >= _BACKBONE
        ]
        if len(found) == 1:
            return found[0]
        if not found:
            raise ValueError(f'{method}: there is no amino acid with the id "{residue}". Ids are those of the file.')
        names = ", ".join(_name(one) for one in found)
        raise ValueError(
            f'{method}: several residues have the id "{residue}": {names}. Give the chain, '
            f'"{found[0].chain.id}:{number}", or the index, {found[0].index}.'
        )
    try:
        place = index(residue)
    except TypeError:
        raise TypeError(f"{method}: a residue is one of the topology, its index or its id, not {residue!r}.") from None
    if not 0 <= place < len(residues):
        raise ValueError(f"{method}: there is no residue {place}: the topology has {len(residues)}, from 0.")
    return residues[place]


def _atom(residue: app.topology.Residue, method: str, *names: str) -> Atom:
    """The atom with the first of these names that the residue has.

    :raises ValueError: if it has none of them
    """
    atoms = {atom.name: atom for atom in residue.atoms()}
    found = next((atoms[name] for name in names if name in atoms), None)
    if found is None:
        raise ValueError(f"{method}: {_name(residue)} has no {method}: it has no atom {' or '.join(names)}.")
    return found


def _before(topology: app.Topology, residue: app.topology.Residue, method: str) -> Atom:
    return _bonded(topology, _atom(residue, method, "N"), "C", "before", method)


def _after(topology: app.Topology, residue: app.topology.Residue, method: str) -> Atom:
    return _bonded(topology, _atom(residue, method, "C"), "N", "after", method)


def _bonded(topology: app.Topology, atom: Atom, name: str, where: str, method: str) -> Atom:
    """The atom of another residue with a name that an atom is bonded to.

    :raises ValueError: if there is none: at an end of the chain
    """
    if topology.getNumBonds() == 0:
        raise ValueError(
            f"{method}: the topology has no bonds, which tell the order of residues. Call its method "
            "createStandardBonds() first."
        )
    for first, second in topology.bonds():
        if atom not in (first, second):
            continue
        other = second if first is atom else first
        if other.name == name:
            return other
    raise ValueError(
        f"{method}: {_name(atom.residue)} has no {method}: its {atom.name} is not bonded to {name} of a residue "
        f"{where} it. It is an end of its chain."
    )
