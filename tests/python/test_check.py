# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints check`: files in, a report and an exit status out."""

from __future__ import annotations

import json
from pathlib import Path

import openmm as mm
import pytest
from command import assert_one_sentence, command
from force_fields import AMBER14, force_field, villin_system
from openmm import app

import openmmconstraints as mc
from openmmconstraints.commands.cli import main

DATA = Path(app.__file__).with_name("data")


def write(path: Path, thing) -> Path:
    path.write_text(mm.XmlSerializer.serialize(thing))
    return path


@pytest.fixture(scope="module")
def water(tmp_path_factory):
    """A water molecule, its flexible bonds constrained: files of System, State and topology."""
    folder = tmp_path_factory.mktemp("water")
    pdb = app.PDBFile(str(DATA / "tip3p.pdb"))
    modeller = app.Modeller(pdb.topology, pdb.positions)
    modeller.delete([r for r in modeller.topology.residues() if r.index > 0])
    with open(folder / "water.pdb", "w") as file:
        app.PDBFile.writeFile(modeller.topology, modeller.positions, file)
    system = force_field(*AMBER14).createSystem(modeller.topology, constraints=app.HBonds, rigidWater=False)
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions(modeller.positions)
    write(folder / "system.xml", system)
    write(folder / "state.xml", context.getState(positions=True))
    return folder


def status_and_text(capsys, *arguments) -> tuple[int, str]:
    status = main(["check", *map(str, arguments)])
    return status, capsys.readouterr().out


@pytest.mark.long
def test_check_of_villin_ends_with_a_verdict(tmp_path):
    """In a process of its own, from the files that a user has."""
    system = villin_system(nonbondedMethod=app.PME, constraints=app.HBonds)
    result = command("check", write(tmp_path / "system.xml", system), DATA / "test.pdb", "--step-size", "2")
    assert result.returncode == 0, result.stderr
    assert result.stdout.rstrip().splitlines()[-1].startswith("Healthy")
    assert "time step:" in result.stdout
    assert "Clusters of constraints" in result.stdout


def test_check_names_atoms_of_a_topology(water, capsys):
    arguments = water / "system.xml", water / "state.xml", "--topology", water / "water.pdb", "--step-size", "4"
    status, text = status_and_text(capsys, *arguments)
    assert status == 0
    assert "HOH1:H1 - A:HOH1:O - A:HOH1:H2" in " ".join(text.split())
    assert "has fewer than 5 steps a period" in " ".join(text.replace("│", " ").split())


def test_exit_status_is_1_for_errors_and_where_strict_for_warnings(water, tmp_path, capsys):
    step = ("--step-size", "4")
    assert status_and_text(capsys, water / "system.xml")[0] == 0
    assert status_and_text(capsys, water / "system.xml", "--strict")[0] == 0
    assert status_and_text(capsys, water / "system.xml", *step)[0] == 0
    assert status_and_text(capsys, water / "system.xml", *step, "--strict")[0] == 1
    system = mm.XmlSerializer.deserialize((water / "system.xml").read_text())
    system.addConstraint(0, 1, 0.2)
    status, text = status_and_text(capsys, write(tmp_path / "bad.xml", system))
    assert status == 1
    assert "contradictory" in text
    assert text.rstrip().endswith("Not ready to run: 1 error.")


def test_check_names_an_expression_whose_gradient_vanishes(tmp_path, capsys):
    system = mm.System()
    system.addParticle(12)
    restraint = mc.CustomConstraintForce(1, "(z1-0.25)^2")
    restraint.addConstraint([0])
    system.addForce(restraint)
    context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0.26]])
    files = write(tmp_path / "system.xml", system), write(tmp_path / "state.xml", context.getState(positions=True))
    status, text = status_and_text(capsys, *files, "--json")
    (finding,) = json.loads(text)["findings"]
    assert (status, finding["severity"], finding["kind"]) == (1, "error", "no-gradient")
    assert "(z1-0.25)^2" in finding["message"]


def test_check_writes_json(water, capsys):
    status, text = status_and_text(capsys, water / "system.xml", water / "state.xml", "--json")
    data = json.loads(text)
    assert (status, data["ok"], data["counts"]["constraints"], data["degreesOfFreedom"]) == (0, True, 2, 4)
    assert data["placement"]["shift"] < 1e-3


@pytest.mark.parametrize(
    "words",
    ["system --json state", "--json system state", "system --step-size 2 state --json", "--json system -- state"],
)
def test_files_may_follow_options(water, capsys, words):
    arguments = [water / f"{word}.xml" if word in ("system", "state") else word for word in words.split()]
    status, text = status_and_text(capsys, *arguments)
    assert (status, json.loads(text)["placement"]["shift"] < 1e-3) == (0, True)


def test_what_check_does_not_know_is_named(water, capsys):
    assert main(["check", "--json", str(water / "system.xml"), "--steps", "2", "3"]) == 2
    assert "unrecognized arguments: --steps" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["check", "--json"])
    assert "the following arguments are required: SYSTEM.xml" in capsys.readouterr().err


def test_check_judges_tolerance_solver_and_precision(water, capsys):
    options = ("--tolerance", "1e-9", "--precision", "single", "--solver", "Iterative", "--json")
    data = json.loads(status_and_text(capsys, water / "system.xml", *options)[1])
    assert [finding["kind"] for finding in data["findings"]] == ["tolerance"]
    assert data["clusters"][0]["solver"] == "iterative"
    assert data["recommendedTolerance"] == 1e-6


@pytest.mark.parametrize(("given", "meant"), [("0.002", "2"), ("0.0005", "0.5"), ("0.015", "15"), ("1e-3", "1")])
def test_a_step_size_that_looks_like_picoseconds_is_refused(water, capsys, given, meant):
    assert main(["check", str(water / "system.xml"), "--step-size", given]) == 2
    assert capsys.readouterr().err.endswith(f" fs; did you mean {meant}?\n")


def test_a_short_step_size_is_taken(water, capsys):
    assert status_and_text(capsys, water / "system.xml", "--step-size", "0.1")[0] == 0


def test_files_that_do_not_fit_are_one_sentence(water, tmp_path):
    system, state = water / "system.xml", water / "state.xml"
    assert_one_sentence(command("check", state), "holds a State, not a System")
    assert_one_sentence(command("check", system, system), "holds a System, not a State")


@pytest.mark.parametrize("case", ["velocities", "broken", "another", "tolerance", "binary"])
def test_mistakes_are_told(case, water, tmp_path, capsys):
    system = water / "system.xml"
    lonely = mm.System()
    lonely.addParticle(1)
    context = mm.Context(lonely, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    context.setPositions([[0, 0, 0]])
    (tmp_path / "broken.pdb").write_text("ATOM      x\n")
    (tmp_path / "binary.pdb").write_bytes(b"\xff\xfe\x00")
    arguments, words = {
        "velocities": ([system, write(tmp_path / "state.xml", context.getState(velocities=True))], "no positions"),
        "broken": ([system, tmp_path / "broken.pdb"], "cannot be read as a structure"),
        "another": ([system, DATA / "test.pdb"], "8867 atoms"),
        "tolerance": ([system, "--tolerance", "2"], "less than 1"),
        "binary": ([system, "--topology", tmp_path / "binary.pdb"], "not a text file"),
    }[case]
    assert main(["check", *map(str, arguments)]) == 2
    message = capsys.readouterr().err
    assert words in message
    assert len(message.splitlines()) == 1
