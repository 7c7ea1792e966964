# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What docs/coming-from.md has in its tables, beside the snippets that test_docs.py runs."""

import re
from pathlib import Path

import openmm as mm
import pytest
from force_fields import AMBER14, force_field
from openmm import app

import openmmconstraints as mc

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/coming-from.md").read_text()


def test_options_that_people_look_for_are_there():
    gromacs = "constraints = h-bonds`|shake-tol|pull-coord1-type = constraint|pull-coord1-rate|pull-coord1-dim = N N Y"
    gromacs += "|freezegrps|freezedim = N N Y|v-rescale"
    lammps = "fix shake|fix rattle|fix rigid|fix rigid/small|fix setforce|nve/manifold|run_style respa"
    amber = "ntc=2|ntc=3|noshakemask|ibelly=1|jar=1|nrespa|ntt=3"
    cp2k = (
        "&COLLECTIVE|&G3X3|&HBONDS|TARGET_GROWTH|&LAGRANGE_MULTIPLIERS|&FIXED_ATOMS|COMPONENTS_TO_FIX|SHAKE_TOLERANCE"
    )
    missing = [option for option in f"{gromacs}|{lammps}|{amber}|{cp2k}".split("|") if option not in PAGE]
    assert missing == []


TABLES = "\n".join(line.split("|")[2] for line in PAGE.splitlines() if line.startswith("|"))  # what is written here
OWNERS = {
    "mc": mc,
    "mm": mm,
    "app": app,
    "held": mc.ConstraintForce,
    "integrator": mc.RattleIntegrator,
    "system": mm.System,
}


@pytest.mark.parametrize(("owner", "name"), sorted(set(re.findall(r"`(\w+)\.(\w+)", TABLES))))
def test_what_is_to_be_written_exists(owner, name):
    assert hasattr(OWNERS[owner], name)


VALUES = {"z1 - z0": 0.3, "x1^2 + y1^2 + z1^2 - r^2": 0.14**0.5, "z2 - z1 - d": 0.3}
VALUES["distance(p1, p2) - distance(p2, p3) - d"] = 0.14**0.5 - 0.2**0.5


@pytest.mark.parametrize(("kind", "number", "expression"), re.findall(r'(Custom\w+)\((\d), "([^"]+)"\)', TABLES))
def test_expressions_of_the_tables_can_be_held(kind, number, expression):
    """By particles, or by groups of one each. The last name is that of the value."""
    system, force = mm.System(), getattr(mc, kind)(int(number), expression)
    force.addPerConstraintParameter(re.findall(r"[a-z]\w*", expression)[-1])
    for particle in range(3):
        system.addParticle(1)
        if hasattr(force, "addGroup"):
            force.addGroup([particle])
    force.addConstraint(list(range(int(number))), [VALUES[expression]])
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions([[0.1, 0.2, 0.3], [0.3, 0.1, 0.6], [0.5, 0.5, 0.6]])
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(2)
    assert integrator.getNumDegreesOfFreedom() == 3 * 3 - 1


def test_noshakemask_leaves_springs_where_constraints_are_removed():
    """Without flexibleConstraints=True nothing would hold these bonds: ForceField leaves out what it constrains."""
    assert "constraints=app.HBonds, flexibleConstraints=True" in PAGE
    pdb = app.PDBFile(str(ROOT / "examples/alanine_dipeptide.pdb"))
    field = force_field(*AMBER14)
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
