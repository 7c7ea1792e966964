# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Whether the NVIDIA driver accepts the kernels that NVRTC compiles for OpenMM's CUDA platform.

OpenMM compiles kernels to PTX when a Context is created. A driver for CUDA X.Y accepts PTX of NVRTC X.Y and older. Both
versions are asked of the libraries that OpenMM loads, without a Context.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import openmm as mm

Version = tuple[int, int]
OLDEST_SERIES = 12  #: of CUDA, for which OpenMM has a package
DRIVER = "libcuda.so.1"  #: its file name


@dataclass(frozen=True)
class CudaVersions:
    """What OpenMM's CUDA platform finds on this machine."""

    driver: Version | None  #: of CUDA, that the driver is for; None: there is no driver
    nvrtc: Version | None  #: None: it cannot be loaded
    library: str  #: NVRTC's file name, as libnvrtc.so.13
    path: str = ""  #: of the NVRTC that was found
    folders: tuple[Path, ...] = ()  #: where OpenMM looks for it after LD_LIBRARY_PATH, the wheel's own last

    @property
    def problem(self) -> str | None:
        """Why no Context can be created on the CUDA platform, with a remedy; None where the versions fit, and where
        there is no driver."""
        if self.driver is None:
            return None
        if self.nvrtc is None:
            return (
                f"OpenMM compiles CUDA kernels with {self.library}, which cannot be loaded. {self._remedy(self.driver)}"
            )
        if self.nvrtc <= self.driver:
            return None
        return (
            f"NVRTC {_text(self.nvrtc)} is newer than the driver, which is for CUDA {_text(self.driver)} and refuses "
            "its PTX: no Context can be created on the CUDA platform, not even with OpenMM's own integrators "
            f"(CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)). {self._remedy(self.driver)}"
        )

    @property
    def summary(self) -> str:
        """Both versions in one line."""
        nvrtc = f"{self.library} cannot be loaded" if self.nvrtc is None else f"NVRTC {_text(self.nvrtc)}"
        return f"{'no NVIDIA driver' if self.driver is None else f'driver for CUDA {_text(self.driver)}'}, {nvrtc}"

    def _remedy(self, driver: Version) -> str:
        """What brings an NVRTC for this driver."""
        series = int(self.library.rpartition(".")[2])
        if driver[0] < OLDEST_SERIES:
            return f"Remedy: install a driver for CUDA {series}.0 or newer."
        if driver[0] < series:  # no NVRTC of that series is old enough
            version = ".".join(mm.Platform.getOpenMMVersion().split(".")[:2])
            return (
                f'Remedy: pip uninstall openmm-cuda-{series}, then pip install "openmm[cuda{driver[0]}]=={version}.*" '
                f'"nvidia-cuda-nvrtc-cu{driver[0]}=={_text(driver)}.*"; or install a newer driver.'
            )
        package = "nvidia-cuda-nvrtc" if series >= 13 else f"nvidia-cuda-nvrtc-cu{series}"
        newest = _text(driver) if driver[0] == series else f"{series}"
        remedy = f'Remedy: pip install "{package}=={newest}.*"'
        if self.folders:
            remedy += f", which puts {self.library} into {self.folders[-1]}"
        if self.path and Path(self.path).parent.resolve() not in {folder.resolve() for folder in self.folders}:
            remedy += f", and take {Path(self.path).parent}, where it was found, out of LD_LIBRARY_PATH"
        return f"{remedy}; or install a newer driver."


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def find_versions() -> CudaVersions | None:
    """Ask the driver and NVRTC; None where OpenMM's CUDA platform is not installed."""
    plugin = plugin_folder() / "libOpenMMCUDA.so"
    if not plugin.is_file():
        return None
    library, folders = needed_nvrtc(plugin)
    driver, nvrtc = _load(DRIVER, folders), _load(library, folders)
    return CudaVersions(
        None if driver is None else driver_version(driver),
        None if nvrtc is None else nvrtc_version(nvrtc),
        library,
        "" if nvrtc is None else _path_of(nvrtc.nvrtcVersion),
        folders,
    )


def plugin_folder() -> Path:
    """The folder from which `import openmm` loads platforms."""
    wheel = Path(mm.version.openmm_library_path)
    chosen = os.environ.get("OPENMM_PLUGIN_DIR") is not None
    return Path(mm.Platform.getDefaultPluginsDirectory()) if chosen or not wheel.is_dir() else wheel / "plugins"


def needed_nvrtc(plugin: Path) -> tuple[str, tuple[Path, ...]]:
    """The file name of the NVRTC that a library needs, and where it looks for it (RUNPATH)."""
    content = plugin.read_bytes()
    name = re.search(rb"\0(libnvrtc\.so[.\d]*)\0", content)
    runpath = re.search(rb"\0(\$ORIGIN[^\0]*)\0", content)
    words = [] if runpath is None else runpath[1].decode().split(":")
    folders = [Path(os.path.normpath(word.replace("$ORIGIN", str(plugin.resolve().parent)))) for word in words]
    return "libnvrtc.so" if name is None else name[1].decode(), tuple(folders)


def driver_version(driver: ctypes.CDLL) -> Version | None:
    """The version of CUDA that a driver is for."""
    version = ctypes.c_int(0)
    if driver.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return None
    return version.value // 1000, version.value % 1000 // 10


def nvrtc_version(nvrtc: ctypes.CDLL) -> Version | None:
    """The version of CUDA that an NVRTC belongs to."""
    major, minor = ctypes.c_int(0), ctypes.c_int(0)
    if nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) != 0:
        return None
    return major.value, minor.value


def _load(name: str, folders: Sequence[Path]) -> ctypes.CDLL | None:
    """The library of that name that OpenMM's plugin has loaded, or else would find: in LD_LIBRARY_PATH, in the
    plugin's RUNPATH, or where the system has libraries."""
    try:
        return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
    except OSError:
        pass
    first = [Path(word) for word in os.environ.get("LD_LIBRARY_PATH", "").split(":") if word]
    found = [str(folder / name) for folder in (*first, *folders) if (folder / name).is_file()]
    for candidate in (*found, name):
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    return None


class _Place(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def _path_of(function) -> str:
    """The file of the library that has a function."""
    place = _Place()
    address = ctypes.cast(function, ctypes.c_void_p)
    if not ctypes.CDLL(None).dladdr(address, ctypes.byref(place)) or place.file is None:
        return ""
    return os.path.normpath(os.fsdecode(place.file))
