# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""freeenergy.phi() and the like: the right four atoms, and errors by name where there are none."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from force_fields import villin_file
from openmm import app
from peptide import ring_in_water

from openmmconstraints import freeenergy as fe

DIPEPTIDE = Path(__file__).parents[2] / "examples/alanine_dipeptide.pdb"


def names(topology, atoms):
    found = list(topology.atoms())
    return [f"{found[i].residue.name}{found[i].residue.id}:{found[i].name}" for i in atoms]


def degrees(positions, atoms):
    system = mm.System()
    for _ in atoms:
        system.addParticle(1)
    return np.degrees(fe.Dihedral(0, 1, 2, 3).measure(system, [positions[i] for i in atoms]))


def test_capped_alanine():
    """As the cookbook has them by hand; peptide bonds to both caps are trans."""
    pdb = app.PDBFile(str(DIPEPTIDE))
    topology = pdb.topology
    cap, alanine, _ = topology.residues()
    assert fe.phi(topology, alanine) == (4, 6, 8, 14)
    assert fe.psi(topology, 1) == (6, 8, 14, 16)
    assert fe.omega(topology, cap) == (1, 4, 6, 8)
    assert fe.omega(topology, np.int64(1)) == (8, 14, 16, 18)
    for residue in (0, 1):
        assert abs(degrees(pdb.positions, fe.omega(topology, residue))) > 160
    assert fe.Dihedral(*fe.phi(topology, 1)).label == "dihedral 4-6-8-14"


def test_a_protein_in_water():
    """Villin: all atoms are bonded one after the other, most residues are helical, side chains are staggered."""
    pdb = villin_file()
    topology = pdb.topology
    residues = [residue for residue in topology.residues() if residue.name not in ("HOH", "Cl")]
    bonded = {frozenset((bond[0].index, bond[1].index)) for bond in topology.bonds()}
    angles = {}
    for function, chosen in ((fe.phi, residues[1:]), (fe.psi, residues[:-1]), (fe.omega, residues[:-1])):
        for residue in chosen:
            atoms = function(topology, residue)
            assert all(frozenset(pair) in bonded for pair in pairwise(atoms))
            angles[function.__name__, residue.index] = degrees(pdb.positions, atoms)
    helical = [i for i in range(1, len(residues) - 1)
               if -100 < angles["phi", i] < -35 and -75 < angles["psi", i] < -5]  # fmt: skip
    assert len(helical) > 18
    assert min(abs(angle) for (name, _), angle in angles.items() if name == "omega") > 150
    first = residues[1]
    assert names(topology, fe.phi(topology, first))[0].startswith(residues[0].name)
    gamma = {residue.name: names(topology, fe.chi1(topology, residue))[3].partition(":")[2]
             for residue in residues if residue.name not in ("GLY", "ALA")}  # fmt: skip
    proline = next(residue for residue in residues if residue.name == "PRO")
    assert names(topology, fe.chi1(topology, proline)) == ["PRO21:N", "PRO21:CA", "PRO21:CB", "PRO21:CG"]
    assert names(topology, fe.phi(topology, "21")) == ["LEU20:C", "PRO21:N", "PRO21:CA", "PRO21:C"]
    expected = {"THR": "OG1", "SER": "OG", "VAL": "CG1", "PRO": "CG", "PHE": "CG"}
    assert {name: gamma[name] for name in expected} == expected


def test_ids_chains_and_insertion_codes():
    """Waters have the ids of residues, too."""
    topology = app.Topology()
    for chain_id in "AB":
        chain = topology.addChain(chain_id)
        atoms = []
        for number, insertion in (("7", ""), ("7", "X"), ("8", "")):
            residue = topology.addResidue("GLY", chain, number, insertion)
            atoms += [topology.addAtom(name, app.element.carbon, residue) for name in ("N", "CA", "C")]
        for pair in pairwise(atoms):
            topology.addBond(*pair)
    water = topology.addResidue("HOH", topology.addChain("C"), "8")
    topology.addAtom("O", app.element.oxygen, water)
    assert fe.phi(topology, "A:8") == (5, 6, 7, 8)
    assert fe.phi(topology, "B:7X") == (11, 12, 13, 14)
    assert fe.phi(topology, 4) == (11, 12, 13, 14)
    with pytest.raises(ValueError, match=r'phi: several residues have the id "8": A:GLY8, B:GLY8. .* "A:8", .* 2\.'):
        fe.phi(topology, "8")
    with pytest.raises(ValueError, match=r"several residues .* A:GLY7, A:GLY7X"):
        fe.psi(topology, "A:7")
    with pytest.raises(ValueError, match='there is no amino acid with the id "C:8"'):
        fe.psi(topology, "C:8")


def test_a_ring_has_no_ends():
    topology, _ = ring_in_water()
    assert names(topology, fe.phi(topology, 0)) == ["SER15:C", "LYS7:N", "LYS7:CA", "LYS7:C"]
    assert names(topology, fe.psi(topology, "15")) == ["SER15:N", "SER15:CA", "SER15:C", "LYS7:N"]


def test_what_is_not_there_is_named():
    topology = villin_file().topology
    residues = list(topology.residues())
    last = max(residue.index for residue in residues if residue.name not in ("HOH", "Cl"))
    glycine = next(residue for residue in residues if residue.name == "GLY")
    alanine = next(residue for residue in residues if residue.name == "ALA")
    water = next(residue for residue in residues if residue.name == "HOH")
    with pytest.raises(ValueError, match=r"phi: \S*LEU\d+ has no phi: its N is not bonded to C of a residue before it"):
        fe.phi(topology, 0)
    for function in (fe.psi, fe.omega):
        with pytest.raises(ValueError, match=r"PHE\d+ has no (psi|omega): its C is not bonded to N of a residue"):
            function(topology, last)
    with pytest.raises(ValueError, match=r"chi1: \S*GLY\d+ has no chi1: it has no atom CB"):
        fe.chi1(topology, glycine)
    with pytest.raises(ValueError, match=r"chi1: \S*ALA\d+ has no chi1: it has no atom CG or CG1 or OG or OG1 or SG"):
        fe.chi1(topology, alanine)
    linked = app.PDBFile(str(DIPEPTIDE)).topology
    cap, alanine, _ = linked.residues()
    next(atom for atom in cap.atoms() if atom.name == "C").name = "CD"  # of a side chain
    with pytest.raises(ValueError, match="ALA2 has no phi: its N is not bonded to C"):
        fe.phi(linked, alanine)
    with pytest.raises(ValueError, match=r"phi: \S*HOH\d+ has no phi: it has no atom N"):
        fe.phi(topology, water)


def test_arguments_of_the_wrong_kind():
    pdb = villin_file()
    topology = pdb.topology
    with pytest.raises(TypeError, match=r"phi: an openmm\.app\.Topology is needed, .* give its attribute, \.topology"):
        fe.phi(pdb, 1)
    with pytest.raises(TypeError, match=r"a residue is one of the topology, its index or its id, not 1\.5"):
        fe.phi(topology, 1.5)
    for wrong in (-1, topology.getNumResidues()):
        with pytest.raises(ValueError, match=f"there is no residue {wrong}: the topology has"):
            fe.phi(topology, wrong)
    other = app.PDBFile(str(DIPEPTIDE)).topology
    with pytest.raises(ValueError, match="ALA2 is of another topology"):
        fe.phi(topology, list(other.residues())[1])
    bare = app.Topology()
    residue = bare.addResidue("ALA", bare.addChain())
    for name in ("N", "CA", "C"):
        bare.addAtom(name, app.element.carbon, residue)
    with pytest.raises(ValueError, match=r"no bonds, .* createStandardBonds\(\)"):
        fe.phi(bare, 0)
