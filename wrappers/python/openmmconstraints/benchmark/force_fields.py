# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Biomolecules with their force fields, from the files of OpenMM's package and of openmmtools'."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import openmm as mm
from openmm import app, unit

from openmmconstraints.inspection.errors import UserError

CUTOFF = 0.9  # nm


@dataclass
class Biomolecule:
    """A Model of a topology, with what makes Systems of it."""

    source: Any  # with createSystem(): an Amber file, or a force field that takes the topology first
    positions: np.ndarray  # [numParticles, 3] nm
    topology: app.Topology | None = None
    options: dict[str, Any] = field(default_factory=dict)
    box: Any = None  # where the topology has none
    is_relaxed: bool = False

    def create(self, constraints: str | None) -> mm.System:
        """See Model."""
        first = () if self.topology is None else (self.topology,)
        system = self.source.createSystem(
            *first,
            constraints=None if constraints is None else getattr(app, constraints),
            rigidWater=constraints is not None,
            removeCMMotion=False,
            **self.options,
        )
        if self.box is not None:
            system.setDefaultPeriodicBoxVectors(*self.box)
        return system


def _array(positions: unit.Quantity) -> np.ndarray:
    return np.array([[x, y, z] for x, y, z in positions.value_in_unit(unit.nanometer)])


def _periodic() -> dict[str, Any]:
    return {"nonbondedMethod": app.PME, "nonbondedCutoff": CUTOFF * unit.nanometer}


def _from_pdb(path: Path, *force_field: str, **options: Any) -> Biomolecule:
    pdb = app.PDBFile(str(path))
    return Biomolecule(app.ForceField(*force_field), _array(pdb.positions), pdb.topology, options)


def _protein_alone(topology: app.Topology, positions: unit.Quantity) -> Biomolecule:
    """Without water and ions; amber14."""
    protein = app.Modeller(topology, positions)
    protein.deleteWater()
    protein.delete([residue for residue in protein.topology.residues() if len(list(residue.atoms())) == 1])
    protein.topology.setPeriodicBoxVectors(None)
    options = {"nonbondedMethod": app.CutoffNonPeriodic, "nonbondedCutoff": CUTOFF * unit.nanometer}
    return Biomolecule(app.ForceField("amber14-all.xml"), _array(protein.positions), protein.topology, options)


# ---- from OpenMM's own package ---------------------------------------------------------------------------------------

_OPENMM = Path(app.__file__).with_name("data")


def villin() -> Biomolecule:
    """amber14 and TIP3P."""
    return _from_pdb(_OPENMM / "test.pdb", "amber14-all.xml", "amber14/tip3p.xml", **_periodic())


def villin_protein() -> Biomolecule:
    """The protein of the same alone."""
    pdb = app.PDBFile(str(_OPENMM / "test.pdb"))
    return _protein_alone(pdb.topology, pdb.positions)


def dppc() -> Biomolecule:
    """Lipid17 and TIP3P."""
    return _from_pdb(_OPENMM / "DPPC.pdb", "amber14/lipid17.xml", "amber14/tip3p.xml", **_periodic())


# ---- from openmmtools ------------------------------------------------------------------------------------------------


def openmmtools_data() -> Path:
    """The folder of the package's data. It is not imported, so that what it needs itself need not be there.

    :raises UserError: if it is not installed
    """
    spec = find_spec("openmmtools")
    for folder in (spec and spec.submodule_search_locations) or []:
        if (Path(folder) / "data" / "dhfr").is_dir():
            return Path(folder) / "data"
    raise UserError(
        "dhfr, dhfr-protein, t4-lysozyme, dna and src are made from files of openmmtools, which is not installed: "
        "pip install openmmtools, or choose other systems (--list)."
    )


def _amber(folder: str, topology: str) -> app.AmberPrmtopFile:
    return app.AmberPrmtopFile(str(openmmtools_data() / folder / topology))


def dhfr() -> Biomolecule:
    """The Joint Amber-CHARMM benchmark, with TIP3P."""
    coordinates = app.AmberInpcrdFile(str(openmmtools_data() / "dhfr" / "JAC.inpcrd"))
    topology = _amber("dhfr", "JAC.prmtop")
    return Biomolecule(topology, _array(coordinates.positions), None, _periodic(), coordinates.boxVectors)


def dhfr_protein() -> Biomolecule:
    """The protein of the same alone, amber14."""
    coordinates = app.AmberInpcrdFile(str(openmmtools_data() / "dhfr" / "JAC.inpcrd"))
    return _protein_alone(_amber("dhfr", "JAC.prmtop").topology, coordinates.positions)


def t4_lysozyme() -> Biomolecule:
    """T4 lysozyme L99A with p-xylene, ff96 and OBC1."""
    coordinates = app.AmberInpcrdFile(str(openmmtools_data() / "T4-lysozyme-L99A-implicit" / "complex.crd"))
    options = {"nonbondedMethod": app.CutoffNonPeriodic, "implicitSolvent": app.OBC1}
    topology = _amber("T4-lysozyme-L99A-implicit", "complex.prmtop")
    return Biomolecule(topology, _array(coordinates.positions), None, options)


def dna() -> Biomolecule:
    """The Drew-Dickerson dodecamer, OL15 and TIP3P."""
    pdb = app.PDBFile(str(openmmtools_data() / "dna_dodecamer_explicit" / "minimized_dna_dodecamer.pdb"))
    return Biomolecule(_amber("dna_dodecamer_explicit", "prmtop"), _array(pdb.positions), None, _periodic())


def src() -> Biomolecule:
    """Src kinase, amber99sb-ildn and TIP3P."""
    path = openmmtools_data() / "src-explicit" / "1yi6-minimized.pdb"
    return _from_pdb(path, "amber99sbildn.xml", "tip3p.xml", **_periodic())
