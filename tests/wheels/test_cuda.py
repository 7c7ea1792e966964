# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The CUDA library of each wheel with both CUDA packages of OpenMM. The driver is the stand-in of tests/calls: kernels
are compiled by the NVRTC of that package and launched, but not run."""

import os
import subprocess

import pytest
from environments import ROOT, Environment, wheels

STEP = """
import openmm as mm, openmmconstraints as mc
from importlib.metadata import version
system, force = mm.System(), mc.ConstraintForce()
for i in range(40):
    system.addParticle(1)
    if i > 0:
        force.addDistance(i - 1, i, 1)  # a chain: more than small clusters
system.addForce(force)
context = mm.Context(system, mc.RattleIntegrator(0.001), mm.Platform.getPlatform("CUDA"), {"Precision": "mixed"})
context.setPositions([[i, 0.1 * (i % 2), 0] for i in range(40)])
context.getIntegrator().step(2)
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A folder with libcuda.so.1."""
    folder = tmp_path_factory.mktemp("driver")
    command = ["c++", "-std=c++17", "-shared", "-fPIC", f"-I{ROOT / 'tests/calls'}", "-isystem"]
    command += [f"{os.environ['CUDA_HOME']}/include", ROOT / "tests/calls/fakecuda.cpp", "-Wl,-soname,libcuda.so.1"]
    subprocess.run([*command, "-o", folder / "libcuda.so.1"], check=True)
    return folder


@pytest.mark.parametrize("cuda", ["12", "13"])
def test_kernels_are_compiled_by_the_nvrtc_of_each_cuda_package(cuda, driver, tmp_path):
    ours = {wheel.series: wheel for wheel in wheels()}
    python = next(iter(ours.values())).python
    ours = {wheel.series: wheel for wheel in wheels() if wheel.python == python}
    environment = Environment.create(tmp_path / "env", python)
    environment.install("openmm-constraints", f"openmm[cuda{cuda}]=={max(ours)}.*")
    for series, wheel in ours.items():
        environment.install("--no-deps", f"openmm=={series}.*", f"openmm-cuda-{cuda}=={series}.*", wheel.path)
        cache = tmp_path / series
        cache.mkdir()
        result = environment.python(
            STEP,
            LD_LIBRARY_PATH=str(driver),
            FAKECUDA_CAPABILITY="90",
            FAKECUDA_DRIVER="13990",  # newer than any NVRTC that pip may have taken
            OPENMM_CACHE_DIR=str(cache),
            TMPDIR=str(cache),
        )
        assert result.returncode == 0, (series, result.stdout + result.stderr)
        assert len(list(cache.iterdir())) > 1, "NVRTC compiled nothing"
