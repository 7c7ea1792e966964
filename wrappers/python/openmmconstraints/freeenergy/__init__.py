# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Free energy profiles from constrained runs: thermodynamic integration in the blue moon ensemble.

From a force field to a plot:

    import numpy as np, openmm.app as app, openmm.unit as u
    from concurrent.futures import ProcessPoolExecutor
    import openmmconstraints as mc
    from openmmconstraints import freeenergy as fe

    if __name__ == "__main__":  # processes import this script
        pdb = app.PDBFile("solute.pdb")
        system = app.ForceField("amber14-all.xml").createSystem(pdb.topology, constraints=app.HBonds)
        integrator = mc.RattleLangevinIntegrator(300 * u.kelvin, 1 / u.picosecond, 2 * u.femtosecond)
        with ProcessPoolExecutor() as executor:
            forces = fe.mean_force_profile(
                system, pdb.positions, fe.Dihedral(4, 6, 8, 14), np.linspace(-180, 180, 37) * u.degrees, integrator,
                steps=100000, executor=executor, folder="windows",
            )
        pmf = forces.integrate()
        pmf.save("pmf.csv")
        pmf.plot().figure.savefig("pmf.png")

A box that is not the System's default (after a barostat): system.setDefaultPeriodicBoxVectors() first.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
from openmm import unit

from openmmconstraints.freeenergy.coordinates import (
    Angle,
    CentroidDistance,
    Coordinate,
    CoordinationNumber,
    Dihedral,
    Distance,
)
from openmmconstraints.freeenergy.plain_lengths import to_list
from openmmconstraints.freeenergy.profile import FreeEnergyProfile, MeanForceProfile
from openmmconstraints.freeenergy.torsions import chi1, omega, phi, psi
from openmmconstraints.freeenergy.windows import (
    CoordinateSource,
    SystemSource,
    Window,
    WindowError,
    check_executor,
    check_lengths,
    check_run,
    make_folder,
    make_seeds,
    pull,
    run_window,
    run_windows,
)
from openmmconstraints.inspection.platforms import PlatformSource
from openmmconstraints.reporters.blocking import MeanForce
from openmmconstraints.reporters.blue_moon_reporter import read_mean_force
from openmmconstraints.wrapper import RattleLangevinIntegrator

__all__ = [
    "Angle",
    "CentroidDistance",
    "Coordinate",
    "CoordinationNumber",
    "Dihedral",
    "Distance",
    "FreeEnergyProfile",
    "MeanForce",
    "MeanForceProfile",
    "Window",
    "WindowError",
    "chi1",
    "mean_force_profile",
    "omega",
    "phi",
    "psi",
    "pull",
    "read_mean_force",
    "run_window",
    "run_windows",
]


def mean_force_profile(
    system: SystemSource,
    positions: Any,
    coordinate: CoordinateSource,
    values: Iterable[float] | unit.Quantity,
    integrator: RattleLangevinIntegrator,
    steps: int,
    *,
    pull_steps: int = 1000,
    equilibration: int = 1000,
    interval: int = 10,
    executor: Executor | None = None,
    seed: int | None = None,
    platform: PlatformSource | None = None,
    properties: Mapping[str, str] | None = None,
    folder: str | Path | None = None,
    progress: bool = True,
) -> MeanForceProfile:
    """Pull a coordinate through a series of values, then hold it at each and average the mean force.

    The pull is one run, in this process; the windows start from its ends and run on the executor.

    Parameters
    ----------
    system : openmm.System, str or callable
        without a constraint on the coordinate, unless that is given by it; or its XML; or a picklable function that
        builds it
    positions : array or Quantity
        where the pull starts, of shape (numParticles, 3), in nm
    coordinate : Coordinate
        Distance, CentroidDistance, CoordinationNumber, Angle or Dihedral, with the indices of particles; or what
        addDistance(), addDihedral(), ... returned, or (force, "dihedral", 0), for a constraint of the System, whose
        value is set then
    values : array or Quantity
        of the coordinate (nm, rad), in ascending or descending order. Plain lengths that must be angstroms are refused
    integrator : RattleLangevinIntegrator
        a template, with temperature, friction, step size and tolerance: every run takes a copy
    steps : int
        how many a window averages, every `interval`-th of them
    pull_steps : int
        from one value to the next
    equilibration : int
        steps of a window before it averages
    executor : concurrent.futures.Executor or None
        ProcessPoolExecutor(), client.get_executor() of Dask, mpi4py.futures.MPIPoolExecutor(), or any other; None: one
        window after the other in this process
    seed : int or None
        of all random numbers: the same seed gives the same result on the Reference platform, on any executor
    platform : str, openmm.Platform or None
        its name, or itself; None: the fastest that works. Reference is the fastest for a few dozen particles
    properties : dict or None
        of the platform, as in openmm.Context
    folder : path or None
        for a CSV of each window (see BlueMoonReporter); it may hold no others yet
    progress : bool
        whether to show a bar

    Returns
    -------
    MeanForceProfile
        `.integrate()` is the free energy

    Raises
    ------
    TypeError, ValueError
        if an argument is of the wrong kind or cannot be, or if a constraint of the System holds the coordinate already
    WindowError
        if a run fails; the message says at which value, and why
    """
    coordinate = check_run(system, coordinate, integrator)
    values = to_list(values)
    numbers = coordinate.to_numbers(values)
    if len(numbers) < 2 or not (np.all(np.diff(numbers) > 0) or np.all(np.diff(numbers) < 0)):
        raise ValueError(
            f"mean_force_profile: two or more values are needed, in ascending or descending order, not {numbers[:5]}"
        )
    steps, equilibration, interval = check_lengths(steps, equilibration, interval)  # before the pull
    check_executor(executor)
    seeds = make_seeds(seed, 2)
    make_folder(folder)
    where: dict[str, Any] = {"platform": platform, "properties": properties, "progress": progress}
    starts = pull(system, positions, coordinate, values, integrator, pull_steps, seed=seeds[0], **where)
    windows = run_windows(
        system,
        starts,
        coordinate,
        values,
        integrator,
        steps,
        executor=executor,
        equilibration=equilibration,
        interval=interval,
        seed=seeds[1],
        folder=folder,
        **where,
    )
    short = [f"{window.value:g}" for window in windows if np.isnan(window.mean_force.error)]
    if short:
        warnings.warn(f"too few independent samples for an error estimate at {', '.join(short)}", stacklevel=2)
    temperature = integrator.getTemperature().value_in_unit(unit.kelvin)
    return MeanForceProfile(coordinate, temperature, tuple(windows))
