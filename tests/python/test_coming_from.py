# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What docs/coming-from.md has in its tables, beside the snippets that test_docs.py runs."""

from pathlib import Path

import openmm as mm
from openmm import app

import openmmconstraints as mc

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/coming-from.md").read_text()


def test_options_that_people_look_for_are_there():
    gromacs = "constraints = h-bonds`|shake-tol|pull-coord1-type = constraint|pull-coord1-rate|freezegrps|v-rescale"
    lammps = "fix shake|fix rattle|fix rigid|fix rigid/small|fix setforce|nve/manifold|run_style respa"
    amber = "ntc=2|ntc=3|noshakemask|ibelly=1|jar=1|nrespa|ntt=3"
    cp2k = "&COLLECTIVE|&G3X3|&HBONDS|TARGET_GROWTH|&LAGRANGE_MULTIPLIERS|&FIXED_ATOMS|SHAKE_TOLERANCE"
    missing = [option for option in f"{gromacs}|{lammps}|{amber}|{cp2k}".split("|") if option not in PAGE]
    assert missing == []


def test_noshakemask_leaves_springs_where_constraints_are_removed():
    """Without flexibleConstraints=True nothing would hold these bonds: ForceField leaves out what it constrains."""
    assert "constraints=app.HBonds, flexibleConstraints=True" in PAGE
    pdb = app.PDBFile(str(ROOT / "examples/alanine_dipeptide.pdb"))
    field = app.ForceField("amber14-all.xml")
    system = field.createSystem(pdb.topology, constraints=app.HBonds, flexibleConstraints=True)
    mask = {atom.index for atom in pdb.topology.atoms() if atom.residue.name == "ACE"}
    free = [k for k in range(system.getNumConstraints()) if mask & {*system.getConstraintParameters(k)[:2]}]
    for k in reversed(free):
        system.removeConstraint(k)
    assert len(free) == 3
    energies = []
    for other in (system, field.createSystem(pdb.topology)):
        context = mm.Context(other, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
        context.setPositions(pdb.positions)
        energies.append(context.getState(energy=True).getPotentialEnergy()._value)
    assert energies[0] == energies[1]
