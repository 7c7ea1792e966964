# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A small peptide with three waters, from a file of OpenMM."""

from force_fields import villin_file
from openmm import app


def ring_in_water():
    """Topology and positions of PHE-GLY-MET-THR-SER-LYS of villin, closed to a ring, with three waters.

    A ring has no termini: ForceField searches CHARMM's patches of these for half a minute.
    """
    pdb = villin_file()
    modeller = app.Modeller(pdb.topology, pdb.positions)
    residues = list(modeller.topology.residues())
    waters = [residue for residue in residues if residue.name == "HOH"]
    kept = [*residues[9:13], residues[14], residues[6], *waters[:3]]
    modeller.delete([residue for residue in residues if residue not in kept])
    topology = modeller.topology
    atoms = {(residue.index, atom.name): atom for residue in topology.residues() for atom in residue.atoms()}
    bonded = {frozenset(bond[:2]) for bond in topology.bonds()}
    for i in range(6):
        ends = atoms[i, "C"], atoms[(i + 1) % 6, "N"]
        if frozenset(ends) not in bonded:
            topology.addBond(*ends)
    return topology, modeller.positions
