# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Constrained runs at a series of values of a reaction coordinate, one after the other or on any executor."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field, replace
from math import ceil
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import openmm as mm
from openmm import app, unit

from openmmconstraints._constraint_index import ConstraintIndex
from openmmconstraints._quantities import to_positions
from openmmconstraints.freeenergy.coordinates import Coordinate
from openmmconstraints.freeenergy.held import to_coordinate
from openmmconstraints.freeenergy.plain_lengths import are_plain, keep_unit, require_nanometers, to_list
from openmmconstraints.inspection.arguments import require, to_count
from openmmconstraints.inspection.moves import project, warn_of_move
from openmmconstraints.inspection.platforms import PlatformSource, choose_platform
from openmmconstraints.inspection.positions import positions_of
from openmmconstraints.reporters.blocking import MeanForce
from openmmconstraints.reporters.blue_moon_reporter import BlueMoonReporter
from openmmconstraints.terminal.progress import progress_bar
from openmmconstraints.wrapper import RattleLangevinIntegrator

#: A System, its XML, or a picklable function that builds it.
SystemSource: TypeAlias = mm.System | str | Callable[[], mm.System]
#: A coordinate, or a constraint of the System that holds one.
CoordinateSource: TypeAlias = Coordinate | ConstraintIndex | tuple[mm.Force, int] | tuple[mm.Force, str, int]


class WindowError(RuntimeError):
    """A window's run failed; the message says which and why."""


@dataclass(frozen=True)
class Window:
    """What the constrained run at one value of the coordinate gave."""

    value: float  #: of the coordinate (nm, rad)
    mean_force: MeanForce  #: dA/dxi there
    positions: np.ndarray = field(repr=False)  #: [numParticles, 3] at its end (nm)


def run_window(
    system: SystemSource,
    positions: Any,
    coordinate: CoordinateSource,
    value: float,
    integrator: RattleLangevinIntegrator,
    steps: int,
    *,
    equilibration: int = 0,
    interval: int = 10,
    seed: int = 0,
    platform: PlatformSource | None = None,
    properties: Mapping[str, str] | None = None,
    file: str | Path | None = None,
) -> Window:
    """Hold a coordinate at a value and average the mean force. Function and arguments are picklable.

    Positions are projected onto the constraints at the start: they have to be near the value, or the projection
    distorts the molecule or fails; `pull` makes such positions. A RuntimeWarning tells of a particle that moves farther
    than the integrator's setMaxProjection(). Velocities are drawn at the integrator's temperature.

    Parameters
    ----------
    system : openmm.System, str or callable
        without a constraint on the coordinate, unless that is given by it; or its XML; or a function without arguments
        that builds it
    positions : array or Quantity
        of shape (numParticles, 3), in nm
    coordinate : Coordinate
        what is held: Distance, CentroidDistance, CoordinationNumber, Angle or Dihedral; or what addDistance(),
        addDihedral(), ... returned, or (force, "dihedral", 0), for a constraint of the System, whose value is set then
    value : float or Quantity
        in the coordinate's unit
    integrator : RattleLangevinIntegrator
        a template: the run takes a copy
    steps : int
        how many are averaged, every `interval`-th of them
    equilibration : int
        how many come before
    seed : int
        of velocities and heat bath; 0: a new one every time. The same seed gives the same run on the Reference platform
    platform : str, openmm.Platform or None
        its name, or itself; None: the fastest that works
    properties : dict or None
        of the platform, as in openmm.Context
    file : path
        for the CSV of BlueMoonReporter

    Raises
    ------
    ValueError
        if a plain length must be in angstroms, because a tenth of it is near the positions, or if a constraint of the
        System holds the coordinate already
    WindowError
        if anything fails, with OpenMM's or this package's message
    """
    coordinate = check_run(system, coordinate, integrator)
    given = value
    [value] = coordinate.to_numbers([value])
    steps, equilibration, interval = check_lengths(steps, equilibration, interval)
    try:
        source = _load(system)
        if are_plain(coordinate, [given]):
            x = _finite_positions(source, positions)
            require_nanometers(coordinate, [value], coordinate.measure(source, x))
        start = source, positions, coordinate, value, 0.0, integrator, seed, platform, properties
        simulation = _start(*start, "Start from positions near the value: pull() makes them.")
        simulation.step(equilibration)
        reporter = BlueMoonReporter(file, interval, coordinate.held_by(simulation.system))
        simulation.reporters.append(reporter)
        simulation.step(steps)
        mean_force = reporter.getMeanForce()
        if not mean_force.coordinate.startswith(coordinate.label):  # of an expression
            mean_force = replace(mean_force, coordinate=coordinate.label, unit=coordinate.force_unit)
        return Window(value, mean_force, _positions(simulation))
    except mm.OpenMMException as error:
        raise WindowError(f"{coordinate.label} = {value:g}: {error}") from None


def pull(
    system: SystemSource,
    positions: Any,
    coordinate: CoordinateSource,
    values: Iterable[float] | unit.Quantity,
    integrator: RattleLangevinIntegrator,
    steps: int,
    *,
    seed: int | None = None,
    platform: PlatformSource | None = None,
    properties: Mapping[str, str] | None = None,
    progress: bool = True,
) -> list[np.ndarray]:
    """Positions for windows: from a start, drag the coordinate by a moving constraint from value to value.

    The way from the start's own value to the first one is pulled at the same speed.

    Parameters
    ----------
    steps : int
        from one value to the next
    others
        as in `run_window` and `run_windows`

    Returns
    -------
    list of arrays
        positions [numParticles, 3] (nm) on arrival at each value

    Raises
    ------
    ValueError
        if plain lengths must be in angstroms, because a tenth of them is near the positions, if a constraint of the
        System holds the coordinate already, if a position is not finite, or if the seed is negative
    WindowError
        if the run fails
    """
    coordinate = check_run(system, coordinate, integrator)
    given = to_list(values)
    values = coordinate.to_numbers(given)
    steps = to_count(steps, "freeenergy", "steps from one value to the next", least=0)
    source = _load(system)
    now = _finite_positions(source, positions)
    spacing = np.median(np.abs(np.diff(values))) if len(values) > 1 else 0.0
    measured = coordinate.measure(source, now)
    if are_plain(coordinate, given):
        require_nanometers(coordinate, values, measured)
    before = values[0] if measured is None else coordinate.nearest(measured, values[0])
    arrivals = []
    with progress_bar("pulling", len(values), progress) as advance:
        for number, (value, run_seed) in enumerate(zip(values, make_seeds(seed, len(values)), strict=True)):
            first = number == 0 and spacing > 0
            length = steps * max(1, ceil(abs(value - before) / spacing)) if first else steps
            time = length * integrator.getStepSize().value_in_unit(unit.picosecond)
            rate = (value - before) / time if time > 0 else 0.0
            start = value if time == 0 else before
            is_near = number == 0 and time > 0 and measured is not None  # and other constraints may be far off
            remedy = "Minimize before the pull: openmmconstraints.minimize(context)." if is_near else ""
            try:
                simulation = _start(
                    source, now, coordinate, start, rate, integrator, run_seed, platform, properties, remedy
                )
                simulation.step(length)
            except mm.OpenMMException as error:
                raise WindowError(f"pulling {coordinate.label} from {before:g} to {value:g}: {error}") from None
            now, before = _positions(simulation), value
            arrivals.append(now)
            advance()
    return arrivals


def run_windows(
    system: SystemSource,
    positions: Sequence[Any],
    coordinate: CoordinateSource,
    values: Iterable[float] | unit.Quantity,
    integrator: RattleLangevinIntegrator,
    steps: int,
    *,
    executor: Executor | None = None,
    seed: int | None = None,
    platform: PlatformSource | None = None,
    properties: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    progress: bool = True,
    **options: Any,
) -> list[Window]:
    """`run_window` for every value, on the processes of an executor.

    Parameters
    ----------
    positions : sequence of arrays
        one for each value, as `pull` returns them
    executor : concurrent.futures.Executor or None
        ProcessPoolExecutor(), client.get_executor() of Dask, mpi4py.futures.MPIPoolExecutor(), or any other; None: one
        after the other in this process. Scripts that start processes need `if __name__ == "__main__":`. An
        executor of threads is no faster than None, because threads wait for each other
    seed : int or None
        of the seeds of all windows; None: new ones every time
    properties : dict or None
        of the platform; None: on an executor one thread for each run on the CPU platform, else OpenMM's defaults
    folder : path or None
        for a CSV of each window, window-000.csv and so on; it may hold no others yet
    progress : bool
        whether to show a bar as windows finish
    others
        as in `run_window`

    Returns
    -------
    list of Window
        in the order of the values

    Raises
    ------
    ValueError
        if plain lengths must be in angstroms, because a tenth of them is near the positions, if a constraint of the
        System holds the coordinate already, if the folder holds windows of another run, or if the seed is negative
    WindowError
        if a window fails; those that have not begun are cancelled
    """
    coordinate = check_run(system, coordinate, integrator)
    given = to_list(values)
    values = keep_unit(coordinate, given, coordinate.to_numbers(given))
    if len(positions) != len(values):
        raise ValueError(
            f"there are {len(values)} values, but positions for {len(positions)}. Give an array for each value, as "
            "pull() returns them."
        )
    check_lengths(steps, options.get("equilibration", 0), options.get("interval", 10))
    check_executor(executor)
    seeds = make_seeds(seed, len(values))
    if executor is not None:
        platform = choose_platform(platform).getName()
        if properties is None and platform == "CPU":
            properties = {"Threads": "1"}
    make_folder(folder)
    xml = system if callable(system) or isinstance(system, str) else mm.XmlSerializer.serialize(system)
    tasks = [
        {
            "system": xml,
            "positions": np.array(to_positions(positions[number], "freeenergy")).reshape(-1, 3),
            "coordinate": coordinate,
            "value": value,
            "integrator": integrator,
            "steps": steps,
            "seed": window_seed,
            "platform": platform,
            "properties": properties,
            "file": None if folder is None else Path(folder).absolute() / f"window-{number:03}.csv",
            **options,
        }
        for number, (value, window_seed) in enumerate(zip(values, seeds, strict=True))
    ]
    with progress_bar("windows", len(tasks), progress) as advance:
        if executor is None:
            results = []
            for task in tasks:
                results.append(run_window(**task))
                advance()
            return results
        futures = [executor.submit(run_window, **task) for task in tasks]
        try:
            for future in as_completed(futures):
                future.result()
                advance()
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        return [future.result() for future in futures]


def check_run(system: SystemSource, coordinate: CoordinateSource, integrator: RattleLangevinIntegrator) -> Coordinate:
    """The coordinate; see to_coordinate().

    :raises TypeError, ValueError: if one of them is anything else
    """
    coordinate = to_coordinate(system, coordinate)
    if not isinstance(integrator, RattleLangevinIntegrator):
        given = "the class" if isinstance(integrator, type) else type(integrator).__name__
        raise TypeError(
            f"the windows need a heat bath: RattleLangevinIntegrator, not {given}. Type RattleLangevinIntegrator("
            "temperature, friction, stepSize)."
        )
    return coordinate


def check_lengths(steps: int, equilibration: int, interval: int) -> tuple[int, int, int]:
    """The numbers of steps of a window, as whole numbers.

    :raises TypeError, ValueError: if one is no number of steps, or if no sample would be taken
    """
    steps = to_count(steps, "freeenergy", "steps")
    equilibration = to_count(equilibration, "freeenergy", "equilibration", least=0)
    interval = to_count(interval, "freeenergy", "interval")
    if steps < interval:
        raise ValueError(
            f"freeenergy: with a sample every {interval} steps, {steps} steps give none. Take more steps, or a smaller "
            "interval."
        )
    return steps, equilibration, interval


def check_executor(executor: Any) -> None:
    """:raises TypeError: if it is none"""
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError(
            "freeenergy: executor is one of concurrent.futures, such as ProcessPoolExecutor(4), or None, not "
            f"{executor!r}."
        )


def make_folder(folder: str | Path | None) -> None:
    """Make a folder for the files of one run.

    :raises ValueError: if it holds windows, which this run might leave beside its own
    """
    if folder is None:
        return
    old = sorted(Path(folder).glob("window-*.csv"))
    if old:
        raise ValueError(
            f"'{folder}' holds windows of another run ({old[0].name} is one of {len(old)}). Give another folder, or "
            "remove them first."
        )
    Path(folder).mkdir(parents=True, exist_ok=True)


def _start(
    system: SystemSource,
    positions: Any,
    coordinate: Coordinate,
    value: float,
    rate: float,
    integrator: RattleLangevinIntegrator,
    seed: int,
    platform: PlatformSource | None,
    properties: Mapping[str, str] | None,
    remedy: str,
) -> app.Simulation:
    """A Simulation on the constraints, with velocities.

    :param remedy: what to do if the projection moves a particle far; empty: it may, without a word
    """
    system, integrator = _load(system), copy.deepcopy(integrator)
    integrator.setRandomNumberSeed(seed)
    coordinate.hold(system, value, rate)
    # A Simulation never looks into its topology.
    simulation = app.Simulation(
        app.Topology(), system, integrator, choose_platform(platform), None if properties is None else dict(properties)
    )
    simulation.context.setPositions(_finite_positions(system, positions))
    moved = project(integrator)
    if remedy:
        warn_of_move(moved, integrator, f"freeenergy: the start at {coordinate.label} = {value:g} was moved", remedy)
    simulation.context.setVelocitiesToTemperature(integrator.getTemperature(), seed)
    return simulation


def _load(system: SystemSource) -> mm.System:
    """A new System from its source."""
    if isinstance(system, str) and not system.lstrip().startswith("<"):
        raise ValueError(f"freeenergy: {system!r} is not the XML of a System. Of a file, give Path(...).read_text().")
    if isinstance(system, str):
        return mm.XmlSerializer.deserialize(system)
    if callable(system):
        system = system()
        require(mm.System, system, "freeenergy")
        return system
    require(mm.System, system, "freeenergy")
    return copy.deepcopy(system)


def _finite_positions(system: mm.System, positions: Any) -> np.ndarray:
    """Positions that users give, nm.

    :raises TypeError, ValueError: see positions_of(), and if one is NaN or infinite
    """
    x, _ = positions_of(system, positions, "freeenergy")
    lost = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(lost):
        more = "" if len(lost) == 1 else f" (and of {len(lost) - 1} more)"
        raise ValueError(
            f"freeenergy: the position of particle {lost[0]}{more} is {x[lost[0]]} nm, which is not finite. Take "
            "positions from before the run failed that wrote them."
        )
    return x


def _positions(simulation: app.Simulation) -> np.ndarray:
    return simulation.context.getState(positions=True).getPositions(asNumpy=True).value_in_unit(unit.nanometer)


def make_seeds(seed: int | None, count: int) -> list[int]:
    """Independent seeds; new ones every time for None. None of them is 0, for which OpenMM draws one.

    :raises TypeError, ValueError: if the seed is neither None nor a whole number, 0 or more
    """
    if seed is not None and not (isinstance(seed, Integral) and seed >= 0):
        error = ValueError if isinstance(seed, Integral) else TypeError
        raise error(
            f"freeenergy: seed must be a whole number, 0 or more, not {seed!r}; None makes a new one every time."
        )
    return [int(s) % (2**31 - 1) + 1 for s in np.random.SeedSequence(seed).generate_state(count)]
