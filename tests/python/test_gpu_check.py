# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""scripts/gpu-check.sh without a GPU: its dry run, and what its pieces make of commands that fail."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*words, **variables):
    environment = {**os.environ, "PYTHON": sys.executable, **variables}
    return subprocess.run(
        ["bash", *words], cwd=ROOT, capture_output=True, text=True, check=False, env=environment, timeout=600
    )


def dry_run(*pieces, **variables):
    """What was built is taken as it is."""
    return run("scripts/gpu-check.sh", "--dry-run", *pieces, **variables)


@pytest.mark.long
def test_dry_run_of_the_versions():
    result = dry_run("versions")
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.search(r"^ran +\d+ s  versions: Driver and NVRTC$", result.stdout, re.MULTILINE)
    assert "driver for CUDA 13.0, NVRTC 13.0" in result.stderr
    (folder,) = re.findall(r"^What was found is in (.+)$", result.stdout, re.MULTILINE)
    assert "fakecuda sm_90" in (Path(folder) / "versions-2.log").read_text()  # openmm-constraints info


def test_a_driver_that_is_too_old_ends_everything_with_a_remedy():
    result = dry_run("versions", "tests", FAKECUDA_DRIVER="12080")
    assert result.returncode == 1
    assert "NVRTC 13.0 is newer than the driver, which is for CUDA 12.8" in result.stderr
    assert '"nvidia-cuda-nvrtc-cu12==12.8.*"' in result.stderr
    assert "Summary" not in result.stderr


def test_unknown_words_are_refused():
    assert "unknown argument bench" in dry_run("bench").stdout + dry_run("bench").stderr


@pytest.mark.long
def test_dry_run_of_the_factors():
    result = dry_run("factors")
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(re.findall(r"^ran .* factors: .* \(\d+ passed, \d+ failed\)$", result.stdout, re.MULTILINE)) == 2


# ---- pieces with other programs in the place of the C++ tests --------------------------------------------------------

PASSES = 'echo "[       OK ] A.b (1 ms)"; echo "[==========] 1 test from 1 test suite ran. (1 ms total)"'
FAILS = 'echo "[  FAILED  ] A.b (1 ms)"; echo "[==========] 1 test from 1 test suite ran. (1 ms total)"; exit 1'
DOES_NOTHING = 'echo "[==========] 0 tests from 0 test suites ran. (0 ms total)"'
CRASHES = 'echo "[  FAILED  ] A.b (1 ms)"; kill -SEGV $$'
DIES_AT_ITS_END = f"{PASSES}; kill -ABRT $$"
#: What the pieces need of the system; of NVIDIA's tools it may have any.
PROGRAMS = [
    "awk",
    "basename",
    "bash",
    "cat",
    "env",
    "find",
    "grep",
    "head",
    "ln",
    "mkdir",
    "mktemp",
    "nproc",
    "printf",
    "rm",
    "seq",
    "tail",
    "timeout",
    "wc",
    "xargs",
]


def link_programs(folder):
    folder.mkdir()
    for program in PROGRAMS:
        (folder / program).symlink_to(shutil.which(program))
    return folder


@pytest.fixture
def piece(tmp_path):
    """Run a piece with a script as ConstraintTests; returns its exit status and its summary."""

    def run_piece(name, script, dry, tools=None, **others):
        for folder in ("calls", "emulator"):
            (tmp_path / folder).mkdir()
        programs = {
            "ConstraintTests": script,
            "emulator/TestEmulator": script,
            "calls/TestCalls": '[ -z "${GTEST_TOTAL_SHARDS:-}" ]',
        }
        for program, text in {**programs, **(tools or {})}.items():
            (tmp_path / program).write_text(f"#!/bin/bash\n{text}\n")
            (tmp_path / program).chmod(0o755)
        variables = {"GPU_FOLDER": str(tmp_path), "GPU_TESTS": str(tmp_path), "GPU_DRY_RUN": "1" if dry else ""}
        variables |= {"GPU_PYTHON": shutil.which("true"), "GPU_INPUTS": "", "GPU_NOTE": "", **others}
        path = f"{tmp_path}:{link_programs(tmp_path / 'programs')}"
        result = run(f"scripts/gpu/{name}.sh", PATH=path, **variables)
        return result.returncode, (tmp_path / "summary.txt").read_text()

    return run_piece


@pytest.mark.parametrize(
    ("script", "dry", "status", "word"),
    [
        (PASSES, False, 0, "passed"),
        (FAILS, False, 1, "FAILED"),
        (CRASHES, False, 1, "FAILED"),
        (DIES_AT_ITS_END, False, 1, "FAILED"),
        (DOES_NOTHING, False, 1, "FAILED"),
        (PASSES, True, 0, "ran"),
        (DOES_NOTHING, True, 0, "ran"),  # of few tests, every 40th may be none
        (FAILS, True, 0, "ran"),  # no kernel runs: comparisons fail
        (CRASHES, True, 1, "FAILED"),
        (DIES_AT_ITS_END, True, 1, "FAILED"),
    ],
)
def test_a_piece_fails_if_its_tests_do(piece, script, dry, status, word):
    returned, summary = piece("factors", script, dry)
    assert returned == status, summary
    assert [line.split()[0] for line in summary.splitlines()] == [word] * 2


@pytest.mark.parametrize(("name", "lines"), [("tests", 2), ("single", 1), ("double", 1)])
def test_pieces_of_the_c_plus_plus_tests(piece, name, lines):
    status, summary = piece(name, PASSES, False)
    assert status == 0, summary
    assert [line.split()[0] for line in summary.splitlines()] == ["passed"] * lines


@pytest.mark.parametrize(("name", "tools"), [("sanitize", 3), ("subdomains", 2)])
def test_a_tool_that_is_missing_is_no_success(piece, name, tools):
    status, summary = piece(name, PASSES, False)
    assert status == 1
    assert summary.count("not run") == tools
    assert "pip install nvidia-cuda-sanitizer-api" in summary


@pytest.mark.parametrize("name", ["sanitize", "subdomains"])
def test_a_tool_runs_the_tests(piece, name):
    status, summary = piece(name, PASSES, False, {"compute-sanitizer": 'exec "${@:7}"'})
    assert status == 0
    assert re.search(r"^passed .* memcheck \([1-9]\d* passed, 0 failed\)$", summary, re.MULTILINE)


@pytest.mark.parametrize(("ncu", "status"), [("exit 0", 1), ('echo report >"${11}.ncu-rep"', 0)])
def test_a_profile_without_a_report_fails(piece, ncu, status):
    returned, summary = piece("profile", PASSES, False, {"nsys": "exit 0", "ncu": ncu})
    assert returned == status
    assert re.findall(r"^\w+ .* ncu, (\w+)", summary, re.MULTILINE) == [
        "eachCluster_driftAndHeat",
        "eachCluster_kick",
    ]


def test_the_hottest_kernels_may_be_those_of_subdomains(piece):
    table = "20.0,eachCluster_kick\\n9.0,computeNonbonded\\n8.0,subdomain_driftAndHeat\\n"
    nsys = f'[ "$1" != stats ] || printf "{table}" >"${{8}}_cuda_gpu_kern_sum.csv"'
    summary = piece("profile", PASSES, False, {"nsys": nsys, "ncu": 'echo report >"${11}.ncu-rep"'})[1]
    assert re.findall(r"^passed .* ncu, (\w+)", summary, re.MULTILINE) == [
        "eachCluster_kick",
        "subdomain_driftAndHeat",
    ]


#: As a version that profiles the root process only, of an interpreter that starts another one.
NCU = """
printf '%s\\n' '==PROF== Connected' '==ERROR== a reason' >"${11}"
case " $* " in
*' --target-processes all '*)
    printf '%s\\n' '"ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"' \\
        '"0","aKernel","(64, 1, 1)","(110, 1, 1)","gpu__time_duration.sum","ns","1,000"' >>"${11}" ;;
esac
"""


@pytest.mark.parametrize(
    ("ncu", "status"),
    [
        (NCU, 0),
        ("echo '==ERROR== a reason' >\"${11}\"; printf '==PROF== %0500d\\n' 0 >>\"${11}\"", 1),
        ("echo '==ERROR== a reason' >\"${11}\"; exit 1", 1),
    ],
)
def test_times_of_kernels_or_the_reason(piece, tmp_path, ncu, status):
    returned, summary = piece("kernels", PASSES, False, {"ncu": ncu}, GPU_PYTHON=sys.executable, GPU_KERNEL_RUNS="1")
    assert returned == status, summary
    assert ("aKernel,64,110,1,1.00" in (tmp_path / "kernels.csv").read_text()) == (status == 0)
    assert ("a reason" in (tmp_path / "kernels-1.log").read_text()) == (status == 1)


#: Profiles nothing, with any options; a table of launches and copies by nsys.
NO_KERNELS = "echo '==WARNING== No kernels were profiled.' >\"${11}\""
NSYS = """
[ "$1" = stats ] && printf '%s\\n' 'Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Device,Name' \\
    '100,50240,101,,,,,,,a GPU,[CUDA memcpy Host-to-Device]' '200,1000,102,110,1,1,64,1,1,a GPU,aKernel(int)'
true
"""


@pytest.mark.parametrize(
    ("ncu", "nsys", "status", "way"),
    [
        (f'[ "$1" != --clock-control ] && {{ {NCU}\n}}', "exit 1", 0, "by ncu with few options"),
        (NO_KERNELS, NSYS, 0, "by nsys"),
        (NO_KERNELS, "exit 1", 1, "by nsys"),
    ],
)
def test_another_way_to_times_of_kernels(piece, tmp_path, ncu, nsys, status, way):
    tools = {"ncu": ncu.replace("${11}", "${5}") if "few" in way else ncu, "nsys": nsys}
    returned, summary = piece("kernels", PASSES, False, tools, GPU_PYTHON=sys.executable, GPU_KERNEL_RUNS="2")
    assert returned == status, summary
    assert summary.count(way) == 2, summary
    assert (tmp_path / "kernels.csv").read_text().count("aKernel,64,110,1,1.00") == (0 if status else 2)
    assert ("No kernels were profiled" in (tmp_path / "kernels-1.log").read_text()) == ("few" not in way)


def test_libraries_of_other_profilers_are_not_found(piece, tmp_path):
    folders = [tmp_path / "nvidia/cu13/lib", tmp_path / "other"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "libnvrtc.so.13").touch()
    for name in ("libcupti.so.13", "libnvperf_host.so"):
        (folders[0] / name).touch()
    path = ":".join(map(str, folders))
    ncu = f'echo "$LD_LIBRARY_PATH" >"{tmp_path}/path"\n{NCU}'
    assert piece("kernels", PASSES, False, {"ncu": ncu}, GPU_PYTHON=sys.executable, LD_LIBRARY_PATH=path)[0] == 0
    first, second = (tmp_path / "path").read_text().strip().split(":")
    assert [path.name for path in Path(first).iterdir()] == ["libnvrtc.so.13"]
    assert second == str(folders[1])


@pytest.mark.parametrize(("limit", "minutes"), [("60", "0.5"), ("120", "1.5"), ("600", "9.5")])
def test_the_benchmark_always_has_some_time(piece, tmp_path, limit, minutes):
    piece("benchmark", PASSES, False, GPU_LIMIT=limit)
    assert f" --minutes {minutes} " in (tmp_path / "benchmark-1.log").read_text()


LISTS = '[ -z "${GTEST_LIST_TESTS:-}" ] || { printf "A/B.\\n  c/d  # no e\\n  f\\n" && exit; }'


@pytest.mark.parametrize(
    ("script", "status", "found"),
    [
        (PASSES, 0, "2 of 2 passed, 0 failed"),
        ("false", 1, "0 of 2 passed, 2 failed"),
        ('[ "$1" != --gtest_filter=A/B.f ] || exit 139', 1, "1 of 2 passed, 1 failed"),
    ],
)
def test_a_sample_of_tests(piece, tmp_path, script, status, found):
    returned, summary = piece("sample", f"{LISTS}\n{script}", False, GPU_LIMIT="60", GPU_LENIENT="1", GPU_FEW="1")
    assert returned == status, summary
    assert f"sample: CUDA ({found}, 0 ended by 100 s, 0 not finished)" in summary
    assert "sample: memcheck (there is no compute-sanitizer)" in summary
    assert "A/B.c/d" in (tmp_path / "tests.txt").read_text()


def test_a_sample_that_does_not_end(piece):
    returned, summary = piece("sample", f"{LISTS}\nexec {shutil.which('sleep')} 60", False, GPU_LIMIT="7", GPU_FEW="1")
    assert returned == 1
    assert "(0 of 2 passed, 0 failed, 0 ended by 100 s, 2 not finished)" in summary


@pytest.mark.parametrize(("name", "line"), [("kernels", "Single kernels (there is no ncu")])
def test_what_is_missing_may_be_no_failure(piece, name, line):
    returned, summary = piece(name, PASSES, False, GPU_LENIENT="1")
    assert (returned, line in summary) == (0, True)
