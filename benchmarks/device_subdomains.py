# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""How fast Newton's method converges where kernels solve a cluster in overlapping subdomains: subdomains.cpp's table,
by CUDA's kernels, on the emulator of tests/emulator.

    cmake --build build --target fakecuda emulatednvrtc
    openmm-constraints benchmark --systems dhfr-protein --constraints AllBonds HAngles --write-input inputs
    python benchmarks/device_subdomains.py inputs

A line for each number of hops of a halo, and for a cluster in one piece: the most corrections to 1e-5, 1e-8 and 1e-12
in any stage of a step of 2 fs from all inputs. tangent: RattleIntegrator from velocities on the constraints. thermal:
ShakeIntegrator from velocities that are not. far: projections on the device of bonds that are off by up to half their
length, as the box they cross has grown. With --more, systems have ten angles, dihedrals, expressions and rigid bodies
besides. Exits with nonzero if one is not solved in subdomains.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import openmm as mm
from emulator import start_on_emulator
from openmm import unit
from other_kinds import hold_others

import openmmconstraints as mc

ROOT = Path(__file__).resolve().parents[1]
TOLERANCES = (1e-5, 1e-8, 1e-12)
MOST = 40  # corrections
STEP_SIZE = 0.002
EDGE, GROWTH = 1.5, 0.045  # nm, of the box; of a bond of 0.1 nm nearly half
MORE = 10  # of each kind


def make_periodic(system: mm.System) -> None:
    """Let a periodic ConstraintForce have the System's constraints, in a small box."""
    force = mc.ConstraintForce()
    for k in range(system.getNumConstraints()):
        i, j, length = system.getConstraintParameters(k)
        force.addDistance(i, j, length)
    while system.getNumConstraints():
        system.removeConstraint(system.getNumConstraints() - 1)
    while system.getNumForces():
        system.removeForce(0)
    force.setUsesPeriodicBoundaryConditions(True)
    system.addForce(force)
    system.setDefaultPeriodicBoxVectors(*EDGE * np.eye(3))


def begin(file: Path, kind: str, tolerance: float, more: bool) -> mm.Context:
    """A Context on the emulator at the start that the file has."""
    system = mm.XmlSerializer.deserialize(system_of(file).read_text(encoding="utf-8"))
    state = mm.XmlSerializer.deserialize(file.read_text(encoding="utf-8"))
    x = state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)
    if more:
        hold_others(system, x, MORE, MORE, MORE)
    if kind == "far":
        make_periodic(system)
        x = x % EDGE
    integrator = (mc.ShakeIntegrator if kind == "thermal" else mc.RattleIntegrator)(STEP_SIZE)
    integrator.setConstraintTolerance(tolerance)
    integrator.setSolver(mc.ConstraintIntegrator.MatrixInversion)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("CUDA"), {"Precision": "double"})
    context.setPositions(x)
    if kind == "thermal":
        context.setVelocitiesToTemperature(300, 1)
    elif kind == "tangent":
        context.setVelocities(state.getVelocities())
    return context


def system_of(file: Path) -> Path:
    """The file of the System of a start."""
    return file.with_name(file.name.split(".")[0] + ".system.xml")


def count(file: Path, kind: str, tolerance: float, more: bool = False) -> tuple[int, str]:
    """Corrections in a step, and the solver."""
    context = begin(file, kind, tolerance, more)
    context.getIntegrator().step(1)
    summary = context.getIntegrator().getSolverSummary()
    return summary.iterations, summary.solver


def projected(file: Path, tolerance: float) -> tuple[bytes, str]:
    """Positions after a step from a box that has grown, and the solver."""
    context = begin(file, "far", tolerance, False)
    context.getIntegrator().step(1)
    context.setPeriodicBoxVectors(mm.Vec3(EDGE + GROWTH, 0, 0), *(EDGE * np.eye(3))[1:])
    context.getIntegrator().step(1)
    x = context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)
    return x.tobytes(), context.getIntegrator().getSolverSummary().solver


def count_far(file: Path, tolerance: float) -> tuple[int, str]:
    """Corrections of a projection, which no summary has: with fewer the cluster is solved as a whole, to other bits."""
    expected, solver = projected(file, tolerance)
    for most in range(1, MOST):
        os.environ["OPENMM_CONSTRAINTS_CORRECTIONS"] = str(most)
        if projected(file, tolerance)[0] == expected:
            break
    os.environ["OPENMM_CONSTRAINTS_CORRECTIONS"] = str(MOST)
    return most, solver


def main() -> int:
    """Start itself on the emulator, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--starts", type=int, default=3, help="at most so many of each system")
    parser.add_argument("--hops", type=int, nargs="*", default=[1, 2, 4, 6, 8])
    parser.add_argument("--kinds", nargs="*", default=["tangent", "thermal", "far"])
    parser.add_argument("--more", action="store_true", help="only the systems with more constraints, and one step")
    options = parser.parse_args()
    status = start_on_emulator(options.build, "device-subdomains", FAKECUDA_MULTIPROCESSORS="132")
    if status is not None:
        return status
    failures = 0
    if not options.more:
        print("| system | hops | " + " | ".join(options.kinds) + " |\n|---|---|" + "---|" * len(options.kinds))
    for system in sorted(options.inputs.glob("*.system.xml")):
        name = system.name.removesuffix(".system.xml")
        files = sorted(options.inputs.glob(f"{name}.*.state.xml"))[: options.starts]
        if options.more:
            corrections, solver = count(files[0], "tangent", 1e-5, more=True)
            failures += "1 in overlapping subdomains" not in solver
            print(f"{name} + {4 * MORE}: {corrections} corrections to 1e-5; {solver}", flush=True)
            continue
        for hops in [0, *options.hops]:
            os.environ["OPENMM_CONSTRAINTS_PARTS"] = "128" if hops else "0"
            os.environ["OPENMM_CONSTRAINTS_HOPS"] = str(hops)
            os.environ["OPENMM_CONSTRAINTS_CORRECTIONS"] = str(MOST)
            cells = []
            for kind in options.kinds:
                if kind == "far" and not hops:
                    cells.append("")
                    continue
                counter = (
                    count_far if kind == "far" else lambda file, tolerance, kind=kind: count(file, kind, tolerance)
                )
                found = [[counter(file, tolerance) for file in files] for tolerance in TOLERANCES]
                cells.append("/".join(str(max(n for n, _ in some)) for some in found))
                failures += hops > 0 and any(
                    "in overlapping subdomains" not in solver for some in found for _, solver in some
                )
            print(f"| {name} | {hops or 'one piece'} | {' | '.join(cells)} |", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
