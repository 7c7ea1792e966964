# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints run`, where a script minimizes: OpenMM's minimizer holds no constraint of a Force."""

from __future__ import annotations

import re

import openmm as mm
import pytest
from command import command
from user_scripts import sentences, writer_in


@pytest.fixture
def script(tmp_path):
    return writer_in(tmp_path)


# The force pulls the ends apart, and the springs of OpenMM's minimizer give way; it never sees the ConstraintForce.
MINIMIZING = """
    import numpy as np
    import openmm as mm
    from openmm import app, unit
    import openmmconstraints as mc
    from chain import make_system, PLATFORM, PROPERTIES, POSITIONS
    system = make_system()
    pull = mm.CustomExternalForce("-300*a*x")
    pull.addPerParticleParameter("a")
    pull.addParticle(0, [-1])
    pull.addParticle(4, [1])
    system.addForce(pull)
    bend = mc.ConstraintForce()
    bend.addAngle(1, 2, 3, 1.8)
    system.addForce(bend)
    integrator = mm.{constructor}
    {minimize}
    x = np.array(context.getState(positions=True).getPositions(asNumpy=True)._value)
    bonds = np.linalg.norm(np.diff(x, axis=0), axis=1)
    u, v = x[1] - x[2], x[3] - x[2]
    print("bonds off by", abs(bonds - 0.15).max())
    print("angle off by", abs(np.arccos(u @ v / np.linalg.norm(u) / np.linalg.norm(v)) - 1.8))
    print("energy", context.getState(energy=True).getPotentialEnergy()._value)
    integrator.step(20)
"""
CONTEXT = "context = mm.Context(system, integrator, PLATFORM, PROPERTIES); context.setPositions(POSITIONS); "
SIMULATION = """topology = app.Topology()
    residue = topology.addResidue("UNK", topology.addChain())
    for _ in range(5):
        topology.addAtom("C", app.element.carbon, residue)
    simulation = app.Simulation(topology, system, integrator, PLATFORM, PROPERTIES)
    context = simulation.context
    context.setPositions(POSITIONS)
    simulation.minimizeEnergy(tolerance=1*unit.kilojoule_per_mole/unit.nanometer, maxIterations=1000)"""
WAYS = [CONTEXT + "mm.LocalEnergyMinimizer.minimize(context, 1, maxIterations=1000)", SIMULATION]


def number_after(words: str, text: str) -> float:
    found = re.search(rf"{words} (\S+)", text)
    assert found is not None, text
    return float(found[1])


@pytest.mark.parametrize("minimize", WAYS, ids=["minimizer", "simulation"])
@pytest.mark.parametrize("option", [(), ("--solver-only",)], ids=["substituted", "kept"])
def test_constraints_hold_where_a_script_minimizes(script, minimize, option):
    constructor = "LangevinMiddleIntegrator(300, 1, 0.001)"
    path = script(MINIMIZING.format(constructor=constructor, minimize=minimize))
    result = command("run", *option, path)
    assert result.returncode == 0, result.stderr
    assert number_after("bonds off by", result.stdout) < 1e-5
    assert number_after("angle off by", result.stdout) < 1e-4
    said = "LocalEnergyMinimizer -> minimize() of openmmconstraints"
    assert len([line for line in sentences(result.stderr) if said in line]) == 1
    assert re.search(r"\bsteps\W+20\W", result.stderr)


@pytest.mark.parametrize("option", [(), ("--solver-only",)], ids=["substituted", "kept"])
def test_the_tolerance_of_the_command_line_holds_before_and_after(script, option):
    """minimize() sets one that it needs, and sets it back."""
    path = script(
        """
        import openmm as mm
        from chain import make_context
        integrator = mm.VerletIntegrator(0.001)
        context = make_context(integrator)
        mm.LocalEnergyMinimizer.minimize(context)
        print("tolerance", integrator.getConstraintTolerance())
        """
    )
    result = command("run", path, "--tolerance", "1e-4", *option)
    assert result.returncode == 0, result.stderr
    assert "WARNING" not in result.stderr
    assert "tolerance 0.0001" in result.stdout


def test_the_minimum_is_that_of_minimize(script):
    """With the tolerance, the number of iterations and the reporter of the script."""
    path = script(
        """
        import openmm as mm
        from chain import make_context
        class Reporter(mm.MinimizationReporter):
            def report(self, iteration, x, grad, args):
                print("reported", iteration, args["restraint energy"])
                return iteration == 1
        context = make_context(mm.VerletIntegrator(0.001))
        mm.LocalEnergyMinimizer.minimize(context, 1e-3, 7, Reporter())
        """
    )
    result = command("run", path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["reported 0 0.0", "reported 1 0.0"]


def test_another_integrator_keeps_openmms_minimizer(script):
    """A class of its own that a script has from elsewhere: this package does not solve its constraints."""
    path = script(
        """
        import openmm as mm
        from chain import make_context
        integrator = mm.openmm.XmlSerializer._deserializeIntegrator(open("integrator.xml").read())
        context = make_context(integrator)
        mm.LocalEnergyMinimizer.minimize(context)
        """
    )
    (path.parent / "integrator.xml").write_text(mm.XmlSerializer.serialize(mm.VerletIntegrator(0.001)))
    result = command("run", path, cwd=path.parent)
    assert result.returncode == 0, result.stderr
    assert "minimize()" not in result.stderr
    assert "VerletIntegrator was not replaced" in result.stderr
