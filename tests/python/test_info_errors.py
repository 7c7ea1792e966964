# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""`openmm-constraints info` where something is missing: each cause once, and no raw error beside it."""

from __future__ import annotations

import openmm as mm
import pytest

from openmmconstraints import _build_info
from openmmconstraints.commands import info
from openmmconstraints.inspection.cuda import CudaVersions


def lacks(library: str, missing: str) -> str:
    return f"Error loading library /x/{library}: {missing}: cannot open shared object file: No such file or directory"


OURS_OF_CUDA = lacks("libOpenMMConstraintsCUDA.so", "libOpenMMCUDA.so")
OURS_OF_OPENCL = lacks("libOpenMMConstraintsOpenCL.so", "libOpenMMOpenCL.so")


@pytest.fixture
def lines_of(monkeypatch, capsys):
    """A function that gives the lines of `info` on a machine: its failures, versions of CUDA and lost platforms."""

    def lines(failures=(), cuda=None, lost=(), foreign=(), platforms=None):
        found = info.found_platforms() if platforms is None else platforms
        found = {name: platform for name, platform in found.items() if name not in lost}
        monkeypatch.setattr(info, "found_platforms", lambda: found)
        monkeypatch.setattr(info, "find_versions", lambda: cuda)
        monkeypatch.setattr(info, "describe_foreign_platforms", lambda: list(foreign))
        monkeypatch.setattr(mm.Platform, "getPluginLoadFailures", staticmethod(lambda: tuple(failures)))
        for name in lost:
            monkeypatch.setitem(_build_info.PLATFORMS, name, None)
        assert info.info(None, "Automatic") == 0
        return capsys.readouterr().out.splitlines()

    return lines


@pytest.mark.parametrize("driver", [None, (13, 1)])
def test_nvrtc_that_is_missing_is_told_once(lines_of, driver):
    cuda = CudaVersions(driver, None, "libnvrtc.so.13")
    failures = [lacks("libOpenMMCUDA.so", "libnvrtc.so.13"), lacks("libOpenMMRPMDCUDA.so", "libOpenMMCUDA.so")]
    text = "\n".join(lines_of([*failures, OURS_OF_CUDA], cuda, lost=["CUDA"]))
    assert "cannot open" not in text
    assert "could not load" not in text
    assert "libnvrtc.so.13 cannot be loaded" in text
    assert ("Remedy: pip install" in text) == (driver is not None)


def test_another_library_that_cuda_lacks_is_named(lines_of):
    """Driver and NVRTC are there: what is missing stands in the platform's line."""
    cuda = CudaVersions((13, 1), (13, 0), "libnvrtc.so.13")
    text = "\n".join(lines_of([lacks("libOpenMMCUDA.so", "libcufft.so.12"), OURS_OF_CUDA], cuda, lost=["CUDA"]))
    assert text.count("libcufft.so.12") == 1
    assert "does not work: OpenMM's CUDA platform needs libcufft.so.12, which is not installed" in text
    assert "cannot open" not in text


def test_nvrtc_that_is_too_new_is_told_once(lines_of):
    """The platform is loaded, and asking it for devices would raise."""
    cuda = CudaVersions((12, 4), (13, 0), "libnvrtc.so.13")
    text = "\n".join(lines_of(cuda=cuda, platforms={"CUDA": BrokenPlatform("CUDA_ERROR_UNSUPPORTED_PTX_VERSION")}))
    assert text.count("UNSUPPORTED_PTX_VERSION") == 1
    assert text.count("NVRTC 13.0 is newer than the driver") == 1


def test_opencl_without_its_library_is_told_once(lines_of):
    failures = [lacks("libOpenMMOpenCL.so", "libOpenCL.so.1"), lacks("libOpenMMDrudeOpenCL.so", "libOpenMMOpenCL.so")]
    lines = lines_of([*failures, OURS_OF_OPENCL], lost=["OpenCL"])
    assert (
        "OpenCL             does not work: OpenMM's OpenCL platform needs libOpenCL.so.1, which is not installed"
        in lines
    )
    assert not any("cannot open" in line for line in lines)


class BrokenPlatform:
    """A platform with this package's kernels, whose devices cannot be listed."""

    def __init__(self, message):
        self.message = message

    def supportsKernels(self, _names):
        return True

    def getPropertyNames(self):
        return ["DeviceName"]

    def getDevices(self):
        raise mm.OpenMMException(self.message)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("Error initializing CUDA: CUDA_ERROR_NO_DEVICE (100) at /build/CudaPlatform.cpp:91", "no device"),
        ("Error initializing context: clGetPlatformIDs (-1001)", "no device"),
        ("something else", "no device: something else"),
    ],
)
def test_a_platform_without_a_device_does_not_work(lines_of, message, said):
    lines = lines_of(platforms={"OpenCL": BrokenPlatform(message)}, lost=["CUDA"])
    assert f"OpenCL             does not work: {said}" in lines


def test_a_package_of_another_version_is_told_once(lines_of):
    line = (
        'openmm-cuda-12 8.5 is installed beside OpenMM 8.6, which needs the same version of it. Type: pip install "x"'
    )
    failures = [
        "Error loading library /x/libOpenMMCUDA.so: /x/libOpenMMCUDA.so: undefined symbol: _ZN6OpenMM5Event",
        OURS_OF_CUDA,
        "Error loading library /x/libOpenMMPME.so: undefined symbol: other",
    ]
    text = "\n".join(lines_of(failures, CudaVersions((13, 1), (13, 0), "libnvrtc.so.13"), ["CUDA"], [line]))
    assert "openmm-cuda-12 8.5 is installed" in text
    assert "Event" not in text
    assert "libOpenMMPME.so: undefined symbol: other" in text


def test_a_library_of_ours_that_is_broken_is_always_listed(lines_of):
    broken = lacks("libOpenMMConstraintsReference.so", "libOpenCL.so.1")
    lines = lines_of([lacks("libOpenMMOpenCL.so", "libOpenCL.so.1"), broken], lost=["OpenCL"])
    assert any(broken in line for line in lines)
    assert any("this one is a library of openmm-constraints" in line for line in lines)
