# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Molecules without a force field, and the lengths of rigid water."""

import numpy as np
import openmm as mm
from openmm import app, unit


def topology_of(symbols, bonds=(), residues=1):
    """Atoms of residues of the same size, without bonds unless given."""
    topology = app.Topology()
    chain = topology.addChain("A")
    size = len(symbols) // residues
    for n, symbol in enumerate(symbols):
        if n % size == 0:
            residue = topology.addResidue("MOL", chain)
        element = None if symbol is None else app.Element.getBySymbol(symbol)
        topology.addAtom(f"{symbol or 'B'}{n}", element, residue)
    atoms = list(topology.atoms())
    for i, j in bonds:
        topology.addBond(atoms[i], atoms[j])
    return topology


def system_of(topology, periodic=None):
    """Masses, and a Force without any term that makes the System periodic."""
    system = mm.System()
    for atom in topology.atoms():
        system.addParticle(12 if atom.element is None else atom.element.mass)
    force = mm.CustomExternalForce("0")
    if periodic is not None:
        system.setDefaultPeriodicBoxVectors(*periodic)
        force = mm.CustomBondForce("0")
        force.setUsesPeriodicBoundaryConditions(True)
    system.addForce(force)
    return system


ANGLE = float(np.radians(104.52))


def water(oxygen=(0, 0, 0), length=0.09572, angle=ANGLE):
    half = length * np.array([[np.sin(angle / 2), np.cos(angle / 2), 0], [-np.sin(angle / 2), np.cos(angle / 2), 0]])
    return np.array([oxygen, *(np.array(oxygen) + half)])


WATER = {("O", "H"): 0.09572, ("H", "O", "H"): 104.52 * unit.degrees}
HH = 2 * 0.09572 * np.sin(ANGLE / 2)
