# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints benchmark --system system.xml --state state.xml`: a System of the user's own."""

from __future__ import annotations

import gzip
import json

import numpy as np
import openmm as mm
import pytest
from command import assert_one_sentence, command
from openmm import app, unit

import openmmconstraints as mc
from openmmconstraints.benchmark import generated
from openmmconstraints.benchmark.own import SET, read_own

TINY = ("--rounds", 3, "--seconds", 0.001, "--quick")


def serialize(path, thing):
    text = mm.XmlSerializer.serialize(thing)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def state_of(system, positions, box=None, **wanted):
    context = mm.Context(system, mm.VerletIntegrator(0.001), mm.Platform.getPlatform("Reference"))
    if box is not None:
        context.setPeriodicBoxVectors(*box)
    context.setPositions(positions)
    return context.getState(**(wanted or {"positions": True}))


@pytest.fixture
def waters(tmp_path):
    """Eight rigid molecules with a CMMotionRemover: a folder with files, the System, positions."""
    model = generated.water(8)
    system = model.create("Rigid")
    serialize(tmp_path / "start.xml", state_of(system, model.positions))
    system.addForce(mm.CMMotionRemover())
    serialize(tmp_path / "mine.xml", system)
    return tmp_path, system, model.positions


def records_of(folder, *words):
    result = command("benchmark", *TINY, *words, "--tolerances", 1e-6, cwd=folder)
    assert result.returncode == 0, result.stderr + result.stdout
    return result, json.loads((folder / "benchmark-output" / "benchmark.json").read_text())["records"]


@pytest.mark.long
def test_a_system_of_ones_own_is_compared(waters):
    folder, system, _ = waters
    packed = serialize(folder / "mine.xml.gz", system)
    result, records = records_of(folder, "--system", packed, "--state", folder / "start.xml")
    assert "mine own: 24 constraints, 24 particles" in result.stdout
    assert [(r["system"], r["set"], r["solver"]) for r in records] == [
        ("mine", "own", solver) for solver in (None, "Iterative", "MatrixInversion")
    ]
    for record in records:
        assert record["failure"] is None
        assert 0 <= record["error"] <= 1.01e-6
        assert record["step_ms"]["median"] > 0


@pytest.mark.long
def test_constraints_of_forces_are_compared_among_our_solvers(waters):
    """OpenMM's algorithm would not see them, and be fast."""
    folder, system, _ = waters
    mc.moveConstraints(system)
    result, records = records_of(
        folder, "--system", serialize(folder / "moved.xml", system), "--state", folder / "start.xml"
    )
    assert "moved own: 24 constraints" in result.stdout
    built_in, *ours = records
    assert "holds no constraint of a Force" in built_in["failure"]
    assert [record["solver"] for record in ours] == ["Iterative", "MatrixInversion"]
    for record in ours:
        assert record["failure"] is None
        assert 0 < record["error"] <= 1e-6  # that of the solver
        assert record["motion_ms"]["median"] > 0
        assert record["step_ratio"] is None


def test_what_disturbs_is_left_out_and_the_box_is_the_states(waters):
    folder, system, positions = waters
    barostat = mm.MonteCarloBarostat(1, 300)
    nonbonded = next(force for force in system.getForces() if isinstance(force, mm.NonbondedForce))
    nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    system.addForce(barostat)
    box = [mm.Vec3(4, 0, 0), mm.Vec3(0, 5, 0), mm.Vec3(0, 0, 6)]
    serialize(folder / "start.xml", state_of(system, positions, box))
    chosen = read_own(serialize(folder / "mine.xml", system), folder / "start.xml")
    made = chosen.model.create(SET)
    assert (chosen.name, chosen.entry.sets) == ("mine", ("own",))
    assert not {"MonteCarloBarostat", "CMMotionRemover"} & {force.getName() for force in made.getForces()}
    assert made.getNumForces() == system.getNumForces() - 2
    assert [made.getDefaultPeriodicBoxVectors()[i][i]._value for i in range(3)] == [4, 5, 6]
    assert np.allclose(chosen.model.positions, positions)


def test_positions_of_a_structure_are_minimized(waters):
    folder, system, positions = waters
    topology = app.Topology()
    chain = topology.addChain()
    for _ in range(system.getNumParticles() // 3):
        residue = topology.addResidue("HOH", chain)
        for name in ("O", "H1", "H2"):
            topology.addAtom(name, app.Element.getBySymbol(name[0]), residue)
    with open(folder / "start.pdb", "w") as file:
        app.PDBFile.writeFile(topology, positions * unit.nanometer, file)
    from_pdb = read_own(folder / "mine.xml", folder / "start.pdb").model.positions
    before, after = (state_of(system, x, energy=True).getPotentialEnergy()._value for x in (positions, from_pdb))
    assert after < before
    for i, j, length in (system.getConstraintParameters(k) for k in range(system.getNumConstraints())):
        assert np.linalg.norm(from_pdb[i] - from_pdb[j]) == pytest.approx(length._value, rel=1e-4)


def test_mistakes_are_told_in_one_sentence(waters):
    folder, system, positions = waters
    free = mm.System()
    free.addParticle(1)
    serialize(folder / "free.xml", free)
    serialize(folder / "free-start.xml", state_of(free, [[0, 0, 0]]))
    serialize(folder / "fast.xml", state_of(system, positions, velocities=True))
    for options, words in (
        (("--system", "mine.xml"), ("--system needs --state",)),
        (("--state", "start.xml"), ("--state is for --system",)),
        (("--system", "none.xml", "--state", "start.xml"), ("cannot read 'none.xml'",)),
        (("--system", "start.xml", "--state", "start.xml"), ("holds a State, not a System",)),
        (("--system", "mine.xml", "--state", "fast.xml"), ("'fast.xml' has no positions", "getState(positions=True)")),
        (("--system", "mine.xml", "--state", "free-start.xml"), ("has 1 atoms, the System 24 particles",)),
        (("--system", "free.xml", "--state", "free-start.xml"), ("has no constraints",)),
        (("--system", "mine.xml", "--state", "start.xml", "--systems", "water"), ("--systems is for systems that",)),
        (("--system", "mine.xml", "--state", "start.xml", "--constraints", "Rigid"), ("--constraints is for",)),
    ):
        assert_one_sentence(command("benchmark", "--quick", *options, cwd=folder), *words)
    assert not (folder / "benchmark-output").exists()
