# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Files that `openmm-constraints check` reads: formats, packed ones, and those without extra particles."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit

from openmmconstraints.commands.cli import main
from openmmconstraints.inspection.errors import UserError
from openmmconstraints.terminal.files import load_structure, load_topology

DATA = Path(app.__file__).with_name("data")
POSITIONS = np.array([[0.1, 0.2, 0.3], [0.1957, 0.2, 0.3], [0.076, 0.2927, 0.3]])  # nm: a molecule of water
ATOMS = (("O", 16.0), ("H1", 1.0), ("H2", 1.0))
GRO = "water\n3\n" + "".join(
    f"{1:5d}{'HOH':<5s}{name:>5s}{i + 1:5d}" + "".join(f"{x:8.4f}" for x in POSITIONS[i]) + "\n"
    for i, (name, _) in enumerate(ATOMS)
)
AMBER = "water\n    3\n" + "".join(
    "".join(f"{10 * x:12.7f}" for x in POSITIONS[rows].ravel()) + "\n" for rows in ([0, 1], [2])
)


def water_system() -> mm.System:
    system = mm.System()
    for _, mass in ATOMS:
        system.addParticle(mass)
    for i, j in ((0, 1), (0, 2)):
        system.addConstraint(i, j, 0.0957)
    return system


@pytest.fixture
def water(tmp_path):
    """A folder with a System and the same positions in every format."""
    (tmp_path / "system.xml").write_text(mm.XmlSerializer.serialize(water_system()))
    topology = app.Topology()
    residue = topology.addResidue("HOH", topology.addChain("A"))
    for name, _ in ATOMS:
        topology.addAtom(name, app.Element.getBySymbol(name[0]), residue)
    for ending, kind in (("pdb", app.PDBFile), ("cif", app.PDBxFile)):
        with open(tmp_path / f"start.{ending}", "w") as file:
            kind.writeFile(topology, POSITIONS * unit.nanometer, file)
    (tmp_path / "start.gro").write_text(GRO + "   3.0   4.0   5.0\n")
    (tmp_path / "start.rst7").write_text(AMBER)
    (tmp_path / "start.inpcrd").write_text(AMBER)
    context = mm.Context(water_system(), mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(POSITIONS)
    (tmp_path / "start.xml").write_text(mm.XmlSerializer.serialize(context.getState(positions=True)))
    for path in list(tmp_path.iterdir()):
        (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    return tmp_path


FORMATS = ("pdb", "cif", "gro", "rst7", "inpcrd", "xml")


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("ending", FORMATS)
def test_check_reads_positions(water, capsys, ending, packed):
    assert main(["check", str(water / f"system.xml{packed}"), str(water / f"start.{ending}{packed}"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["placement"]["shift"] < 2e-4  # nm, of rounded positions
    assert data["counts"]["constraints"] == 2


@pytest.mark.parametrize("name", ["start.PDB", "start.Gro.GZ"])
def test_endings_are_taken_in_any_case(water, name):
    (water / name).write_bytes((water / name.lower()).read_bytes())
    assert np.allclose(load_structure(water / name).positions._value, POSITIONS, atol=1e-4)


def test_a_netcdf_file_of_amber_is_read(tmp_path):
    netcdf = pytest.importorskip("scipy.io").netcdf_file
    path = tmp_path / "start.rst7"
    with netcdf(path, "w") as file:
        file.Conventions, file.ConventionVersion = b"AMBERRESTART", b"1.0"
        file.createDimension("atom", 3)
        file.createDimension("spatial", 3)
        coordinates = file.createVariable("coordinates", "d", ("atom", "spatial"))
        coordinates[:] = 10 * POSITIONS
        coordinates.units = b"angstrom"
        file.createDimension("once", 1)
        file.createVariable("time", "d", ("once",))[:] = 0.0
    assert np.allclose(load_structure(path).positions.value_in_unit(unit.nanometer), POSITIONS)


def test_the_box_of_gro_and_amber_files_is_that_of_the_positions(water):
    assert [v[i]._value for i, v in enumerate(load_structure(water / "start.gro").box)] == [3, 4, 5]
    (water / "boxed.rst7").write_text(AMBER + "".join(f"{x:12.7f}" for x in (30, 40, 50, 90, 90, 90)) + "\n")
    box = load_structure(water / "boxed.rst7").box.value_in_unit(unit.nanometer)
    assert [v[i] for i, v in enumerate(box)] == pytest.approx([3, 4, 5])
    assert load_structure(water / "start.rst7").box is None


def test_a_gro_file_names_atoms(water, capsys):
    names = [f"{atom.residue.name}{atom.residue.id}:{atom.name}" for atom in load_topology(water / "start.gro").atoms()]
    assert names == ["HOH1:O", "HOH1:H1", "HOH1:H2"]
    system = water_system()
    system.addConstraint(0, 1, 0.2)
    (water / "bad.xml").write_text(mm.XmlSerializer.serialize(system))
    assert main(["check", str(water / "bad.xml"), str(water / "start.gro")]) == 1
    assert "HOH1:H1" in capsys.readouterr().out


def message_of(capsys, *words) -> str:
    assert main(["check", *map(str, words)]) == 2
    message = capsys.readouterr().err
    assert len(message.splitlines()) == 1, message
    return message


def test_mistakes_with_files_are_told(water, capsys):
    system = water / "system.xml"
    assert "no names of atoms: give a .pdb, .cif or .gro" in message_of(
        capsys, system, "--topology", water / "start.rst7"
    )
    assert "not a file with names of atoms" in message_of(capsys, system, "--topology", water / "start.xml")
    for name, content in (("plain.pdb.gz", b"ATOM"), ("half.xml.gz", (water / "start.xml.gz").read_bytes()[:40])):
        (water / name).write_bytes(content)
        assert "not a whole file of gzip" in message_of(capsys, system, water / name)
    (water / "broken.gro").write_text("x\n")
    assert "cannot be read as a structure" in message_of(capsys, system, water / "broken.gro")


# ---- extra particles -------------------------------------------------------------------------------------------------
def without_extra(path: Path, keep) -> None:
    """A PDB file of two molecules from OpenMM's data, without the atoms that are not kept, as other programs write."""
    pdb = app.PDBFile(str(DATA / path.name.partition("-")[2]))
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.delete([r for r in modeller.topology.residues() if r.index > 1])
    modeller.delete([a for a in modeller.topology.atoms() if not keep(a)])
    with open(path, "w") as file:
        app.PDBFile.writeFile(modeller.topology, modeller.positions, file)


def two_molecules(name: str, force_field: str) -> mm.System:
    pdb = app.PDBFile(str(DATA / name))
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.delete([r for r in modeller.topology.residues() if r.index > 1])
    fields = app.ForceField(force_field)
    if fields is not None and "swm4" in name:
        modeller.addExtraParticles(fields)
    return fields.createSystem(modeller.topology)


def test_missing_virtual_sites_are_named(tmp_path, capsys):
    path = tmp_path / "few-tip4pew.pdb"
    without_extra(path, lambda atom: atom.element is not None)
    (tmp_path / "system.xml").write_text(mm.XmlSerializer.serialize(two_molecules("tip4pew.pdb", "tip4pew.xml")))
    message = message_of(capsys, tmp_path / "system.xml", path)
    assert "has 6 atoms, the System 8 particles: virtual sites 3 (of HOH1), 7 (of HOH2) are missing" in message
    assert "addExtraParticles(forcefield)" in message
    assert "virtual sites 3 (of HOH1)" in message_of(capsys, tmp_path / "system.xml", "--topology", path)


def test_missing_drude_particles_are_named(tmp_path, capsys):
    path = tmp_path / "few-swm4ndp.pdb"
    without_extra(path, lambda atom: atom.element is not None)
    (tmp_path / "system.xml").write_text(mm.XmlSerializer.serialize(two_molecules("swm4ndp.pdb", "swm4ndp.xml")))
    message = message_of(capsys, tmp_path / "system.xml", path)
    assert "has 6 atoms, the System 10 particles: virtual sites " in message
    assert " and Drude particles " in message
    assert message.count("(of HOH1)") == message.count("(of HOH2)") == 2, message


def test_another_number_is_not_said_to_be_missing_sites(water, tmp_path, capsys):
    system = two_molecules("tip4pew.pdb", "tip4pew.xml")
    (tmp_path / "other.xml").write_text(mm.XmlSerializer.serialize(system))
    message = message_of(capsys, tmp_path / "other.xml", water / "start.pdb")
    assert "has 3 atoms, the System 8 particles (2 of them virtual sites and Drude particles). Give the file" in message


def test_long_lists_are_cut():
    from openmmconstraints.terminal.extra_particles import require_particles

    system = mm.System()
    for i in range(40):
        system.addParticle(i % 2 == 0)
        if i % 2 == 1:
            system.setVirtualSite(i, mm.TwoParticleAverageSite(i - 1, 0, 0.5, 0.5))
    with pytest.raises(UserError, match=r"virtual sites 1, 3, 5, \.\.\. \(20 in all\) are missing"):
        require_particles(system, 20, None, Path("x.rst7"))
