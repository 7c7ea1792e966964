# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Time of a step of rigid water in which a constraint of the centroids of two groups holds all molecules.

    python benchmarks/centroids.py
    python benchmarks/centroids.py --atoms 3000 --platform Reference --rounds 5
    python benchmarks/centroids.py --platform OpenCL
    python benchmarks/centroids.py --atoms 3000 --gpu H200
    python benchmarks/centroids.py --hinge --platform OpenCL

Waters without forces, SHAKE and RATTLE: without the constraint; with "z1 - z2 - h" of two halves, weighted by mass,
which no bond couples to, and weighted equally, which all bonds couple to. They take turns in one process, from the
same state, and the time is that of the process, with one thread. What the constraint costs is the difference to the
first. On OpenCL both are there twice: with a border, and merging all molecules into one cluster. With --hinge two rigid
bodies of 100 particles, which share two of them, are in the second half, too. With --gpu the times of RATTLE are
estimated as by tools/gpu_model.py, which needs no GPU but what its text says.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from time import process_time

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.timing import Spread, in_turn, run_steps
from openmmconstraints.terminal.table import make_console, make_table

ROOT = Path(__file__).resolve().parents[1]
STEP_SIZE = 0.002  # ps
WEIGHTS = ("none", "masses", "equal")
MERGED = " merged"
SHAPE = np.array([[0, 0, 0], [0.09572, 0, 0], [-0.023999, 0.092663, 0]])  # nm, TIP3P


def waters(num_atoms: int, hinge: bool) -> tuple[mm.System, np.ndarray]:
    """Molecules on a lattice, each turned at random."""
    system, places = mm.System(), []
    random = np.random.default_rng(1)
    side = int(np.ceil((num_atoms / 3) ** (1 / 3)))
    for molecule in range(num_atoms // 3):
        turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
        cell = np.array(np.unravel_index(molecule, (side, side, side)))
        places.append(0.31 * cell + SHAPE @ turn)
        first = 3 * molecule
        for mass in (15.9994, 1.008, 1.008):
            system.addParticle(mass)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            system.addConstraint(first + i, first + j, np.linalg.norm(SHAPE[i] - SHAPE[j]))
    if hinge:
        add_hinge(system, places)
    return system, np.concatenate(places)


def add_hinge(system: mm.System, places: list[np.ndarray]) -> None:
    """Two rigid bodies that share two particles, behind all others."""
    random = np.random.default_rng(2)
    first, hinge = system.getNumParticles(), random.uniform(0, 1.5, size=(198, 3))
    for _ in hinge:
        system.addParticle(12)
    places.append(hinge)
    bodies = mc.ConstraintForce()
    for begin, end in ((0, 100), (98, 198)):
        bodies.addRigidBody(range(first + begin, first + end), hinge[begin:end])
    system.addForce(bodies)


def hold(system: mm.System, positions: np.ndarray, weights: str, num_atoms: int) -> None:
    """Hold the height of one half of the waters above the other, and what is besides."""
    half = 3 * (num_atoms // 6)
    masses = np.array([system.getParticleMass(p)._value for p in range(len(positions))])
    of_each = masses if weights == "masses" else np.ones(len(positions))
    height = mc.CustomCentroidConstraintForce(2, "z1 - z2 - h")
    centres = []
    for group in (range(half), range(half, len(positions))):
        height.addGroup(list(group), of_each[group.start : group.stop])
        centres.append(
            np.average(positions[group.start : group.stop], axis=0, weights=of_each[group.start : group.stop])
        )
    height.addGlobalParameter("h", centres[0][2] - centres[1][2])
    height.addConstraint([0, 1])
    system.addForce(height)


def measure(
    num_atoms: int, integrator: str, tolerance: float, platform: str, rounds: int, steps: int, hinge: bool
) -> list[tuple[Spread, int]]:
    """Time of a step (us) and iterations for each kind of weights."""
    kinds = list(WEIGHTS)
    if platform == "OpenCL":
        kinds += [weights + MERGED for weights in WEIGHTS[1:]]
    contexts, times = [], [[] for _ in kinds]
    for kind in kinds:
        system, positions = waters(num_atoms, hinge)
        weights = kind.removesuffix(MERGED)
        if weights != "none":
            hold(system, positions, weights, num_atoms)
        os.environ["OPENMM_CONSTRAINTS_BORDER"] = str(int(weights == kind))
        stepper = getattr(mc, integrator + "Integrator")(STEP_SIZE)
        stepper.setConstraintTolerance(tolerance)
        properties = {"CPU": {"Threads": "1"}, "OpenCL": {"Precision": "mixed"}}.get(platform, {})
        context = mm.Context(system, stepper, mm.Platform.getPlatform(platform), properties)
        context.setPositions(positions)
        context.setVelocitiesToTemperature(300, 1)
        contexts.append(context)
    state = contexts[0].getState(velocities=True)
    for context in contexts:
        context.setVelocities(state.getVelocities())
        run_steps(context, 2)  # the first projects
    for turn in range(rounds + 1):
        for i in in_turn(range(len(kinds)), turn):
            times[i].append(1e6 * run_steps(contexts[i], steps, process_time) / steps)
    spreads = [Spread.of(each[1:]) for each in times]
    assert all(spreads)
    iterations = [context.getIntegrator().getSolverSummary().iterations for context in contexts]
    return list(zip(spreads, iterations, strict=True))


def estimate(num_atoms: int, gpu: str, hinge: bool) -> None:
    """Times of a step of RATTLE on a GPU, launch by launch."""
    sys.path.append(str(ROOT / "tools"))
    from gpumodel.cases import Case, run, stem_of

    work = ROOT / "build" / "gpu-model"
    (work / "inputs").mkdir(parents=True, exist_ok=True)
    for kind in ("none", "masses", "masses" + MERGED):
        case = Case(f"waters{'-hinge' * hinge}:{num_atoms}", kind.replace(" ", "-"), "Rattle", gpu)
        system, positions = waters(num_atoms, hinge)
        system.addForce(mm.HarmonicAngleForce())  # record.py asks for one
        if kind != "none":
            hold(system, positions, "masses", num_atoms)
        integrator = mc.RattleIntegrator(STEP_SIZE)
        context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
        context.setPositions(positions)
        context.setVelocitiesToTemperature(300, 1)
        integrator.applyVelocityConstraints()
        state = context.getState(positions=True, velocities=True, parameters=True)
        stem = stem_of(work / "inputs", case.system, case.constraints)
        Path(f"{stem}.system.xml").write_text(mm.XmlSerializer.serialize(system), encoding="utf-8")
        Path(f"{stem}.0.state.xml").write_text(mm.XmlSerializer.serialize(state), encoding="utf-8")
        os.environ["OPENMM_CONSTRAINTS_BORDER"] = str(int(MERGED not in kind))
        result = run(case, ROOT / "build", work)
        print(f"{kind}: {result.total:.0f} us, {result.launches} launches", flush=True)
        for row in result.rows:
            print(
                f"    {row.kernel}: {row.launches} x {row.blocks} x {row.threads}, {row.microseconds:.1f} us",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoms", type=int, nargs="+", default=[3000, 30000])
    parser.add_argument("--integrators", nargs="+", default=["Shake", "Rattle"])
    parser.add_argument("--tolerances", type=float, nargs="+", default=[1e-5])
    parser.add_argument("--platform", choices=["Reference", "CPU", "OpenCL"], default="CPU")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=10, help="steps of each round")
    parser.add_argument("--hinge", action="store_true", help="two joined rigid bodies are in the second half, too")
    parser.add_argument("--gpu", help="estimate the times on this GPU: H200, RTX4090 or A100")
    options = parser.parse_args()
    if options.gpu is not None:
        for atoms in options.atoms:
            estimate(atoms, options.gpu, options.hinge)
        return

    os.environ["POCL_CPU_MAX_CU_COUNT"] = "1"
    merged = ["by mass, merged", "equal, merged"] if options.platform == "OpenCL" else []
    table = make_table(
        f"{options.platform}, one thread: us a step",
        ["integrator"],
        ["atoms", "tolerance", "no group", "by mass", "equal weights", *merged, "share by mass", "equal", "iterations"],
    )
    for integrator in options.integrators:
        for atoms in options.atoms:
            for tolerance in options.tolerances:
                found = measure(
                    atoms, integrator, tolerance, options.platform, options.rounds, options.steps, options.hinge
                )
                (free, _), (by_mass, _), (equal, _) = found[:3]
                table.add_row(
                    integrator,
                    f"{atoms:,}",
                    f"{tolerance:g}",
                    *(f"{spread.median:.0f}" for spread, _ in found),
                    f"{by_mass.median - free.median:.0f}",
                    f"{equal.median - free.median:.0f}",
                    ", ".join(str(iterations) for _, iterations in found),
                )
    make_console().print(table)


if __name__ == "__main__":
    main()
