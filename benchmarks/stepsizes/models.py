# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Villin in explicit and in implicit solvent, and the configurations that are run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openmm as mm
from openmm import app, unit

import openmmconstraints as mc
from openmmconstraints.helpers.force_field import Which

#: Sets of constraints, as the arguments `bonds` and `angles` of openmmconstraints.constrain().
SETS: dict[str, tuple[Which, Which]] = {
    "HBonds": ("hydrogens", None),
    "AllBonds": ("all", None),
    "HAngles": ("all", "hydrogens"),
    "AllAngles": ("all", "all"),
}
#: Force groups, in the order in which energies are given.
TERMS = ("bonds", "angles", "torsions", "nonbonded")
TEMPERATURE = 300.0  # K
FRICTION = 1.0  # 1/ps
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Model:
    """Atoms and their force field, without constraints."""

    topology: app.Topology
    positions: unit.Quantity
    force_field: app.ForceField
    options: dict[str, Any] = field(default_factory=dict)  # of createSystem

    def make_system(self, constraints: str, hydrogen_mass: float | None = None) -> mm.System:
        """A System with the constraints of one of SETS and rigid water; its force groups are numbered as TERMS.

        :param hydrogen_mass: Da, taken from the atom that carries the hydrogen; water keeps its masses
        """
        mass = None if hydrogen_mass is None else hydrogen_mass * unit.dalton
        options = {**self.options, "rigidWater": True, "removeCMMotion": False, "hydrogenMass": mass}
        system = self.force_field.createSystem(self.topology, constraints=None, **options)
        _use_native_obc2(system)
        for force in system.getForces():
            force.setForceGroup(_group(force))
        bonds, angles = SETS[constraints]
        mc.constrain(system, self.topology, bonds=bonds, angles=angles)
        return system

    def make_bonded(self) -> mm.System:
        """A System without constraints, and with no other forces than bonds, angles and torsions."""
        system = self.force_field.createSystem(self.topology, constraints=None, rigidWater=False, removeCMMotion=False)
        for index in reversed(range(system.getNumForces())):
            if _group(system.getForce(index)) == TERMS.index("nonbonded"):
                system.removeForce(index)
        return system


def _group(force: mm.Force) -> int:
    kinds = (mm.HarmonicBondForce, mm.HarmonicAngleForce, mm.PeriodicTorsionForce)
    return next((group for group, kind in enumerate(kinds) if isinstance(force, kind)), TERMS.index("nonbonded"))


def _use_native_obc2(system: mm.System) -> None:
    """Put GBSAOBCForce in the place of the CustomGBForce of implicit/obc2.xml: the same energy, five times faster."""
    offset = 0.009  # nm, between the radius and "or"
    for index, force in enumerate(system.getForces()):
        if isinstance(force, mm.CustomGBForce):
            native = mm.GBSAOBCForce()
            native.setNonbondedMethod(mm.GBSAOBCForce.NoCutoff)
            native.setSolventDielectric(78.5)
            for i in range(force.getNumParticles()):
                charge, reduced, scaled = force.getParticleParameters(i)
                native.addParticle(charge, reduced + offset, scaled / reduced)
            system.removeForce(index)
            system.addForce(native)
            return


def _villin() -> app.PDBFile:
    return app.PDBFile(str(Path(app.__file__).with_name("data") / "test.pdb"))


def in_water() -> Model:
    """8,867 atoms: ff14SB and TIP3P with PME."""
    pdb = _villin()
    options = {"nonbondedMethod": app.PME, "nonbondedCutoff": 0.9 * unit.nanometer}
    return Model(pdb.topology, pdb.positions, app.ForceField("amber14-all.xml", "amber14/tip3p.xml"), options)


def alone() -> Model:
    """582 atoms: ff14SB, implicit solvent (OBC2), no cutoff."""
    pdb = _villin()
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.delete([r for r in modeller.topology.residues() if not any(atom.name == "CA" for atom in r.atoms())])
    return implicit(modeller.topology, modeller.positions)


def implicit(topology: app.Topology, positions: unit.Quantity) -> Model:
    """Any protein in implicit solvent (OBC2)."""
    return Model(topology, positions, app.ForceField("amber14-all.xml", "implicit/obc2.xml"))


MODELS: dict[str, Callable[[], Model]] = {"implicit": alone, "water": in_water}


@dataclass(frozen=True)
class Configuration:
    """The settings of a run."""

    constraints: str  # one of SETS
    step: float  # fs
    hydrogen_mass: float | None = None  # Da
    integrator: str = "LangevinMiddle"  # or "g-BAOAB", or "Rattle" for constant energy
    seed: int = 1

    @property
    def name(self) -> str:
        """For example: HAngles 4 fs HMR 3, g-BAOAB"""
        masses = "" if self.hydrogen_mass is None else f" HMR {self.hydrogen_mass:g}"
        which = "" if self.integrator == "LangevinMiddle" else f", {self.integrator}"
        again = "" if self.seed == 1 else ", again"
        return f"{self.constraints} {self.step:g} fs{masses}{which}{again}"

    @property
    def key(self) -> str:
        """The name, as a part of file names."""
        return self.name.replace(", ", "-").replace(" ", "-")

    def truth(self) -> Configuration:
        """The run with the same constraints in which errors of the time step are negligible."""
        return Configuration(self.constraints, 1.0)

    def make_integrator(self, seed: int) -> mc.RattleLangevinIntegrator | mc.RattleIntegrator:
        """The integrator, with a tolerance at which constraints do not contribute to the drift of energies."""
        if self.integrator == "Rattle":
            integrator = mc.RattleIntegrator(self.step * unit.femtosecond)
        else:
            integrator = mc.RattleLangevinIntegrator(TEMPERATURE, FRICTION, self.step * unit.femtosecond)
            integrator.setRandomNumberSeed(seed)
            integrator.setNumGeodesicSteps(2 if self.integrator == "g-BAOAB" else 0)
        integrator.setConstraintTolerance(TOLERANCE)
        return integrator


def _of(constraints: str, *steps: float, **options: Any) -> list[Configuration]:
    return [Configuration(constraints, step, **options) for step in steps]


CONFIGURATIONS: dict[str, list[Configuration]] = {
    "implicit": [
        *_of("HBonds", 1, 2),
        *_of("HBonds", 2, seed=2),
        *_of("HBonds", 4),
        *_of("HBonds", 4, hydrogen_mass=1.5),
        *_of("HBonds", 4, 5, hydrogen_mass=3),
        *_of("AllBonds", 1, 3, 4),
        *_of("AllBonds", 4, 5, hydrogen_mass=3),
        *_of("HAngles", 1, 3, 4, 5),
        *_of("HAngles", 4, 5, hydrogen_mass=3),
        *_of("HAngles", 4, integrator="g-BAOAB"),
        *_of("AllAngles", 3),
        *_of("HBonds", 2, integrator="Rattle"),
        *_of("HBonds", 4, hydrogen_mass=3, integrator="Rattle"),
        *_of("AllBonds", 3, integrator="Rattle"),
        *_of("AllBonds", 4, hydrogen_mass=3, integrator="Rattle"),
        *_of("HAngles", 4, integrator="Rattle"),
        *_of("HAngles", 4, hydrogen_mass=3, integrator="Rattle"),
    ],
    "water": [
        *_of("HBonds", 2),
        *_of("HBonds", 4, hydrogen_mass=1.5),
        *_of("AllBonds", 3),
        *_of("AllBonds", 4, hydrogen_mass=3),
        *_of("HAngles", 4),
        *_of("HAngles", 5, hydrogen_mass=3),
    ],
}
