# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""CPU seconds that kernels of a first step take to compile, with empty caches, on a machine without a GPU.

    cmake --build build --target fakecuda fakecufft
    pip install nvidia-cuda-nvrtc==13.0.* nvidia-cuda-nvcc==13.0.* && pip install --no-deps openmmtools
    python benchmarks/start.py [--json FILE]

From making the Context to the end of a first step, then of a first energy and the step after it, on the stand-in for
CUDA's driver of tests/calls: NVRTC is the real one, and what it wrote is assembled by ptxas afterwards, as the driver
would. Nothing runs on a device. OpenMM's own integrator beside ours shows what forces take.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/calls"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tools"))

from check_ptx import find_ptxas
from gpumodel.cases import ROOT, stem_of, write_inputs

INTEGRATORS = ("Verlet", "Shake", "Rattle", "LangevinMiddle", "RattleLangevin")


def child(integrator_name: str, stem: str) -> None:
    """Take a step on the stand-in; print its CPU seconds, those of an energy and a step, what the first compiled."""
    import openmm as mm

    import openmmconstraints as mc

    system = mm.XmlSerializer.deserialize(Path(f"{stem}.system.xml").read_text())
    state = mm.XmlSerializer.deserialize(Path(f"{stem}.0.state.xml").read_text())
    module = mm if hasattr(mm, f"{integrator_name}Integrator") else mc
    arguments = (300, 1, 0.002) if "Langevin" in integrator_name else (0.002,)
    integrator = getattr(module, f"{integrator_name}Integrator")(*arguments)
    if module is mc:
        integrator.setConstraintTolerance(1e-5)
    seconds = [time.process_time()]
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CUDA"), {"Precision": "mixed"})
    context.setPositions(state.getPositions())
    context.setVelocities(state.getVelocities())
    integrator.step(1)
    seconds.append(time.process_time())
    compiled = os.listdir(os.environ["OPENMM_CACHE_DIR"])
    context.getState(energy=True)
    integrator.step(1)  # which solves constraints first: whoever computes energies may have moved particles
    seconds.append(time.process_time())
    print(json.dumps([seconds[1] - seconds[0], seconds[2] - seconds[1], compiled]))


def assemble(files: list[Path], capability: str) -> float:
    """CPU seconds of ptxas."""
    ptxas, before = find_ptxas(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    for ptx in files:
        subprocess.run([ptxas, f"-arch=sm_{capability}", str(ptx), "-o", os.devnull], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def measure(integrator: str, stem: Path, build: Path, capability: str) -> dict[str, float]:
    """Seconds of one case."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": ":".join(str(build / "tests/calls" / part) for part in ("fakecuda", "fakecufft")),
            "FAKECUDA_CAPABILITY": capability,
            "FAKECUDA_MULTIPROCESSORS": "132",
            **dict.fromkeys(("OPENMM_CACHE_DIR", "TMPDIR"), cache),
        }
        command = [sys.executable, __file__, "--child", integrator, str(stem)]
        output = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True).stdout
        step, energy, compiled = json.loads(output)
        files = list(Path(cache).iterdir())
        of_step = [file for file in files if file.name in compiled]
        return {
            "step": step,
            "step_ptxas": assemble(of_step, capability),
            "energy": energy,
            "energy_ptxas": assemble([file for file in files if file not in of_step], capability),
            "largest_kB": max(file.stat().st_size for file in files) // 1000,
        }


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--constraints", nargs="+", default=["HBonds", "AllBonds"])
    parser.add_argument("--integrators", nargs="+", choices=INTEGRATORS, default=INTEGRATORS)
    parser.add_argument("--capability", default="90", help="of the GPU")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="where the tests are built")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return 0
    build = options.build.resolve()
    inputs = build / "gpu-model/inputs"
    write_inputs(inputs, ["dhfr"], options.constraints)
    rows = []
    print("DHFR, mixed precision, CPU s of NVRTC and ptxas: a first step, an energy and a step; the largest PTX, kB")
    for constraints, integrator in product(options.constraints, options.integrators):
        if integrator in ("Verlet", "LangevinMiddle") and constraints != "HBonds":
            continue  # OpenMM's kernels are the same for all
        row = measure(integrator, stem_of(inputs, "dhfr", constraints), build, options.capability)
        rows.append({"constraints": constraints, "integrator": integrator, **row})
        print(f"{constraints:10}{integrator:16}", *(f"{row[key]:7.2f}" for key in row), flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
