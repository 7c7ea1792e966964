# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
import inspect
import re
import subprocess
import sys
import threading
import time
from importlib.metadata import version
from pathlib import Path

import openmm
import pytest
from platforms import FEWER, under_test

import openmmconstraints as mc
from openmmconstraints import _build_info, _openmm

ROOT = Path(__file__).parents[2]
CLASSES = [getattr(mc, name) for name in mc.__all__ if inspect.isclass(getattr(mc, name))]


@pytest.mark.parametrize("name", ["Reference", "CPU", pytest.param("OpenCL", marks=pytest.mark.long)])
def test_platform_loads(name):
    """A platform that the tests rely on fails when it is absent; it is not skipped."""
    system = openmm.System()
    system.addParticle(1)
    context = openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName(name))
    assert context.getPlatform().getName() == name


def test_openmm_loads_the_plugin_by_itself():
    for failure in openmm.Platform.getPluginLoadFailures():
        assert "CUDA.so" in failure  # without a driver, OpenMM's own cannot be loaded either
    for name in ("Reference", "OpenCL"):
        assert any(f"libOpenMMConstraints{name}" in library for library in openmm.pluginLoadedLibNames)


def test_plugin_is_loaded_from_a_foreign_plugin_folder_too(tmp_path):
    """As with conda's OpenMM, which looks into another folder than the one where a wheel installs."""
    code = (
        "import openmm as mm, openmmconstraints as mc\n"
        "assert not any('Constraints' in name for name in mm.pluginLoadedLibNames)\n"
        "system = mm.System(); system.addParticle(1)\n"
        "mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatformByName('Reference'))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"OPENMM_PLUGIN_DIR": str(tmp_path)})


def run_python(code, *words):
    """Run code in a process of its own; returns what it did."""
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=False)


def test_another_openmm_is_refused_by_its_version(tmp_path):
    """As 8.3 is after `pip install --no-deps`, before anything uses a name that only the right one has."""
    (tmp_path / "openmm").mkdir()
    fake = "class Platform:\n    @staticmethod\n    def getOpenMMVersion():\n        return '8.3.1'\n"
    (tmp_path / "openmm/__init__.py").write_text(fake)
    result = run_python("import sys; sys.path.insert(0, sys.argv[1]); import openmmconstraints", str(tmp_path))
    assert result.returncode == 1
    message = result.stderr.strip().splitlines()[-1]
    series = ".".join(_build_info.OPENMM_VERSION.split(".")[:2])
    assert message.startswith("ImportError: openmm-constraints ")
    for words in (f"built for OpenMM {_build_info.OPENMM_VERSION}", "OpenMM 8.3.1", str(tmp_path / "openmm")):
        assert words in message
    assert 'type: pip install openmm-constraints "openmm==8.3.*"' in message
    assert message.endswith(f'pip install "openmm=={series}.*"')


def test_a_cuda_platform_of_another_version_is_named(monkeypatch):
    """pip leaves it behind where OpenMM is replaced."""
    installed = {"openmm": "8.6.1", "openmm-cuda-12": "8.6.1", "openmm-cuda-13": "8.5.2"}

    def found(name):
        if name not in installed:
            raise _openmm.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(_openmm, "version", found)
    (line,) = _openmm.describe_foreign_platforms()
    assert line.startswith("openmm-cuda-13 8.5.2 is installed beside OpenMM 8.6.1")
    assert line.endswith('Type: pip install "openmm[cuda13]==8.6.1"')
    del installed["openmm"]  # conda's
    assert _openmm.describe_foreign_platforms() == []


def test_dir_shows_what_is_public_and_nothing_else():
    """In a process of its own: tests import internal modules, which would become attributes."""
    code = "import sys, openmmconstraints as mc; {}; print(*dir(mc))"
    for first in ("pass", "import openmmconstraints.commands.cli, openmmconstraints.benchmark.measure"):
        assert run_python(code.format(first)).stdout.split() == sorted(mc.__all__)
    assert "freeenergy" in mc.__all__
    assert not [name for name in mc.__all__ if name.startswith("_") and name != "__version__"]


HEAVY = "import sys; print(*sorted({'rich', 'matplotlib', 'scipy', 'pandas', 'IPython'} & set(sys.modules)))"


@pytest.mark.parametrize(
    "code",
    [
        "import openmmconstraints",
        "import openmmconstraints.demo.rigid, openmmconstraints.demo.cost, openmmconstraints.demo.words",
        "import openmmconstraints.commands.cli as cli; cli.build_parser()",
    ],
)
def test_import_loads_neither_rich_nor_matplotlib(code):
    result = run_python(f"{code}\n{HEAVY}")
    assert (result.stdout, result.stderr) == ("\n", "")


@pytest.mark.parametrize(
    "code",
    [
        "import openmmconstraints.demo.command, openmmconstraints.benchmark.command",
        "from openmmconstraints.commands.cli import main; main(['info'])",
        "from openmmconstraints.commands.cli import main; main(['benchmark', '--list'])",
    ],
)
def test_commands_load_matplotlib_only_when_they_draw(code):
    result = run_python(f"{code}\n{HEAVY}")
    assert result.stderr == ""
    assert result.stdout.splitlines()[-1] == "rich"


def test_versions_agree():
    assert mc.__version__ == _build_info.VERSION == version("openmm-constraints")
    assert openmm.Platform.getOpenMMVersion() == _build_info.OPENMM_VERSION


def test_the_fourth_component_of_the_version_is_the_series_of_openmm():
    """And pyproject.toml, which scripts/series.py writes, pins it everywhere."""
    major, minor = _build_info.OPENMM_VERSION.split(".")[:2]
    assert mc.__version__.split(".")[3:] == [f"{major}{int(minor):02}"]
    pins = re.findall(r'"openmm(?:-cuda-\d+)?([<>=][^;"]*)', (ROOT / "pyproject.toml").read_text())
    assert len(pins) == 3
    assert set(pins) == {f">={major}.{minor},<{major}.{int(minor) + 1}"}


def test_series_rewrites_version_and_pins(tmp_path):
    """And back: nothing else changes."""
    (tmp_path / "scripts").mkdir()
    for name in ("pyproject.toml", "scripts/series.py"):
        (tmp_path / name).write_text((ROOT / name).read_text())
    before = (tmp_path / "pyproject.toml").read_text()

    def series(*words):
        command = [sys.executable, tmp_path / "scripts/series.py", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    own = series().stdout.strip()
    assert series("8.4").stdout == "8.4\n"
    after = (tmp_path / "pyproject.toml").read_text()
    assert re.search(r'^version = "[\d.]+\.804"$', after, re.MULTILINE)
    assert after.count(">=8.4,<8.5") == 3
    assert series(own).stdout == f"{own}\n"
    assert (tmp_path / "pyproject.toml").read_text() == before
    assert series("9.9").returncode == 1


def test_every_platform_is_built_or_has_a_reason():
    assert _build_info.PLATFORMS["Reference"] is None
    for name in ("OpenCL", "CUDA"):
        reason = _build_info.PLATFORMS[name]
        assert reason is None or len(reason) > 10


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_public_method_is_documented(cls):
    undocumented = [
        name
        for name, member in inspect.getmembers(cls)
        if not name.startswith("_") and callable(member) and len(inspect.getdoc(member) or "") < 20
    ]
    assert cls.__doc__
    assert undocumented == []


def test_enum_values_are_class_attributes():
    values = {mc.ConstraintIntegrator.Automatic, mc.RattleIntegrator.Iterative, mc.ShakeIntegrator.MatrixInversion}
    assert len(values) == 3


def test_step_lets_other_threads_run(system):
    """If step() held the interpreter lock, this thread could not count while the other one steps."""
    integrator = mc.RattleIntegrator(0.001)
    context = openmm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0], [0.1, 0, 0], [0.1, 1 / 3, 0]])
    thread = threading.Thread(target=integrator.step, args=(200_000 // FEWER,))
    thread.start()
    ticks = 0
    while thread.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert ticks > 20


@pytest.mark.platform
def test_summary_is_a_readable_line_and_a_record(system):
    integrator = mc.RattleIntegrator(0.001)
    context = openmm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0], [0.1, 0, 0], [0.1, 1 / 3, 0]])
    integrator.step(2)
    summary = integrator.getSolverSummary()
    assert summary.converged
    assert 0 <= summary.maxError <= integrator.getConstraintTolerance()
    assert str(summary) == summary.str()
    assert "\n" not in str(summary)
    assert repr(summary).startswith("SolverSummary(converged=True, iterations=")
    with pytest.raises(AttributeError):
        summary.converged = False
    (cluster,) = integrator.getClusters(system)
    assert (cluster.count, cluster.constraints, cluster.particles) == (1, 2, 3)
    assert "particles=3" in repr(cluster)
    assert (summary.fitDeviation, summary.fittedConstraint) == (0, -1)


@pytest.mark.platform
def test_summary_tells_how_far_fitted_lengths_are_from_the_given_ones():
    system = openmm.System()
    force = mc.ConstraintForce()
    for mass in (12, 16, 16):
        system.addParticle(mass)
    for pair, distance in (((0, 1), 0.1163), ((0, 2), 0.1163), ((1, 2), 0.23262)):
        force.addDistance(*pair, distance)
    system.addForce(force)
    integrator = mc.RattleIntegrator(0.001)
    context = openmm.Context(system, integrator, under_test())
    context.setPositions([[0, 0, 0], [0.1163, 0, 0], [-0.1163, 0, 0]])
    integrator.step(2)
    summary = integrator.getSolverSummary()
    assert summary.converged
    assert summary.maxError <= summary.tolerance
    assert 1e-5 < summary.fitDeviation < 1e-4  # 0.02 pm of 0.2326 nm, shared by three lengths
    assert 0 <= summary.fittedConstraint < 3
    assert "have fitted lengths" in str(summary)
