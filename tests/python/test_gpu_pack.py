# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""scripts/gpu/pack.sh: its archive, unpacked elsewhere and run on the stand-in for the driver, and its parts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from gpu_inputs import write_waters

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts" / "gpu"


def python(script, *words):
    command = [sys.executable, str(SCRIPTS / script), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# ---- times of kernels ------------------------------------------------------------------------------------------------

LONG = """==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"
"0","1","first(float *)","(64, 1, 1)","(2, 3, 1)","gpu__time_duration.sum","ns","17,170"
"1","1","second","(128, 1, 1)","(5, 1, 1)","gpu__time_duration.sum","nsecond","2140"
"2","1","first(float *)","(64, 1, 1)","(2, 3, 1)","gpu__time_duration.sum","us","18.17"
"3","1","first(float *)","(64, 1, 1)","(2, 3, 1)","another","ns","1"
"""
WIDE = """==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Block Size","Grid Size","gpu__time_duration.sum"
"","","","","","us"
"0","1","first(float *)","(64, 1, 1)","(2, 3, 1)","17.17"
"1","1","second","(128, 1, 1)","(5, 1, 1)","2.14"
"2","1","first(float *)","(64, 1, 1)","(2, 3, 1)","18.17"
"""


@pytest.mark.parametrize("text", [LONG, WIDE])
def test_times_of_kernels(tmp_path, text):
    (tmp_path / "table").write_text(text)
    result = python("kernel_times.py", "DHFR HBonds", "Rattle", tmp_path / "table")
    assert result.stdout.splitlines() == [
        "DHFR HBonds,Rattle,first,64,6,2,17.67,17.17,18.17",
        "DHFR HBonds,Rattle,second,128,5,1,2.14,2.14,2.14",
    ]


def test_no_kernel_is_no_success(tmp_path):
    (tmp_path / "table").write_text("==ERROR== ERR_NVGPUCTRPERM\n")
    result = python("kernel_times.py", "DHFR HBonds", "Rattle", tmp_path / "table")
    assert result.returncode == 1
    assert "ERR_NVGPUCTRPERM" in result.stderr


# ---- the summary -----------------------------------------------------------------------------------------------------


def step(integrator, median, ratio, constraints="HBonds", failure=None):
    result = {"precision": "mixed", "constraints": constraints, "step_fs": 4.0, "integrator": integrator}
    result["step_ms"] = None if failure else {"median": median}
    result["ratio"] = ratio and {"median": ratio}
    return result | {"failure": failure}


def test_the_summary_is_one_screen(tmp_path):
    results = [step("Verlet", 0.175, None), step("Rattle", 0.19, 1.086), step("RattleLangevin", 0, None, failure="NaN")]
    (tmp_path / "benchmark.json").write_text(json.dumps({"results": results}))
    (tmp_path / "steps.json").write_text('{"results": [')  # it was ended as it wrote
    (tmp_path / "versions-1.log").write_text("the command\ndriver for CUDA 13.0, NVRTC 13.0\n")
    table = "system,integrator,kernel,threads a block,blocks,launches,median us,lowest,highest\n"
    table += "".join(f"DHFR HBonds,Rattle,kernel{i},64,1,9,17.1,1,20\n" for i in range(99))
    (tmp_path / "kernels.csv").write_text(table + "DHFR HBonds,Rattle,clearBuffer,64,1,9,2.1,1,20\n")
    ensembles = [{"constraints": "HBonds", "integrator": "Rattle", "text": "+0.0022 kT/ns/dof"}]
    (tmp_path / "ensembles.json").write_text(json.dumps({"results": ensembles}))
    (tmp_path / "tests.txt").write_text("passed 1 s  CUDA A.b\n" + 99 * "FAILED 9 s  CUDA A.c\n")
    (tmp_path / "summary.txt").write_text("passed      1 s  versions: Driver and NVRTC\n")
    result = python("summary.py", tmp_path, "a GPU, a commit")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) < 50
    assert max(map(len, lines)) <= 132
    assert lines[:2] == ["a GPU, a commit", "  driver for CUDA 13.0, NVRTC 13.0"]
    assert lines[2].split() == ["Whole", "steps,", "ms", "(ratio)", "Verlet", "Rattle", "RattleLangevin"]
    assert lines[3].split() == ["HBonds", "4", "fs", "mixed", "0.175", "0.19", "(1.09)", "failed"]
    assert "clearBuffer" not in result.stdout
    assert "  HBonds: Rattle +0.0022 kT/ns/dof" in lines
    assert lines.count("FAILED 9 s  CUDA A.c".rjust(22)) == 6
    assert lines[-1] == "  and 93 more in tests.txt"


def test_the_summary_of_nothing(tmp_path):
    (tmp_path / "summary.txt").touch()
    assert python("summary.py", tmp_path, "a GPU").stdout == "a GPU\n"


# ---- one test a process ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "dry", "word"),
    [
        ("exit 0", "", "passed"),
        ("echo '[  SKIPPED ] A.b (0 ms)'", "", "skipped"),
        ("exit 1", "", "FAILED"),
        ("kill -SEGV $$", "", "FAILED"),
        ("sleep 9", "", "limit"),
        ("exit 1", "1", "ran"),
        ("kill -SEGV $$", "1", "FAILED"),
    ],
)
def test_how_a_test_ended(tmp_path, script, dry, word):
    program = tmp_path / "ConstraintTests"
    program.write_text(f'#!/bin/bash\necho "$CONSTRAINTS_TEST_PLATFORMS $1"\n{script}\n')
    program.chmod(0o755)
    folders = {"GPU_FOLDER": str(tmp_path), "GPU_TESTS": str(tmp_path)}
    variables = {**os.environ, **folders, "GPU_DRY_RUN": dry, "GPU_TEST_LIMIT": "1"}
    subprocess.run(["bash", SCRIPTS / "one_test.sh", "CUDA", "CUDAMixed", "A.b", "env"], env=variables, check=False)
    first, *_, unit, name, test = (tmp_path / "tests.txt").read_text().split()
    assert (first, unit, name, test) == (word, "s", "CUDA", "A.b")
    failures = tmp_path / "failures.log"
    assert failures.exists() == (word in ("FAILED", "limit"))
    assert not failures.exists() or "CUDAMixed --gtest_filter=A.b" in failures.read_text()


# ---- the archive -----------------------------------------------------------------------------------------------------


def test_what_is_installed_is_copied_without_numpy(tmp_path):
    assert python("installed.py", tmp_path, "openmm-constraints", "nothing-of-this-name").returncode == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert {"openmmconstraints", "openmm", "OpenMM.libs", "rich"} <= names
    assert not names & {"numpy", "matplotlib", "nvidia", "bin"}
    assert list(tmp_path.glob("OpenMM.libs/lib/plugins/libOpenMMConstraintsReference.so"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--sm"], "--sm needs a value"),
        (["--kernel", "all"], "unknown argument --kernel"),
        (["--kernels", "some"], "--kernels is all, benchmark, kept or none"),
    ],
)
def test_words_of_the_packer(words, message):
    result = subprocess.run(["bash", SCRIPTS / "pack.sh", *words], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert message in result.stderr


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The folder of an archive, with water in the place of DHFR."""
    folder = tmp_path_factory.mktemp("pack")
    write_waters(folder / "inputs")
    variables = {"GPU_BUILT": "1", "GPU_INPUTS": str(folder / "inputs"), "XZ_OPT": "-0", "PYTHON": sys.executable}
    words = ["--python", f"{sys.version_info[0]}.{sys.version_info[1]}", "--kernels", "none"]
    words += ["--output", str(folder / "pack.tar.xz")]
    environment = {**os.environ, **variables}
    subprocess.run(["bash", SCRIPTS / "pack.sh", *words], check=True, env=environment, capture_output=True, text=True)
    (folder / "elsewhere").mkdir()
    subprocess.run(["tar", "-xf", folder / "pack.tar.xz", "-C", folder / "elsewhere"], check=True)
    return folder / "elsewhere" / "pack"


def run_unpacked(folder, *words, **variables):
    """As on a machine that has nothing but Python, with numpy and NVRTC."""
    (folder.parent / "home").mkdir(exist_ok=True)
    environment = {"HOME": str(folder.parent / "home"), "PATH": "/usr/bin:/bin", "PYTHON": sys.executable, **variables}
    command = ["bash", str(folder / "run.sh"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd="/")


@pytest.mark.long
def test_the_archive_runs_every_command_elsewhere(unpacked, tmp_path):
    result = run_unpacked(unpacked, "--dry-run", OUT=str(tmp_path), GPU_EVERY="1000")
    assert result.returncode == 0, result.stdout + result.stderr
    summary = (tmp_path / "summary.txt").read_text()
    assert result.stdout == summary
    assert len(summary.splitlines()) < 60
    assert summary.startswith("fakecuda sm_90, sm_90, 132 multiprocessors, driver for CUDA 13.0, ")
    assert "driver for CUDA 13.0, NVRTC 13.0" in summary
    other = run_unpacked(unpacked, "--dry-run", "versions", FAKECUDA_MULTIPROCESSORS="114")
    assert "114 multiprocessors" in other.stdout
    assert "(its kernels are for sm_90, 132 multiprocessors)" in other.stdout
    done = [line for line in summary.splitlines() if line.startswith("ran ")]
    counts = {"versions": 2, "compile": 1, "benchmark": 1, "steps": 1, "kernels": 8, "sample": 2, "ensembles": 1}
    for piece, count in counts.items():
        assert sum(f" s  {piece}: " in line for line in done) >= count, summary
    files = {path.name for path in tmp_path.iterdir()}
    assert files >= {"summary.txt", "log.txt", "benchmark.json", "steps.json", "kernels.csv", "tests.txt"}
    assert "ensembles.json" in files
    assert len(files) <= 8
    assert str(ROOT / "build") not in (tmp_path / "log.txt").read_text()


@pytest.mark.long
def test_tests_that_all_pass_may_run_alone(unpacked, tmp_path):
    result = run_unpacked(unpacked, "--dry-run", "sample", OUT=str(tmp_path), GPU_EVERY="1000")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "sample: CUDA (1 of 1 passed" in result.stdout


@pytest.mark.long
def test_an_archive_that_does_not_fit_says_so(unpacked):
    assert "--minutes 5: it is 4 or 9" in run_unpacked(unpacked, "--minutes", "5").stderr
    other = run_unpacked(unpacked, PYTHON="/bin/false")
    assert "with numpy" in other.stderr
    without = run_unpacked(unpacked, "versions")
    assert without.returncode == 1
    assert "no NVIDIA driver" in without.stderr or "finds no GPU" in without.stderr
