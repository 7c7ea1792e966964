# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A driver that is older than NVRTC is noticed before a Context fails. Driver, NVRTC and OpenMM's CUDA platform are
libraries of a few lines, which say what a test wants and lie where the wheels have them."""

import json
import os
import shutil
import subprocess
import sys

import openmm as mm
import pytest

DRIVER = "int cuDriverGetVersion(int* version) { *version = %d; return 0; }"
NVRTC = "int nvrtcVersion(int* major, int* minor) { *major = %d; *minor = %d; return 0; }"
PLUGIN = "int cuDriverGetVersion(int*), nvrtcVersion(int*, int*); void* needed[] = {cuDriverGetVersion, nvrtcVersion};"
#: The folder of NVRTC in a wheel, by the series of CUDA; of the last one no machine has a library anywhere.
FOLDERS = {12: "nvidia/cuda_nvrtc/lib", 13: "nvidia/cu13/lib", 99: "nvidia/cu99/lib"}
#: A driver of the usual name the system may have.
ABSENT_DRIVER = "libcuda.so.99"
ASK = """
import json, sys
from openmmconstraints.inspection import cuda
cuda.DRIVER = sys.argv[1]
found = cuda.find_versions()
print(json.dumps(found and {"summary": found.summary, "problem": found.problem, "path": found.path}))
"""


@pytest.fixture(scope="module")
def compile_library(tmp_path_factory):
    """A function that writes a library to a path; one that others are like, but for their folders, is compiled once."""
    folder, compiled = tmp_path_factory.mktemp("libraries"), {}

    def write(path, text, *linked, runpath=""):
        path.parent.mkdir(parents=True, exist_ok=True)
        key = (path.name, text, *(library.name for library in linked), runpath)
        if key not in compiled:
            compiled[key] = folder / str(len(compiled))
            command = ["c++", "-shared", "-fPIC", "-w", "-x", "c", "-", "-x", "none", f"-Wl,-soname,{path.name}"]
            options = [f"-Wl,--enable-new-dtags,-rpath,{runpath}"] if runpath else []
            subprocess.run([*command, "-o", compiled[key], *linked, *options], input=text, text=True, check=True)
        shutil.copy(compiled[key], path)
        return path

    return write


@pytest.fixture
def make_machine(tmp_path, compile_library):
    return lambda *versions, **options: Machine(tmp_path, compile_library, *versions, **options)


class Machine:
    """An environment with OpenMM's CUDA platform for a series of CUDA, a driver and an NVRTC (None: there is none)."""

    def __init__(self, root, compile_library, driver, nvrtc, series=13):
        self.site, self.driver, self.variables = root / "site-packages", root / "driver", {}
        plugins = self.site / "OpenMM.libs" / "lib" / "plugins"
        self.nvrtc = self.site / FOLDERS[series] / f"libnvrtc.so.{series}"
        runpath = f"$ORIGIN/..:$ORIGIN/../../../{FOLDERS[series]}"
        cuda = compile_library(
            self.driver / (ABSENT_DRIVER if driver is None else "libcuda.so.1"), DRIVER % (driver or 0)
        )
        compile_library(self.nvrtc, NVRTC % (nvrtc or (0, 0)))
        compile_library(plugins / "libOpenMMCUDA.so", PLUGIN, cuda, self.nvrtc, runpath=runpath)
        self.driver_name = cuda.name
        if driver is None:
            cuda.unlink()
        if nvrtc is None:
            self.nvrtc.unlink()
        self.variables = {"OPENMM_PLUGIN_DIR": str(plugins), "LD_LIBRARY_PATH": str(self.driver)}

    def run(self, *words):
        command = [sys.executable, *words]
        environment = {**os.environ, **self.variables}
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def find(self):
        return json.loads(self.run("-c", ASK, self.driver_name))


def test_versions_that_fit(make_machine):
    machine = make_machine(13000, (13, 0))
    assert machine.find() == {
        "summary": "driver for CUDA 13.0, NVRTC 13.0",
        "problem": None,
        "path": str(machine.nvrtc),
    }


@pytest.mark.long
@pytest.mark.parametrize(("driver", "nvrtc"), [(13050, (13, 0)), (13010, (12, 9)), (14000, (13, 5))])
def test_a_newer_driver_fits(make_machine, driver, nvrtc):
    assert make_machine(driver, nvrtc, nvrtc[0]).find()["problem"] is None


def test_no_driver_is_no_problem(make_machine):
    machine = make_machine(None, (13, 5))
    assert machine.find() == {"summary": "no NVIDIA driver, NVRTC 13.5", "problem": None, "path": str(machine.nvrtc)}


def test_no_nvrtc(make_machine):
    found = make_machine(99010, None, series=99).find()
    assert found["summary"] == "driver for CUDA 99.1, libnvrtc.so.99 cannot be loaded"
    assert 'pip install "nvidia-cuda-nvrtc==99.1.*"' in found["problem"]


def test_an_nvrtc_that_is_too_new_is_replaced_by_one_for_the_driver(make_machine):
    machine = make_machine(13010, (13, 5))
    problem = machine.find()["problem"]
    assert "NVRTC 13.5 is newer than the driver, which is for CUDA 13.1" in problem
    assert "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)" in problem
    assert f'"nvidia-cuda-nvrtc==13.1.*", which puts libnvrtc.so.13 into {machine.nvrtc.parent}' in problem
    assert "LD_LIBRARY_PATH" not in problem


@pytest.mark.long
def test_cuda_12_has_other_packages(make_machine):
    machine = make_machine(12040, (12, 9), series=12)
    assert (
        f'"nvidia-cuda-nvrtc-cu12==12.4.*", which puts libnvrtc.so.12 into {machine.nvrtc.parent}'
        in (machine.find()["problem"])
    )


@pytest.mark.long
def test_a_driver_for_cuda_12_needs_another_package_of_openmm(make_machine):
    problem = make_machine(12080, (13, 0)).find()["problem"]
    series = ".".join(mm.Platform.getOpenMMVersion().split(".")[:2])
    assert "pip uninstall openmm-cuda-13" in problem
    assert f'"openmm[cuda12]=={series}.*" "nvidia-cuda-nvrtc-cu12==12.8.*"' in problem


@pytest.mark.long
def test_there_is_no_package_for_cuda_11(make_machine):
    problem = make_machine(11080, (12, 0), series=12).find()["problem"]
    assert problem.endswith("Remedy: install a driver for CUDA 12.0 or newer.")


def test_library_path_comes_first(tmp_path, make_machine, compile_library):
    machine = make_machine(13000, (13, 0))
    other = compile_library(tmp_path / "toolkit" / "libnvrtc.so.13", NVRTC % (13, 5))
    machine.variables["LD_LIBRARY_PATH"] += f":{other.parent}"
    found = machine.find()
    assert found["path"] == str(other)
    assert f"take {other.parent}, where it was found, out of LD_LIBRARY_PATH" in found["problem"]


def test_library_path_comes_first_without_a_driver(tmp_path, make_machine, compile_library):
    machine = make_machine(None, (13, 0))
    other = compile_library(tmp_path / "toolkit" / "libnvrtc.so.13", NVRTC % (13, 5))
    machine.variables["LD_LIBRARY_PATH"] = f":{other.parent}"
    assert machine.find()["path"] == str(other)


def test_without_the_cuda_platform_there_is_nothing_to_say(tmp_path, make_machine):
    machine = make_machine(13000, (13, 5))
    (tmp_path / "empty").mkdir()
    machine.variables["OPENMM_PLUGIN_DIR"] = str(tmp_path / "empty")
    assert machine.find() is None


@pytest.mark.parametrize("fits", [True, False])
def test_info_has_one_line_and_a_problem_if_there_is_one(make_machine, fits):
    output = make_machine(13000, (13, 0 if fits else 5)).run("-m", "openmmconstraints", "info")
    assert f"CUDA               driver for CUDA 13.0, NVRTC 13.{0 if fits else 5}" in output
    assert ('Remedy: pip install "nvidia-cuda-nvrtc==13.0.*"' in output) != fits


def test_the_real_platform_says_which_nvrtc_it_needs():
    """Its file is read: whoever has no driver cannot load it."""
    output = subprocess.run(
        [sys.executable, "-c", ASK, "libcuda.so.1"], capture_output=True, text=True, check=True
    ).stdout
    path = json.loads(output)["path"]
    assert path.endswith("libnvrtc.so.13")
