# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Whether forces are computed faster if all pairs within rigid bodies are excluded: makeRigid(..., excludePairs=True).

    python benchmarks/excluded_pairs.py
    python benchmarks/excluded_pairs.py --sizes 60 --methods PME

A box is full of equal bodies of charged Lennard-Jones particles. The ratio is that of the time of all forces with
exclusions and without. Both take turns.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np
import openmm as mm
from bodies import shape_of
from rich.progress import track

import openmmconstraints as mc
from openmmconstraints.benchmark.timing import Spread, in_turn
from openmmconstraints.terminal.table import make_console, make_table

CUTOFF = 1.0  # nm
PARTICLES = 12_000
METHODS = {"cutoff": mm.NonbondedForce.CutoffPeriodic, "PME": mm.NonbondedForce.PME}


def build(size: int, bodies: int, method: str, exclude: bool) -> tuple[mm.System, np.ndarray]:
    """Bodies on a cubic lattice, and positions (nm)."""
    shape = shape_of(size)
    width = 2 * float(np.abs(shape).max()) + 0.35
    edge = int(np.ceil(bodies ** (1 / 3)))
    places = width * np.stack(np.meshgrid(*3 * [np.arange(edge)]), axis=-1).reshape(-1, 3)[:bodies]
    positions = (places[:, None] + shape).reshape(-1, 3)
    system, force = mm.System(), mm.NonbondedForce()
    system.setDefaultPeriodicBoxVectors(*(max(edge * width, 2.1 * CUTOFF) * np.eye(3)))
    force.setNonbondedMethod(METHODS[method])
    force.setCutoffDistance(CUTOFF)
    for i in range(len(positions)):
        system.addParticle(12)
        force.addParticle(0.2 * (-1) ** i, 0.15, 0.3)
    system.addForce(force)
    mc.makeRigid(system, np.arange(len(positions)).reshape(bodies, size), positions, excludePairs=exclude)
    return system, positions


def measure(size: int, method: str, rounds: int) -> tuple[int, Spread, Spread]:
    """The number of bodies, the time of the forces without exclusions in ms, and the ratio."""
    bodies = max(2, PARTICLES // size)
    contexts = []
    for exclude in (False, True):
        system, positions = build(size, bodies, method, exclude)
        platform = mm.Platform.getPlatform("CPU")
        contexts.append(mm.Context(system, mc.RattleIntegrator(0.001), platform, {"Threads": "1"}))
        contexts[-1].setPositions(positions)
        contexts[-1].getState(forces=True)
    times: list[list[float]] = [[], []]
    for turn in range(rounds):
        for i in in_turn(range(2), turn):
            start = perf_counter()
            contexts[i].getState(forces=True)
            times[i].append(1e3 * (perf_counter() - start))
    all_pairs, ratio = (Spread.of(values) for values in (times[0], [b / a for a, b in zip(*times, strict=True)]))
    assert all_pairs is not None
    assert ratio is not None
    return bodies, all_pairs, ratio


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", type=int, default=[4, 12, 30, 60, 120, 250, 500], help="of a body")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args(arguments)
    table = make_table(
        "Pairs within bodies excluded", ["Method", "Bodies"], ["All pairs, ms", "Excluded / all", "Quartiles"]
    )
    for method, size in track([(m, s) for m in options.methods for s in options.sizes], "Measuring", transient=True):
        bodies, all_pairs, ratio = measure(size, method, options.rounds)
        quartiles = f"{ratio.low:.2f} to {ratio.high:.2f}"
        table.add_row(method, f"{bodies:,} x {size}", f"{all_pairs.median:.3g}", f"{ratio.median:.2f}", quartiles)
    make_console().print(table)


if __name__ == "__main__":
    main()
