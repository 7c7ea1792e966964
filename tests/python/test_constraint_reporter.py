# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""ConstraintReporter: a row a report with value, force and work of chosen constraints."""

import csv
import gzip
import io
import math

import numpy as np
import openmm as mm
import pytest
from openmm import app, unit
from platforms import under_test

import openmmconstraints as mc

X = np.array([[0, 0, 0], [0.15, 0, 0], [0.2, 0.14, 0], [0.33, 0.16, 0.09], [0.5, 0.5, 0.6], [0.5, 0.6, 0.6]])
BOX = np.diag([0.9, 0.9, 0.9])


def chain(height=0.6):
    """A pulled distance, a dihedral, an expression, System constraints, springs between all."""
    system = mm.System()
    for mass in (12, 14, 1, 16, 10, 8):
        system.addParticle(mass)
    system.setDefaultPeriodicBoxVectors(*(mm.Vec3(*vector) for vector in BOX))
    system.addConstraint(4, 5, 0.1)
    system.addConstraint(2, 3, np.linalg.norm(X[2] - X[3]))
    pull, plane = mc.ConstraintForce(), mc.CustomConstraintForce(1, f"z1-{height}")
    pull.addDihedral(0, 1, 2, 3, 2.45)
    pull.addDistance(0, 1, 0.15, rate=0.5)
    plane.addConstraint([4])
    springs = mm.HarmonicBondForce()
    for i in range(5):
        springs.addBond(i, i + 1, 0.2, 2000)
    for force in (pull, springs, plane):
        system.addForce(force)
    return system, pull, plane


def simulation_of(system, integrator=None, positions=X):
    topology = app.Topology()
    chain = topology.addChain()
    residue = topology.addResidue("RES", chain)
    for i in range(len(positions)):
        topology.addAtom(f"C{i}", app.element.carbon, residue)
    topology.setPeriodicBoxVectors(BOX * unit.nanometer)
    integrator = integrator or mc.RattleIntegrator(0.001)
    simulation = app.Simulation(topology, system, integrator, under_test())
    simulation.context.setPositions(positions)
    return simulation


class Recorder:
    """What other functions say at the same steps."""

    def __init__(self, interval, read):
        self.interval, self.read, self.rows = interval, read, []

    def describeNextReport(self, simulation):
        return {"steps": self.interval - simulation.currentStep % self.interval, "periodic": None, "include": []}

    def report(self, simulation, state):
        self.rows.append(self.read(simulation))


def rows_of(text):
    """As pandas.read_csv: every row has the columns of the first line."""
    table = list(csv.reader(io.StringIO(text)))
    assert {len(row) for row in table} == {len(table[0])}
    return table[0], np.array(table[1:], dtype=float)


@pytest.mark.platform
def test_rows_are_values_multipliers_and_work():
    system, pull, plane = chain()
    simulation = simulation_of(system)
    integrator = simulation.integrator
    file = io.StringIO()

    def read(simulation):
        context = simulation.context
        x = context.getState(positions=True).getPositions(asNumpy=True)._value
        distance, dihedral = pull.getValues(context).values()
        own = [math.dist(x[4], x[5]), math.dist(x[2], x[3])]
        values = [*own, distance._value, dihedral._value, x[4, 2] - 0.6]
        works = integrator.getConstraintWorks()._value
        triples = list(zip(values, integrator.computeMultipliers(), works, strict=True))
        row = [simulation.currentStep, context.getTime()._value]
        row += [number for k in (3, 1, 4, 0, 2) for number in triples[k]]
        return [*row, integrator.getConstraintWork()._value]

    recorder = Recorder(5, read)
    reporter = mc.ConstraintReporter(file, 5, [(pull, 1), 1, plane, 0, (pull, -2)])
    simulation.reporters += [reporter, recorder]
    simulation.step(22)
    columns, rows = rows_of(file.getvalue())
    assert columns == [
        "step", "time (ps)",
        "dihedral 0-1-2-3 (rad)", "force of dihedral 0-1-2-3 (kJ/mol/rad)", "work of dihedral 0-1-2-3 (kJ/mol)",
        "distance 2-3 (nm)", "force of distance 2-3 (kJ/mol/nm)", "work of distance 2-3 (kJ/mol)",
        "expression 4", "force of expression 4 (kJ/mol)", "work of expression 4 (kJ/mol)",
        "distance 4-5 (nm)", "force of distance 4-5 (kJ/mol/nm)", "work of distance 4-5 (kJ/mol)",
        "distance 0-1 (nm)", "force of distance 0-1 (kJ/mol/nm)", "work of distance 0-1 (kJ/mol)",
        "work (kJ/mol)",
    ]  # fmt: skip
    assert rows[:, 0].tolist() == [5, 10, 15, 20]
    assert rows == pytest.approx(np.array(recorder.rows), rel=1e-9, abs=1e-9)
    assert rows[:, -4] == pytest.approx(0.15 + 0.5 * rows[:, 1], rel=1e-5)
    assert abs(rows[-1, -1]) > 1e-3
    assert np.array_equal(rows[:, -2], rows[:, -1]), "only this one moves"


def test_the_force_is_that_of_the_free_energy():
    """A spring of 0.15 nm that is held at 0.2 nm pulls: dA/dxi = k (xi - b) at zero temperature is minus its force, and
    what the constraint pushes is k (xi - b) in the other sense: see docs/theory/forces.md."""
    system = mm.System()
    for mass in (3, 5):
        system.addParticle(mass)
    spring, force = mm.HarmonicBondForce(), mc.ConstraintForce()
    spring.addBond(0, 1, 0.15, 1000)
    force.addDistance(0, 1, 0.2)
    system.addForce(spring)
    system.addForce(force)
    simulation = app.Simulation(
        app.Topology(), system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("Reference")
    )
    simulation.context.setPositions([[0, 0, 0], [0.2, 0, 0]])
    file = io.StringIO()
    simulation.reporters.append(mc.ConstraintReporter(file, 1))
    simulation.step(1)
    _, rows = rows_of(file.getvalue())
    assert rows[0] == pytest.approx([1, 0.001, 0.2, 50, 0, 0], abs=1e-6)


def test_works_of_a_compound_integrator_are_those_of_all_its_children():
    integrator = mm.CompoundIntegrator()
    for cls in (mc.RattleIntegrator, mc.ShakeIntegrator):
        integrator.addIntegrator(cls(0.001))
    system, pull, plane = chain()
    plane.setExpression("z1-0.6-t")
    simulation = simulation_of(system, integrator)
    file = io.StringIO()
    simulation.reporters.append(mc.ConstraintReporter(file, 5, [(pull, 0), plane]))
    simulation.step(5)
    integrator.setCurrentIntegrator(1)
    simulation.step(5)
    columns, rows = rows_of(file.getvalue())
    first, second = rows[:, [columns.index(f"work of {name} (kJ/mol)") for name in ("distance 0-1", "expression 4")]]
    assert rows[1, -1] == pytest.approx(second.sum(), rel=1e-9)
    children = [integrator.getIntegrator(i) for i in range(2)]
    apart = [mc.ConstraintIntegrator.cast(child).getConstraintWorks(asNumpy=True)._value[[2, 4]] for child in children]
    assert first == pytest.approx(apart[0], rel=1e-9)
    assert second == pytest.approx(apart[0] + apart[1], rel=1e-9)
    assert (abs(apart[1]) > 1e-4).all()


def test_positions_are_not_wrapped_for_another_reporter(tmp_path):
    system, _, plane = chain(height=1.5)
    simulation = simulation_of(system, positions=X + BOX[2])
    file = io.StringIO()
    simulation.reporters += [
        app.PDBReporter(str(tmp_path / "out.pdb"), 1, enforcePeriodicBox=True),
        mc.ConstraintReporter(file, 1, plane),
    ]
    simulation.step(1)
    _, rows = rows_of(file.getvalue())
    assert rows[0, 2] == pytest.approx(0, abs=1e-5)


def test_a_run_that_was_interrupted_continues_its_file(tmp_path):
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv.gz"
    simulation = simulation_of(chain()[0])
    simulation.reporters.append(mc.ConstraintReporter(whole, 2))
    simulation.step(12)

    simulation = simulation_of(chain()[0])
    simulation.reporters.append(mc.ConstraintReporter(str(parts), 2))
    simulation.step(6)
    checkpoint = simulation.context.createCheckpoint()
    simulation.step(4)  # lost
    simulation.reporters.clear()

    simulation = simulation_of(chain()[0])
    simulation.context.loadCheckpoint(checkpoint)
    simulation.currentStep = 6
    simulation.reporters.append(mc.ConstraintReporter(parts, 2, append=True))
    simulation.step(6)
    simulation.reporters.clear()
    with gzip.open(parts, "rt") as file:
        assert file.read() == whole.read_text()
    simulation.reporters.append(mc.ConstraintReporter(parts, 2, constraints=0, append=True))
    with pytest.raises(ValueError, match="has the columns"):
        simulation.step(1)


def test_files_are_closed_with_the_reporter_and_others_are_not(tmp_path):
    reporter = mc.ConstraintReporter(tmp_path / "a.csv", 1)
    opened = reporter._file.stream
    del reporter
    assert opened.closed
    file = io.StringIO()
    reporter = mc.ConstraintReporter(file, 1)
    del reporter
    assert not file.closed
    with pytest.raises(FileNotFoundError):
        mc.ConstraintReporter(tmp_path / "nowhere" / "a.csv", 1)


def test_by_default_all_of_forces():
    simulation = simulation_of(chain()[0])
    file = io.StringIO()
    simulation.reporters.append(mc.ConstraintReporter(file, 1))
    simulation.step(1)
    columns, _ = rows_of(file.getvalue())
    assert columns[2::3] == ["distance 0-1 (nm)", "dihedral 0-1-2-3 (rad)", "expression 4", "work (kJ/mol)"]


@pytest.mark.parametrize("form", ["returned", "kind", "coordinate"])
def test_one_constraint_is_given_in_every_form(form):
    """The dihedral is constraint 1 of its Force, and 3 of all; 0 among dihedrals."""
    system, pull, _ = chain()
    given = {
        "returned": pull.addDistance(1, 2, math.dist(X[1], X[2])),
        "kind": (pull, "distance", 1),
        "coordinate": mc.freeenergy.Distance(1, 2),
    }[form]
    simulation = simulation_of(system)
    file = io.StringIO()
    simulation.reporters.append(mc.ConstraintReporter(file, 1, [given, (pull, "dihedral", 0)]))
    simulation.step(1)
    columns, rows = rows_of(file.getvalue())
    assert columns[2::3] == ["distance 1-2 (nm)", "dihedral 0-1-2-3 (rad)", "work (kJ/mol)"]
    assert rows[0, [2, 5]] == pytest.approx([math.dist(X[1], X[2]), 2.45], abs=1e-5)


def refused(system, match, constraints=None, error=ValueError, integrator=None):
    simulation = simulation_of(system, integrator)
    simulation.reporters.append(mc.ConstraintReporter(io.StringIO(), 1, constraints))
    with pytest.raises(error, match=match):
        simulation.step(1)


def test_what_cannot_be_reported():
    system, pull, _ = chain()
    refused(system, "there is no constraint 5; there are 5", 5)
    refused(system, "there is no constraint -3; there are 2", (pull, -3))
    refused(chain()[0], "a ConstraintForce is not in the System of the Simulation", pull)
    body = mc.ConstraintForce()
    body.addRigidBody([0, 1, 2], X[:3])
    bare = mm.System()
    for _ in range(6):
        bare.addParticle(10)
    bare.addConstraint(4, 5, 0.1)
    bare.addForce(body)
    refused(bare, r"no Force with constraints to report .* constraints=\[0, 1\]")
    refused(bare, "the chosen Forces have no constraints", body)
    many = mc.CustomConstraintForce(1, "k*(z1-0.6)")
    many.addPerConstraintParameter("k")
    for k in range(51):
        many.addConstraint([4], [k + 1])
    bare.addForce(many)
    refused(bare, "51 constraints, three columns each")
    plain = mm.System()
    for _ in range(6):
        plain.addParticle(1)
    refused(plain, "VerletIntegrator has no multipliers", error=TypeError, integrator=mm.VerletIntegrator(0.001))


def test_arguments_of_the_wrong_kind():
    for wrong in ("all", 1.5, True, mm.HarmonicBondForce(), (mc.ConstraintForce(), "dihedral")):
        with pytest.raises(TypeError, match="ConstraintReporter: "):
            mc.ConstraintReporter(io.StringIO(), 1, wrong)
    with pytest.raises(ValueError, match="the list is empty"):
        mc.ConstraintReporter(io.StringIO(), 1, [])
    with pytest.raises(ValueError, match="reportInterval must be a whole number"):
        mc.ConstraintReporter(io.StringIO(), 0)
