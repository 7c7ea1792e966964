# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints run --solver-only`: the script keeps its integrator, and this package solves the constraints."""

from __future__ import annotations

import re
from contextlib import nullcontext

import numpy as np
import openmm as mm
import pytest
from command import assert_one_sentence, command
from periodic_networks import helix
from platforms import NAME, PROPERTIES, bound
from test_periodic_networks import system_of
from user_scripts import SYSTEM, sentences, writer_in

import openmmconstraints as mc
from openmmconstraints.run.hooks import substituted
from openmmconstraints.run.session import Session


@pytest.fixture
def script(tmp_path):
    return writer_in(tmp_path)


def a_session():
    return Session(None, mc.ConstraintIntegrator.Automatic, is_solver_only=True)


KEPT = """
    import openmm as mm
    from openmm import unit
    from chain import make_context
    integrator = {constructor}
    context = make_context(integrator)
    integrator.step(40)
    print("it is", type(integrator).__name__, isinstance(integrator, mm.{name}), context.getSystem().getNumForces())
"""
CONSTRUCTORS = [
    "VerletIntegrator(0.001)",
    "LangevinMiddleIntegrator(300, 5, 0.001)",
    "NoseHooverIntegrator(300, 5, 0.001)",
    "BrownianIntegrator(300, 100, 0.0001)",
    "VariableVerletIntegrator(1e-5)",
    "MTSIntegrator(1*unit.femtosecond, [(0, 2)])",
]


@pytest.mark.parametrize("constructor", CONSTRUCTORS, ids=[text.split("(")[0] for text in CONSTRUCTORS])
def test_the_integrator_is_kept_and_the_table_says_what_was_replaced(script, constructor):
    name = constructor.split("(")[0]
    result = command("run", "--solver-only", script(KEPT.format(constructor=f"mm.{constructor}", name=name)))
    assert result.returncode == 0, result.stderr
    assert f"it is {name} True 2" in result.stdout
    said = "any integrator solves constraints of 4 degrees of freedom"
    (line,) = sentences(result.stderr)
    assert line == f"openmm-constraints run: {name} is kept, on the Reference platform; solver replaced: {said}."
    assert re.search(rf"┃ {name} +┃\n┃ +┃ kept +┃", result.stderr)
    assert re.search(rf"solver replaced\W+{said}\W", result.stderr)
    assert re.search(r"\bsteps\W+40\W", result.stderr)
    error = re.search(r"largest constraint error\W+(\S+)", result.stderr)
    assert error is not None
    assert 0 < float(error[1]) <= 1e-5
    assert re.search(r"worst constraint\W+\d \(particles \d and \d\)", result.stderr)


CO2 = """
    import math
    import openmm as mm

    class Verlet(mm.CustomIntegrator):
        def __init__(self, dt):
            super().__init__(dt)
            self.addUpdateContextState()
            self.addPerDofVariable("x1", 0)
            self.addComputePerDof("v", "v+0.5*dt*f/m")
            self.addComputePerDof("x", "x+dt*v")
            self.addComputePerDof("x1", "x")
            self.addConstrainPositions()
            self.addComputePerDof("v", "v+0.5*dt*f/m+(x-x1)/dt")
            self.addConstrainVelocities()

    system = mm.System()
    for mass in (16, 12, 16):
        system.addParticle(mass)
    for i, j, d in ((0, 1, 0.116), (1, 2, 0.116), (0, 2, 0.232)):
        system.addConstraint(i, j, d)
    integrator = Verlet(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions([[-0.116, 0, 0], [0, 0, 0], [0.116, 0, 0]])
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(200)
    print("is finite:", math.isfinite(context.getState(positions=True).getPositions()[0].x))
"""


def test_a_custom_integrator_of_the_script_holds_carbon_dioxide(script):
    result = command("run", script(CO2), "--solver-only", "--tolerance", "1e-9")
    assert result.returncode == 0, result.stderr
    assert "is finite: True" in result.stdout
    assert re.search(r"┃ Verlet +┃\n┃ +┃ kept +┃", result.stderr)
    error = re.search(r"largest constraint error\W+(\S+)", result.stderr)
    assert error is not None
    assert float(error[1]) <= 1e-9


def test_children_of_a_compound_integrator_are_kept(script):
    path = script(
        """
        import openmm as mm
        from chain import make_context
        compound = mm.CompoundIntegrator()
        compound.addIntegrator(mm.VerletIntegrator(0.001))
        compound.addIntegrator(mm.LangevinMiddleIntegrator(300, 1, 0.002))
        context = make_context(compound)
        compound.step(21)
        compound.setCurrentIntegrator(1)
        context.getIntegrator().step(13)
        """
    )
    result = command("run", path, "--solver-only")
    assert result.returncode == 0, result.stderr
    assert "CompoundIntegrator is kept" in result.stderr
    assert re.search(r"\bsteps\W+34\W", result.stderr), result.stderr


def test_the_tolerance_of_the_command_line_overrides_the_scripts(script):
    path = script(
        """
        import openmm as mm
        from chain import make_context
        integrator = mm.VerletIntegrator(0.001)
        integrator.setConstraintTolerance(1e-3)
        make_context(integrator)
        integrator.setConstraintTolerance(1e-4)
        print("tolerance", integrator.getConstraintTolerance())
        """
    )
    result = command("run", path, "--tolerance", "1e-9", "--solver-only")
    assert "tolerance 1e-09" in result.stdout
    assert result.stderr.count("WARNING: the script's setConstraintTolerance() is overridden by 1e-09.") == 1
    assert "no step was taken with an integrator of OpenMM in this process." in result.stderr


@pytest.mark.parametrize("option", ["--integrator", "--solver"])
@pytest.mark.parametrize("behind", [False, True])
def test_options_of_our_integrators_are_refused_by_name(script, option, behind):
    choice = [option, "Rattle" if option == "--integrator" else "Iterative"]
    path = script("print('ran')")
    words = ["--solver-only", path, *choice] if behind else [f"{choice[0]}={choice[1]}", path, "--solver-only"]
    result = command("run", *words)
    assert_one_sentence(result, f"{option} is of no use with --solver-only", f"Leave out {option} or --solver-only.")
    assert "ran" not in result.stdout


def test_the_option_has_no_value(script):
    path = script("import sys\nprint('script got', sys.argv[1:])\n")
    assert "script got ['in.pdb', '-x']" in command("run", path, "in.pdb", "--solver-only", "-x").stdout
    assert "script got ['--solver-only']" in command("run", path, "--", "--solver-only").stdout


def test_another_platform_is_refused_before_a_context_is_made(script):
    path = script(
        """
        import openmm as mm
        from chain import make_system
        class Device:
            def getName(self):
                return "HIP"
        system = make_system()
        try:
            mm.Context(system, mm.VerletIntegrator(0.001), Device())
        finally:
            print("forces:", system.getNumForces())
        """
    )
    result = command("run", path, "--solver-only")
    assert result.returncode == 2
    assert "forces: 1" in result.stdout
    (line,) = sentences(result.stderr)
    for words in ("on the HIP platform", "works on Reference, CPU, OpenCL and CUDA", 'Platform.getPlatform("CPU")'):
        assert words in line


@pytest.mark.parametrize("used", ["CPU", "Reference", pytest.param(None, marks=pytest.mark.long)])
def test_a_script_that_names_no_platform_gets_that_which_openmm_takes(script, monkeypatch, used):
    if used is None:
        monkeypatch.delenv("OPENMM_DEFAULT_PLATFORM", raising=False)
        system = mm.System()
        system.addParticle(1)
        used = mm.Context(system, mm.VerletIntegrator(0.001)).getPlatform().getName()
    else:
        monkeypatch.setenv("OPENMM_DEFAULT_PLATFORM", used)
    path = script(
        """
        import openmm as mm
        from chain import make_system
        print("platform", mm.Context(make_system(), mm.VerletIntegrator(0.001)).getPlatform().getName())
        """
    )
    result = command("run", path, "--solver-only")
    assert f"platform {used}" in result.stdout
    assert f"is kept, on the {used} platform" in result.stderr


@pytest.mark.platform
def test_a_script_may_name_any_platform_of_ours(script):
    path = script(
        f"""
        import openmm as mm
        from chain import make_system, POSITIONS
        integrator = mm.LangevinMiddleIntegrator(300, 1, 0.002)
        context = mm.Context(make_system(), integrator, mm.Platform.getPlatform({NAME!r}), {PROPERTIES!r})
        context.setPositions(POSITIONS)
        context.setVelocitiesToTemperature(300, 1)
        integrator.step(200)
        """
    )
    result = command("run", path, "--solver-only", "--tolerance", "1e-6")
    assert result.returncode == 0, result.stderr
    assert f"LangevinMiddleIntegrator is kept, on the {NAME} platform" in result.stderr
    assert re.search(r"\bsteps\W+200\W", result.stderr), result.stderr
    error = re.search(r"largest constraint error\W+(\S+)", result.stderr)
    assert error is not None
    assert float(error[1]) <= bound(1e-6, single=3e-6)


def test_a_solver_that_the_script_has_replaced_stays(script):
    path = script(
        """
        import openmm as mm
        import openmmconstraints as mc
        from chain import make_system, PLATFORM, POSITIONS
        system = make_system()
        mc.replaceSolver(system)
        for _ in range(2):
            integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
            context = mm.Context(system, integrator, PLATFORM)
            context.setPositions(POSITIONS)
            context.setVelocitiesToTemperature(300, 1)
            integrator.step(5)
        print("forces:", system.getNumForces())
        """
    )
    result = command("run", path, "--solver-only")
    assert result.returncode == 0, result.stderr
    assert "forces: 2" in result.stdout
    assert "solver replaced: by the script." in result.stderr
    assert re.search(r"mean temperature \(K\) +│ \d+\.\d +│ \d+\.\d +│", result.stderr)
    assert re.search(r"\bsteps\W+5\W+5\W", result.stderr)


def test_integrators_of_ours_are_left_alone(script):
    """They have the solver already. mc.minimize() makes a Context with one."""
    path = script(
        """
        import openmm as mm
        import openmmconstraints as mc
        from chain import make_context, make_system
        rattle = mc.RattleIntegrator(0.001)
        ours = make_context(rattle)
        print("forces:", ours.getSystem().getNumForces())
        rattle.step(3)
        verlet = mm.VerletIntegrator(0.001)
        context = make_context(verlet)
        mc.minimize(context, maxIterations=3)
        verlet.step(7)
        """
    )
    result = command("run", path, "--solver-only")
    assert result.returncode == 0, result.stderr
    assert "forces: 1" in result.stdout
    (line,) = sentences(result.stderr)
    assert "VerletIntegrator is kept" in line
    assert re.search(r"\bsteps\W+7\W", result.stderr)


def test_what_a_force_of_ours_holds_is_solved_and_counted(script):
    path = script(
        """
        import openmm as mm
        import openmmconstraints as mc
        from chain import make_system, PLATFORM, POSITIONS
        system = make_system()
        force = mc.ConstraintForce()
        force.addAngle(0, 1, 2, 1.9)
        system.addForce(force)
        for _ in range(2):
            integrator = mm.LangevinMiddleIntegrator(300, 1, 0.001)
            context = mm.Context(system, integrator, PLATFORM)
            context.setPositions(POSITIONS)
            context.applyConstraints(1e-5)
            integrator.step(5)
        """
    )
    result = command("run", path, "--solver-only")
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("constraints of 5 degrees of freedom; declared 1 distance in the System") == 1


@pytest.mark.parametrize("steps", ["10", "2"])
def test_an_error_of_a_solve_is_shown_and_the_table_as_well(script, steps):
    path = script(
        f"""
        import openmm as mm
        from chain import make_context
        integrator = mm.VerletIntegrator(0.002)
        context = make_context(integrator)
        integrator.step(10)
        context.setVelocities([mm.Vec3(1e5 * i * i, 0, 0) for i in range(5)])
        integrator.step({steps})
        """
    )
    result = command("run", path, "--solver-only")
    assert result.returncode == 1
    assert "does not take the step back" in result.stderr
    assert re.search(r"\bsteps\W+1\d\W", result.stderr), result.stderr


def make_langevin():
    integrator = mm.LangevinMiddleIntegrator(300, 5, 0.002)
    integrator.setRandomNumberSeed(3)
    return integrator


@pytest.mark.parametrize(
    "make",
    [lambda: mm.VerletIntegrator(0.002), make_langevin, lambda: mm.NoseHooverIntegrator(300, 20, 0.002)],
    ids=["Verlet", "LangevinMiddle", "NoseHoover"],
)
def test_watching_changes_nothing(make):
    names: dict = {}
    exec(SYSTEM, names)  # the same chain as in the scripts
    positions = []
    for watched in (False, True):
        system, session = names["make_system"](), a_session()
        with substituted(session) if watched else pytest.MonkeyPatch.context():
            if not watched:
                mc.replaceSolver(system)
            integrator = make()
            context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
            context.setPositions(names["POSITIONS"])
            context.setVelocitiesToTemperature(300, 1)
            if watched:
                ((seen, _),) = session.observed
                seen._energy_throttle.share = 1e9  # look every time
            integrator.step(203)
            if watched:
                assert seen.steps == 203
                assert len(seen.energies.time) == 21
        positions.append(context.getState(positions=True).getPositions(asNumpy=True)._value)
    assert np.array_equal(*positions)


@pytest.mark.parametrize("by_script", [True, False], ids=["replaced by the script", "replaced for it"])
@pytest.mark.parametrize("name", ["chain", "helix"])
def test_degrees_of_freedom_are_counted_at_positions_of_the_run(name, by_script):
    """Thirty distances of the helix leave four; 26 are independent."""
    names: dict = {}
    exec(SYSTEM, names)
    network = helix(True)
    system, x, left = names["make_system"](), names["POSITIONS"], 3 * 5 - 4
    if name == "helix":
        system, x, left = system_of(network), network.x, 3 * 10 - 26
    if by_script:
        with pytest.warns(RuntimeWarning, match="positions") if name == "helix" else nullcontext():
            mc.replaceSolver(system)
    with substituted(session := a_session()):
        integrator = mm.VerletIntegrator(0.001)
        context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
        context.setPositions(x)
        context.setVelocitiesToTemperature(300, 1)
        integrator.step(1)
        ((seen, kept),) = session.observed
        assert kept.getNumDegreesOfFreedom() == seen.degrees_of_freedom == left


def test_openmm_is_left_as_it_was():
    kinds = [kind for kind in vars(mm.openmm).values() if isinstance(kind, type)]
    kinds = [mm.Context, mm.LocalEnergyMinimizer, *kinds]
    before = [dict(vars(kind)) for kind in kinds]
    verlet = mm.VerletIntegrator
    with substituted(a_session()):
        assert mm.VerletIntegrator is verlet
        assert vars(mm.Context)["__init__"] is not before[0]["__init__"]
    assert before == [dict(vars(kind)) for kind in kinds]
