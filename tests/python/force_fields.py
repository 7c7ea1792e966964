# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Force fields and Systems of OpenMM's files, read and made once for all tests."""

from functools import cache
from importlib.resources import files

import openmm as mm
from openmm import app

AMBER14 = ("amber14-all.xml", "amber14/tip3p.xml")
CHARMM36 = ("charmm36.xml", "charmm36/water.xml")


@cache
def force_field(*names: str) -> app.ForceField:
    """Making Systems does not change it."""
    return app.ForceField(*names)


@cache
def villin_file() -> app.PDBFile:
    """Villin in water: 8867 atoms, 582 of which are the protein."""
    return app.PDBFile(str(files("openmm.app") / "data/test.pdb"))


@cache
def _villin_xml(**options: object) -> str:
    return mm.XmlSerializer.serialize(force_field(*AMBER14).createSystem(villin_file().topology, **options))


def villin_system(**options: object) -> mm.System:
    """Villin in water by AMBER14, a System of the caller's own: options are those of createSystem()."""
    return mm.XmlSerializer.deserialize(_villin_xml(**options))
