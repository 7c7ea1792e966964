# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Kernel texts by the real NVRTC, as code for a compute capability: no GPU is needed."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .elf import read_sections
from .sass import Code, parse_code


@dataclass
class Kernel:
    """What is launched: code and the memory that it needs."""

    name: str
    architecture: str
    code: Code
    parameters_at: int  # in constant bank 0
    registers: int
    static_shared: int  # bytes
    stack: int  # bytes a thread
    constants: dict[int, bytes] = field(default_factory=dict)  # banks besides 0


def nvidia_file(path: str) -> Path:
    """A file of NVIDIA's packages of PyPI.

    :raises FileNotFoundError: if it is not installed
    """
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        found = Path(folder) / "cu13" / path
        if found.exists():
            return found
    raise FileNotFoundError(f"nvidia/cu13/{path}: pip install nvidia-cuda-nvrtc nvidia-cuda-nvdisasm")


def compile_text(text: str, options: list[str]) -> bytes:
    """A kernel text as a cubin.

    :raises RuntimeError: with NVRTC's log, if it is refused
    """
    nvrtc = ctypes.CDLL(str(nvidia_file("lib/libnvrtc.so.13")))
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), None, 0, None, None)
    words = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    failed = nvrtc.nvrtcCompileProgram(program, len(options), words)
    which = "ProgramLog" if failed else "CUBIN"
    getattr(nvrtc, f"nvrtcGet{which}Size")(program, ctypes.byref(size))
    result = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{which}")(program, result)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if failed:
        raise RuntimeError(result.value.decode())
    return result.raw


def disassemble(cubin: Path) -> str:
    """The listing of a cubin."""
    command = [str(nvidia_file("bin/nvdisasm")), "-c", str(cubin)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def compile_recorded(source: Path, architecture: str, cache: Path) -> dict[str, Kernel]:
    """The kernels of a text that the stand-in for NVRTC kept: its first line has the options.

    :param architecture: as sm_90
    :param cache: folder for cubins and listings, since a large text takes ten seconds
    """
    text = source.read_text()
    first, _, rest = text.partition("\n")
    options = [word for word in first.split()[1:] if "arch" not in word] + [f"--gpu-architecture={architecture}"]
    cubin = cache / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.{architecture}.cubin"
    listing = cubin.with_suffix(".sass")
    if not listing.exists():
        cubin.write_bytes(compile_text(rest, options))
        listing.write_text(disassemble(cubin))
    return read_kernels(cubin.read_bytes(), listing.read_text(), architecture)


def read_kernels(cubin: bytes, listing: str, architecture: str) -> dict[str, Kernel]:
    """Code from the listing, sizes and constants from the cubin."""
    sections = read_sections(cubin)
    kernels = {}
    for name, code in parse_code(listing).items():
        info = sections[f".nv.info.{name}"].attributes()
        common = sections[".nv.info"].attributes_of(sections[".symtab"].index_of(name))
        constants = {
            bank: sections[key].content
            for bank in range(1, 8)
            for key in (f".nv.constant{bank}.{name}", f".nv.constant{bank}")
            if key in sections
        }
        kernels[name] = Kernel(
            name,
            architecture,
            code,
            parameters_at=info.parameters_at,
            registers=common.registers,
            static_shared=sections[f".nv.shared.{name}"].size if f".nv.shared.{name}" in sections else 0,
            stack=common.stack,
            constants=constants,
        )
    return kernels
