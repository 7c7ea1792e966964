# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What is wrong, or doubtful, with a System, before hours are spent on it."""

from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("dipeptide_in_water.pdb")
system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(
    pdb.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.8, constraints=app.HBonds
)
health = mc.Health(system, pdb.positions, topology=pdb.topology, integrator=mc.RattleIntegrator(0.002))
print(health)
assert health.ok
