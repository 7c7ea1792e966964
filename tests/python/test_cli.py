# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The command line: help, version, info and mistakes."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import openmm as mm
import pytest
from command import assert_one_sentence, command, fresh_command

import openmmconstraints as mc
from openmmconstraints import _build_info


def water_system(molecules: int = 3) -> mm.System:
    """Rigid water: three constraints in a triangle each."""
    system = mm.System()
    for _ in range(molecules):
        oxygen = system.addParticle(16.0)
        first, second = system.addParticle(1.0), system.addParticle(1.0)
        for one, two, length in ((oxygen, first, 0.1), (oxygen, second, 0.1), (first, second, 0.16)):
            system.addConstraint(one, two, length)
    return system


@pytest.fixture
def system_file(tmp_path: Path) -> Path:
    path = tmp_path / "system.xml"
    path.write_text(mm.XmlSerializer.serialize(water_system()))
    return path


@pytest.mark.parametrize("name", [[], ["info"], ["check"], ["run"], ["demo"], ["benchmark"]])
def test_help_has_an_example(name):
    result = command(*name, "--help")
    assert result.returncode == 0
    assert "example" in result.stdout
    assert f"openmm-constraints {' '.join(name)}".strip() in result.stdout


@pytest.mark.parametrize("run", [command, fresh_command])
def test_version_is_the_installed_one(run):
    assert run("--version").stdout == f"openmm-constraints {version('openmm-constraints')}\n"


def test_console_script_is_installed():
    script = shutil.which("openmm-constraints", path=str(Path(sys.executable).parent))
    assert script is not None
    result = subprocess.run([script, "--version"], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert "openmm-constraints" in result.stdout


def test_info_says_what_is_installed():
    result = command("info")
    assert result.returncode == 0, result.stderr
    assert version("openmm-constraints") in result.stdout
    assert mm.Platform.getOpenMMVersion() in result.stdout
    for platform in ("Reference", "CPU"):
        assert re.search(rf"^{platform} +works$", result.stdout, re.MULTILINE), result.stdout


def test_info_without_a_gpu_is_a_line_a_platform(monkeypatch, capsys):
    """One says that there is no driver; libraries that cannot be loaded for that reason are not listed."""
    from openmmconstraints.commands import info

    usable = {name: platform for name, platform in info.found_platforms().items() if name != "CUDA"}
    failures = [
        f"Error loading library /x/{name}.so: {lacks}: cannot open shared object file: No such file or directory"
        for name, lacks in (("libOpenMMCUDA", "libcuda.so.1"), ("libOpenMMRPMDCUDA", "libOpenMMCUDA.so"))
    ]
    monkeypatch.setattr(info, "found_platforms", lambda: usable)
    monkeypatch.setattr(info, "find_versions", lambda: info.CudaVersions(None, (13, 0), "libnvrtc.so.13"))
    monkeypatch.setattr(mm.Platform, "getPluginLoadFailures", staticmethod(lambda: failures))
    monkeypatch.setitem(_build_info.PLATFORMS, "CUDA", None)
    assert info.info(None, "Automatic") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "CUDA               no NVIDIA driver, NVRTC 13.0"
    assert len(lines) == 3 + len(usable) + 1


def test_info_lists_libraries_that_are_not_loaded_for_another_reason(monkeypatch, capsys):
    from openmmconstraints.commands.cli import main

    broken = "Error loading library /x/libOpenMMConstraintsCPU.so: undefined symbol: nothing"
    monkeypatch.setattr(mm.Platform, "getPluginLoadFailures", staticmethod(lambda: (broken,)))
    assert main(["info"]) == 0
    assert broken in capsys.readouterr().out


def test_info_says_why_a_platform_was_not_built(monkeypatch, capsys):
    from openmmconstraints.commands.cli import main

    monkeypatch.setitem(_build_info.PLATFORMS, "CUDA", "cuda.h was not found")
    assert main(["info"]) == 0
    assert "not built: cuda.h was not found" in capsys.readouterr().out


def test_info_says_why_a_library_was_not_loaded(monkeypatch, capsys):
    from openmmconstraints.commands.cli import main

    monkeypatch.setitem(_build_info.PLATFORMS, "Abacus", None)
    assert main(["info"]) == 0
    assert "built, not loaded" in capsys.readouterr().out  # where that is folded depends on the devices


def test_info_shows_clusters_and_degrees_of_freedom(system_file):
    result = command("info", system_file)
    assert result.returncode == 0, result.stderr
    assert re.search(r"closed form 3x3\W+3\W+3\W+3\W", result.stdout), result.stdout
    assert re.search(r"degrees of freedom:\s+18$", result.stdout, re.MULTILINE)
    assert re.search(r"independent constraints:\s+9$", result.stdout, re.MULTILINE)


def test_info_says_where_positions_decide(tmp_path, capsys):
    """A ring of three rigid bodies."""
    from openmmconstraints.commands.cli import main

    system, force = mm.System(), mc.ConstraintForce()
    for _ in range(6):
        system.addParticle(12)
    corners = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]
    for body in ([0, 1, 2], [2, 3, 4], [4, 5, 0]):
        force.addRigidBody(body, corners)
    system.addForce(force)
    (tmp_path / "system.xml").write_text(mm.XmlSerializer.serialize(system))
    assert main(["info", str(tmp_path / "system.xml")]) == 0
    out = capsys.readouterr().out
    assert "degrees of freedom:       depend on the positions" in out
    assert "independent constraints" not in out


def test_info_serves_clusters_by_the_solver_asked_for(system_file):
    result = command("info", system_file, "--solver", "Iterative")
    assert "iterative" in result.stdout, result.stdout


def test_info_says_where_a_factor_would_be_too_large(tmp_path):
    system = mm.System()
    for _ in range(1001):
        system.addParticle(1)
    for i in range(1, 1001):
        system.addConstraint(0, i, 0.1)
    path = tmp_path / "star.xml"
    path.write_text(mm.XmlSerializer.serialize(system))
    text = " ".join(command("info", path).stdout.split())
    assert "1,000 constraints in a cluster: Iterative, which is slower: a factor would have about 5e+05 entries" in text
    refused = command("info", path, "--solver", "MatrixInversion")
    assert refused.returncode != 0
    assert "1000 constraints" in refused.stderr
    assert "0.67 GB" in refused.stderr


def test_info_refuses_what_is_not_a_system(tmp_path, system_file):
    assert_one_sentence(command("info", tmp_path / "none.xml"), "none.xml", "No such file")
    assert_one_sentence(command("info", tmp_path), "cannot read", "directory")
    text = tmp_path / "text.xml"
    text.write_text("this is not XML")
    assert_one_sentence(command("info", text), "text.xml", "not a System")
    other = tmp_path / "integrator.xml"
    other.write_text(mm.XmlSerializer.serialize(mm.VerletIntegrator(0.001)))
    assert_one_sentence(command("info", other), "VerletIntegrator", "not a System")
    binary = tmp_path / "binary.xml"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    assert_one_sentence(command("info", binary), "not a text file")
    half = tmp_path / "half.xml"
    half.write_text(system_file.read_text()[:200])
    assert_one_sentence(command("info", half), "not a System")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "required"),
        (["dance"], "dance"),
        (["info", "--solver", "Magic"], "Magic"),
        (["info", "a.xml", "b.xml"], "b.xml"),
        (["check"], "required"),
        (["check", "none.xml"], "none.xml"),
        (["demo", "--steps", "0"], "--steps"),
        (["demo", "--steps", "x"], "--steps"),
        (["demo", "--steps", "5", "--time-budget", "9"], "--time-budget"),
        (["demo", "--constraints", "AllAtoms"], "AllAtoms"),
        (["demo", "--platform", "Abacus"], "Abacus"),
        (["run"], "script"),
        (["run", "--integrater", "Rattle", "x.py"], "--integrater"),
        (["run", "none.py"], "none.py"),
        (["run", "none.py", "--tolerance", "-1"], "--tolerance"),
        (["demo", "--steps", "1" + 18 * "0"], "2,147,483,647"),
        (["demo", "--threads", "1" + 5000 * "0"], "--threads"),
        (["demo", "--time-budget", "1e300"], "1,000,000"),
        (["benchmark", "--rounds", "1" + 21 * "0"], "1,000,000"),
        (["benchmark", "--seconds", "1e300"], "1,000,000"),
        (["benchmark", "--systems", "chain:1e18"], "10,000,000"),
        (["benchmark", "--systems", "chain:1" + 5000 * "0"], "10,000,000"),
        (["check", "SYSTEM", "--step-size", "1e-200"], "1e-150"),
    ],
)
def test_a_mistake_is_one_sentence(words, expected, tmp_path, system_file):
    words = [system_file if word == "SYSTEM" else word for word in words]
    assert_one_sentence(command(*words, cwd=tmp_path), expected)


OUTPUTS = [
    ["info", "--help"],
    ["info", "SYSTEM"],
    ["check", "SYSTEM"],
    ["check", "SYSTEM", "--json"],
    ["benchmark", "--list"],
]


def assert_output_fails_in_silence(result, name, output):
    """A full disk is told in one line; the reader of a pipe has closed it, and knows."""
    full = f"openmm-constraints {name}: cannot write the output: No space left on device."
    assert result.stderr.splitlines() == ([full] if output == "full" else [])
    assert result.returncode == (0 if output == "closed" else 1)


@pytest.mark.parametrize("output", ["full", "unread", "closed"])
@pytest.mark.parametrize("words", OUTPUTS, ids=" ".join)
def test_output_that_cannot_be_written_is_no_traceback(words, output, system_file):
    words = [system_file if word == "SYSTEM" else word for word in words]
    assert_output_fails_in_silence(command(*words, output=output), words[0], output)


@pytest.mark.parametrize(("output", "redirection"), [("full", ">/dev/full"), ("unread", ""), ("closed", ">&-")])
def test_an_interpreter_that_cannot_write_ends_without_a_traceback(output, redirection, system_file):
    """Which flushes its streams in the end, and starts without one that is closed."""
    line = f"exec {shlex.join([sys.executable, '-m', 'openmmconstraints', 'info', str(system_file)])} {redirection}"
    with subprocess.Popen(line, shell=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert_output_fails_in_silence(subprocess.CompletedProcess(line, process.returncode, None, said), "info", output)
