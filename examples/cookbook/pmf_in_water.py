# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The potential of mean force of Na+ and Cl- in water, from the force that holds their distance."""

import numpy as np
import openmm.unit as u
from openmm import app

import openmmconstraints as mc

pdb = app.PDBFile("salt_in_water.pdb")
system = app.ForceField("amber14/tip3p.xml").createSystem(pdb.topology, nonbondedMethod=app.PME, nonbondedCutoff=0.8)
profile = mc.freeenergy.mean_force_profile(
    system,
    pdb.positions,
    mc.freeenergy.Distance(0, 1),
    np.linspace(0.25, 0.37, 5) * u.nanometer,
    mc.RattleLangevinIntegrator(300 * u.kelvin, 5 / u.picosecond, 4 * u.femtosecond),
    steps=300,  # 1.2 ps each, to see that it works: take 100,000
    pull_steps=25,
    equilibration=40,
    seed=1,
    progress=False,
).integrate()
for r, a in zip(profile.values, profile.free_energy, strict=True):
    print(f"{r:.2f} nm  {a:6.1f} kJ/mol")
profile.plot().figure.savefig("pmf.png")
