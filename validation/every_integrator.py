# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""OpenMM's integrators with this package's solver (replaceSolver) against the same ones with OpenMM's own.

A peptide in water, with all bonds of fixed length and rigid water, which OpenMM can solve: the total energy drifts no
more and no less than with SETTLE and CCMA, and thermostats reach their temperature.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import openmm as mm
from openmm import app, unit

import openmmconstraints as mc
from openmmconstraints.inspection.energy import EnergySeries
from validation.checks import BATCHES, Check, compare, of_independent, of_series
from validation.drift import slope
from validation.dynamics import KT, TEMPERATURE, Case, energies, sampled, seed_of
from validation.plots import Panels, legend_below

EXPERIMENT = "every integrator"
TOLERANCE = 1e-8
SOLVERS = ("built-in", "replaced")
FRICTION = 10.0  # 1/ps, and the frequency of Nose-Hoover chains
INTERVAL = 10  # steps between samples
RUNS = 12  # of each solver at constant energy, from different velocities


def velocity_verlet(dt: float) -> mm.CustomIntegrator:
    """As OpenMM's documentation of CustomIntegrator has it."""
    integrator = mm.CustomIntegrator(dt)
    integrator.addPerDofVariable("x1", 0)
    integrator.addUpdateContextState()
    integrator.addComputePerDof("v", "v+0.5*dt*f/m")
    integrator.addComputePerDof("x", "x+dt*v")
    integrator.addComputePerDof("x1", "x")
    integrator.addConstrainPositions()
    integrator.addComputePerDof("v", "v+0.5*dt*f/m+(x-x1)/dt")
    integrator.addConstrainVelocities()
    return integrator


CONSERVING: dict[str, Callable[[float], mm.Integrator]] = {
    "VerletIntegrator": mm.VerletIntegrator,
    "CustomIntegrator, velocity Verlet": velocity_verlet,
}
THERMOSTATS: dict[str, Callable[[float], mm.Integrator]] = {
    "LangevinMiddleIntegrator": lambda dt: mm.LangevinMiddleIntegrator(TEMPERATURE, FRICTION, dt),
    "NoseHooverIntegrator": lambda dt: mm.NoseHooverIntegrator(TEMPERATURE, FRICTION, dt),
}


def peptide_in_water() -> Case:
    """Alanine dipeptide in TIP3P water, at 300 K and 1 bar in the file."""
    pdb = app.PDBFile(str(Path(__file__).parents[1] / "examples" / "dipeptide_in_water.pdb"))
    system = app.ForceField("amber14-all.xml", "amber14/tip3p.xml").createSystem(
        pdb.topology,
        nonbondedMethod=app.PME,
        nonbondedCutoff=0.9 * unit.nanometer,
        switchDistance=0.8 * unit.nanometer,
        constraints=app.AllBonds,
        removeCMMotion=False,
    )
    waters = sum(residue.name == "HOH" for residue in pdb.topology.residues())
    degrees = 6 * waters + 3 * 22 - 21  # the peptide has 22 atoms and 21 bonds
    start = np.array(pdb.positions.value_in_unit(unit.nanometer))
    return Case("alanine dipeptide in water, all bonds", system, start, degrees, 0.001, FRICTION, "CPU")


def begin(case: Case, integrator: mm.Integrator, solver: str, run: int = 0) -> mm.Context:
    """A Context at TEMPERATURE, positions and velocities on the constraints.

    :param run: runs of one number have the same velocities, whatever the solver
    """
    system = mm.XmlSerializer.clone(case.system)
    if solver == "replaced":
        mc.replaceSolver(system)
    integrator.setConstraintTolerance(TOLERANCE)
    if hasattr(integrator, "setRandomNumberSeed"):
        integrator.setRandomNumberSeed(seed_of(case.name, solver))
    context = mm.Context(system, integrator, mm.Platform.getPlatform(case.platform), {"Threads": "2"})
    context.setPositions(case.positions)
    context.applyConstraints(TOLERANCE)
    context.setVelocitiesToTemperature(TEMPERATURE, seed_of(case.name, run))
    return context


def equilibrated(case: Case, steps: int) -> Case:
    """The case at the end of a run at TEMPERATURE."""
    context = begin(case, THERMOSTATS["LangevinMiddleIntegrator"](case.step_size), "built-in")
    context.getIntegrator().step(steps)
    case.positions = context.getState(positions=True).getPositions(asNumpy=True)._value
    return case


def energies_of(case: Case, method: str, solver: str, run: int, count: int) -> EnergySeries:
    """Energies of a run that conserves them."""
    context = begin(case, CONSERVING[method](case.step_size), solver, run)
    series = EnergySeries()
    for index in sampled(context, f"{method}, {solver}, run {run + 1}", count, INTERVAL, 100):
        series.add(index * INTERVAL * case.step_size, *energies(context))
    return series


def kinetic_energies(case: Case, method: str, solver: str, count: int) -> np.ndarray:
    """[count] kJ/mol, of velocities along the constraints."""
    context = begin(case, THERMOSTATS[method](case.step_size), solver)
    masses = case.masses[:, None]
    result = []
    for _ in sampled(context, f"{method}, {solver}", count, INTERVAL, 500):
        context.applyVelocityConstraints(TOLERANCE)  # LangevinMiddle's next step does no other
        v = context.getState(velocities=True).getVelocities(asNumpy=True)._value
        result.append(0.5 * (masses * v * v).sum())
    return np.array(result)


def check_drifts(case: Case, method: str, series: dict[str, list[EnergySeries]]) -> list[Check]:
    """Drifts of runs from different velocities are independent. Errors within a run are not: forces in single precision
    let the energy walk at random.

    :param series: [runs] by solver
    """
    drifts = {solver: np.array([slope(run).mean for run in runs]) for solver, runs in series.items()}
    checks = [
        compare(EXPERIMENT, case.name, f"{method}, {solver}", "drift, kT/ns/dof", of_independent(drifts[solver]), None)
        for solver in SOLVERS
    ]
    quantity = "drift less that of the built-in solver, kT/ns/dof"
    found = of_independent(drifts["replaced"] - drifts["built-in"])
    return [*checks, compare(EXPERIMENT, case.name, f"{method}, replaced", quantity, found, 0.0)]


def check_temperature(case: Case, method: str, solver: str, kinetic: np.ndarray) -> Check:
    """The mean kinetic energy per degree of freedom."""
    quantity = "<kinetic energy> / (kT/2 per degree of freedom)"
    found = of_series(kinetic / (0.5 * KT * case.degrees_of_freedom))
    return compare(EXPERIMENT, case.name, f"{method}, {solver}", quantity, found, 1.0)


def run(size: float, output: Path) -> list[Check]:
    """Both solvers, one after the other; thermostats with ours."""
    case = equilibrated(peptide_in_water(), 2000)
    checks, panels = [], Panels(1, len(CONSERVING))
    count = max(2 * BATCHES, round(500 * size))
    of_run = max(BATCHES, count // 4)
    for method in CONSERVING:
        series = {solver: [energies_of(case, method, solver, run, of_run) for run in range(RUNS)] for solver in SOLVERS}
        checks += check_drifts(case, method, series)
        axes = panels.next(f"{method}, {1000 * case.step_size:g} fs", "time, ps", "energy - its mean, kJ/mol")
        for solver, color in zip(SOLVERS, ("C0", "C1"), strict=True):
            for number, run in enumerate(series[solver]):
                label = solver if number == 0 else None
                axes.plot(run.time, run.total - run.total.mean(), color, linewidth=0.5, label=label)
        legend_below(axes)
    panels.save(output / "every_integrator.png")
    for method in THERMOSTATS:
        kinetic = kinetic_energies(case, method, "replaced", 2 * count)
        checks.append(check_temperature(case, method, "replaced", kinetic))
    return checks
