# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What rigid bodies cost: a step, by the size of a body and by their number; joints; set-up and memory; a protein.

    python benchmarks/bodies.py
    python benchmarks/bodies.py --parts sizes --platforms CPU:1 --sizes 1000 100000

A body's share is the time of a RattleIntegrator step without forces less that of the same System without the body.
Both take turns. `joints` compares chains of bodies on ball joints or hinges with the same bodies apart. `villin` is the
protein in water with forces, one body or unconstrained; its water is rigid in both. In `rings` all bonds of the protein
are held in both, and the rings of phenylalanine and tryptophan are bodies in one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import openmm as mm
from openmm import app, unit
from rich.progress import track
from scale import in_fresh_process, memory

import openmmconstraints as mc
from openmmconstraints.benchmark.report import machine_names
from openmmconstraints.benchmark.timing import Spread, in_turn, run_steps
from openmmconstraints.benchmark.villin import Villin, build_villin, equilibrate
from openmmconstraints.terminal.table import make_console, make_table

STEP_SIZE = 0.001  # ps
SPACING = 0.15  # nm, between the atoms of a body
ROUND_SECONDS = 0.05  # of each System in a round


@dataclass
class Measurement:
    """One line of the results."""

    part: str
    case: str
    quantity: str
    spread: Spread


def shape_of(atoms: int) -> np.ndarray:
    """Positions [atoms, 3] (nm) of a ball cut from a cubic lattice, not quite at its places."""
    rng = np.random.default_rng(atoms)
    half = int(np.ceil((3 * atoms / (4 * np.pi)) ** (1 / 3))) + 1
    axis = np.arange(-half, half + 1)
    lattice = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    nearest = lattice[np.argsort((lattice**2).sum(axis=1), kind="stable")[:atoms]]
    return SPACING * (nearest + rng.uniform(-0.1, 0.1, (atoms, 3)))


def build(atoms: int, bodies: int, with_bodies: bool = True) -> tuple[mm.System, np.ndarray]:
    """Equal bodies in a row, or their atoms without constraints, and the positions (nm)."""
    shape = shape_of(atoms)
    width = 2 * float(np.abs(shape).max()) + 1
    positions = (shape + np.arange(bodies)[:, None, None] * [width, 0, 0]).reshape(-1, 3)
    system, force = mm.System(), mc.ConstraintForce()
    for _ in range(atoms * bodies):
        system.addParticle(12)
    for first in range(0, atoms * bodies, atoms) if with_bodies else ():
        force.addRigidBody(list(range(first, first + atoms)), shape)
    system.addForce(force)
    return system, positions


LINK = 10  # atoms of a body in a chain


def build_chain(bodies: int, shared: int) -> tuple[mm.System, np.ndarray]:
    """A helix of equal bodies that each share 1 (ball joint) or 2 atoms (hinge) with the next, or 0; positions (nm)."""
    cosine, sine, shift = np.cos(0.7), np.sin(0.7), np.array([0.6, 0.1, 0])
    turn = np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]])  # from a body to the next
    entry = np.array([[0, 0, 0], [0, 0, SPACING]])[:shared]
    middle = shape_of(LINK - 2 * shared) + np.array([0.3, 0, 0.5 * SPACING])
    shape = np.concatenate([entry, middle, entry @ turn.T + shift])
    system, force, positions = mm.System(), mc.ConstraintForce(), []
    place, way = np.eye(3), np.zeros(3)
    for body in range(bodies):
        first = len(positions) - (shared if body else 0)
        positions += list(way + shape[shared if body else 0 :] @ place.T)
        force.addRigidBody(list(range(first, first + LINK)), shape)
        way, place = way + place @ shift, place @ turn
    for _ in positions:
        system.addParticle(12)
    system.addForce(force)
    return system, np.array(positions)


def make_context(system: mm.System, positions: np.ndarray, platform: str) -> mm.Context:
    """A Context at 300 K. @param platform  "Reference", or "CPU:2" with a number of threads"""
    name, _, threads = platform.partition(":")
    properties = {"Threads": threads} if threads else {}
    context = mm.Context(system, mc.RattleIntegrator(STEP_SIZE), mm.Platform.getPlatform(name), properties)
    context.setPositions(positions)
    context.setVelocitiesToTemperature(300, 1)
    return context


def alternate(contexts: list[mm.Context], rounds: int, seconds: float = ROUND_SECONDS) -> list[list[float]]:
    """Seconds a step of each, by round. A round takes about `seconds` of each."""
    for context in contexts:
        run_steps(context, 2)  # the first projects the state that was set
    steps = max(1, round(seconds / max(run_steps(context, 1) for context in contexts)))
    times: list[list[float]] = [[] for _ in contexts]
    for turn in range(rounds):
        for i in in_turn(range(len(contexts)), turn):
            times[i].append(run_steps(contexts[i], steps) / steps)
    return times


def spread_of(values: list[float]) -> Spread:
    found = Spread.of(values)
    assert found is not None
    return found


# ---- parts ---------------------------------------------------------------------------------------------------------


def measure_step(part: str, atoms: int, bodies: int, platform: str, rounds: int) -> list[Measurement]:
    """The share of bodies in a step, and the whole step."""
    contexts = [make_context(*build(atoms, bodies, has_bodies), platform) for has_bodies in (True, False)]
    rigid, free = alternate(contexts, rounds)
    count = atoms * bodies
    case = f"{bodies:,} x {atoms:,}, {platform}"
    share = [1e9 * (r - f) / count for r, f in zip(rigid, free, strict=True)]
    return [
        Measurement(part, case, "share, ns per atom", spread_of(share)),
        Measurement(part, case, "step, ns per atom", spread_of([1e9 * r / count for r in rigid])),
    ]


JOINTS = {"ball joints": 1, "hinges": 2}


def measure_joints(name: str, bodies: int, platform: str, rounds: int) -> list[Measurement]:
    """What joints add to a step and to the creation of a Context with its first step."""
    creation, contexts = [], []
    for shared in (JOINTS[name], 0):
        built = build_chain(bodies, shared)
        start = perf_counter()
        contexts.append(make_context(*built, platform))
        contexts[-1].getIntegrator().step(1)
        creation.append(1e3 * (perf_counter() - start))
    joined, apart = alternate(contexts, rounds)
    case = f"{bodies:,} on {name}, {platform}"
    return [
        Measurement(
            "joints",
            case,
            "joints, ns per body",
            spread_of([1e9 * (j - a) / bodies for j, a in zip(joined, apart, strict=True)]),
        ),
        Measurement("joints", case, "step, ns per body", spread_of([1e9 * j / bodies for j in joined])),
        Measurement("joints", case, "Context and first step, ms", spread_of(creation[:1])),
    ]


def set_up(atoms: int, platform: str, with_body: bool) -> tuple[float, int]:
    """Seconds of Context creation, and bytes of the process after a step."""
    system, positions = build(atoms, 1, with_body)
    name, _, threads = platform.partition(":")
    integrator = mc.RattleIntegrator(STEP_SIZE)
    start = perf_counter()
    context = mm.Context(system, integrator, mm.Platform.getPlatform(name), {"Threads": threads} if threads else {})
    creation = perf_counter() - start
    context.setPositions(positions)
    integrator.step(1)
    return creation, memory()[0]


def measure_set_up(atoms: int, platform: str, rounds: int) -> list[Measurement]:
    """What a body adds to the creation of a Context and to the memory, each in a process of its own."""
    times, sizes = [], []
    for _ in range(rounds):
        rigid, free = (in_fresh_process(set_up, atoms, platform, with_body) for with_body in (True, False))
        times.append(1e3 * (rigid[0] - free[0]))
        sizes.append((rigid[1] - free[1]) / atoms)
    case = f"1 x {atoms:,}, {platform}"
    return [
        Measurement("set-up", case, "Context, ms", spread_of(times)),
        Measurement("set-up", case, "memory, B per atom", spread_of(sizes)),
    ]


def villin() -> tuple[mm.System, int, np.ndarray]:
    """The protein without constraints in rigid water, the number of its atoms, and positions (nm)."""
    pdb = app.PDBFile(str(Path(app.__file__).with_name("data") / "test.pdb"))
    system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(
        pdb.topology,
        nonbondedMethod=app.PME,
        nonbondedCutoff=0.9 * unit.nanometer,
        constraints=None,
        rigidWater=True,
        removeCMMotion=False,
    )
    start = np.array(pdb.getPositions(asNumpy=True).value_in_unit(unit.nanometer))
    settled = equilibrate(Villin(system, start), mm.Platform.getPlatform("CPU"), {}, 0)
    atoms = sum(residue.name not in ("HOH", "Cl") for residue in pdb.topology.residues() for _ in residue.atoms())
    return system, atoms, settled.positions


def compare(
    part: str,
    ratio: str,
    systems: tuple[mm.System, mm.System],
    positions: np.ndarray,
    step_size: float,
    platform: str,
    rounds: int,
) -> list[Measurement]:
    """A step of the first System over one of the second, with all forces and with none.

    @param ratio  names them: "as one body / unconstrained"
    """
    found = []
    for name, with_forces in (("villin in water", True), ("the same without forces", False)):
        contexts = []
        for system in map(mm.XmlSerializer.clone, systems):
            for i in reversed(range(system.getNumForces())):
                if not with_forces and not mc.ConstraintForce.isinstance(system.getForce(i)):
                    system.removeForce(i)
            system.addForce(mc.ConstraintForce())  # so that both have one
            contexts.append(make_context(system, positions, platform))
            contexts[-1].getIntegrator().setStepSize(step_size)
        first, second = alternate(contexts, rounds, 0.5 if with_forces else ROUND_SECONDS)
        pairs = list(zip(first, second, strict=True))
        case = f"{name}, {platform}"
        found += [
            Measurement(part, case, ratio, spread_of([a / b for a, b in pairs])),
            Measurement(part, case, f"{ratio.split(' / ')[1]}, µs", spread_of([1e6 * b for _, b in pairs])),
            Measurement(part, case, "difference, µs", spread_of([1e6 * (a - b) for a, b in pairs])),
        ]
    return found


def measure_villin(platform: str, rounds: int) -> list[Measurement]:
    """The protein as one body, and without constraints in it."""
    system, atoms, positions = villin()
    rigid = mm.XmlSerializer.clone(system)
    body = mc.ConstraintForce()
    body.setUsesPeriodicBoundaryConditions(True)
    body.addRigidBody(list(range(atoms)), positions[:atoms])
    rigid.addForce(body)
    step_size = STEP_SIZE / 2  # hydrogens of the protein are free
    return compare("villin", "as one body / unconstrained", (rigid, system), positions, step_size, platform, rounds)


RINGS = {
    "PHE": ("CG", "CD1", "CD2", "CE1", "CE2", "CZ", "HD1", "HD2", "HE1", "HE2", "HZ"),
    "TRP": ("CG", "CD1", "CD2", "NE1", "CE2", "CE3", "CZ2", "CZ3", "CH2", "HD1", "HE1", "HE3", "HZ2", "HZ3", "HH2"),
}


def measure_rings(platform: str, rounds: int) -> list[Measurement]:
    """All bonds of the protein held: with its rings as bodies, which bonds join to the rest, and without bodies."""
    held = build_villin("AllBonds")
    positions = equilibrate(held, mm.Platform.getPlatform("CPU"), {}, 0).positions
    rigid = mm.XmlSerializer.clone(held.system)
    bodies = mc.ConstraintForce()
    topology = app.PDBFile(str(Path(app.__file__).with_name("data") / "test.pdb")).topology
    for residue in topology.residues():
        atoms = [atom.index for atom in residue.atoms() if atom.name in RINGS.get(residue.name, ())]
        if atoms:
            bodies.addRigidBody(atoms, positions[atoms])
    rigid.addForce(bodies)
    return compare("rings", "as bodies / bonds alone", (rigid, held.system), positions, STEP_SIZE, platform, rounds)


# ---- the program ---------------------------------------------------------------------------------------------------


def cases(options: argparse.Namespace) -> list[Callable[[], list[Measurement]]]:
    """What is to be measured."""
    found: list[Callable[[], list[Measurement]]] = []
    for platform in options.platforms:
        if "sizes" in options.parts:
            for n in options.sizes:  # as many atoms at least as take longer than the step's overhead
                found.append(lambda n=n, p=platform: measure_step("sizes", n, max(1, 10_000 // n), p, options.rounds))
        if "numbers" in options.parts:
            for m in options.numbers:
                found.append(lambda m=m, p=platform: measure_step("numbers", 10, m, p, options.rounds))
        if "joints" in options.parts:
            for name in JOINTS:
                for n in options.chains:
                    found.append(lambda j=name, n=n, p=platform: measure_joints(j, n, p, options.rounds))
    threads = options.platforms[-1]
    if "set-up" in options.parts:
        found += [lambda n=n: measure_set_up(n, threads, min(5, options.rounds)) for n in options.set_up_sizes]
    if "villin" in options.parts:
        found.append(lambda: measure_villin(threads, options.rounds))
    if "rings" in options.parts:
        found.append(lambda: measure_rings(threads, options.rounds))
    return found


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ["sizes", "numbers", "joints", "set-up", "villin", "rings"]
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--platforms", nargs="+", default=["Reference", "CPU:1", "CPU:2"], metavar="NAME[:THREADS]")
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 3, 10, 100, 1_000, 10_000, 100_000])
    parser.add_argument("--numbers", nargs="+", type=int, default=[1, 10, 100, 1_000, 10_000], help="bodies of 10")
    parser.add_argument("--chains", nargs="+", type=int, default=[2, 10, 100, 1_000], help=f"bodies of {LINK}")
    parser.add_argument("--set-up-sizes", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--output", type=Path, metavar="FILE.json")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    table = make_table("Rigid bodies", ["Part", "Case", "Quantity"], ["Median", "Quartiles"])
    measured: list[Measurement] = []
    for measure in track(cases(options), "Measuring", transient=True):
        for line in measure():
            measured.append(line)
            s = line.spread
            table.add_row(line.part, line.case, line.quantity, f"{s.median:.4g}", f"{s.low:.4g} to {s.high:.4g}")
    make_console().print(table)
    if options.output is not None:
        described = {"settings": machine_names(), "results": [asdict(line) for line in measured]}
        options.output.write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
