# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What OpenCL computes in mixed precision has no bias: 10^5 steps in which corrections are single numbers, where an
error that always had the same sign would show.

No force acts but those of constraints, since OpenMM's are in single precision and make energies drift more. The
kinetic energy of small clusters, and of a large one, does not drift. A rigid dimer turns, so its bond pulls with 2 kT/d
in the mean: the centripetal force of two degrees of freedom.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.benchmark.generated import polyethylene
from openmmconstraints.inspection.energy import EnergySeries
from openmmconstraints.inspection.listing import is_ours
from validation import systems
from validation.checks import Check, compare, of_series
from validation.drift import slope
from validation.dynamics import KT, Case, energies, langevin, make_context, sampled
from validation.plots import Panels, legend_below

EXPERIMENT = "mixed precision"
STEPS = 100_000
INTERVAL = 20  # steps between samples
TOLERANCES = (1e-5, 1e-9)  # corrections are single numbers at the first, double ones at the second
DIMERS = 500
NEGLIGIBLE = 1e-6  # kT/ns/dof


def _without_forces(case: Case) -> Case:
    """The constraints of a case alone."""
    for index in reversed(range(case.system.getNumForces())):
        if not is_ours(case.system.getForce(index)):
            case.system.removeForce(index)
    case.platform = "OpenCL"
    return case


def _chain(length: int) -> Case:
    """Polyethylene with all bonds held, which is one cluster."""
    model = polyethylene(length)
    system = model.create("AllBonds")
    degrees = 3 * system.getNumParticles() - system.getNumConstraints()
    mc.moveConstraints(system)
    return Case(f"polyethylene of {length} CH2", system, np.array(model.positions), degrees, 0.001)


def free_dimers(platform: str = "OpenCL") -> Case:
    """Dimers without any force, 1 nm apart, so that single numbers for coordinates would be coarse."""
    system, bonds = mm.System(), mc.ConstraintForce()
    for _ in range(DIMERS):
        bonds.addDistance(system.addParticle(16.0), system.addParticle(2.0), systems.DIMER_LENGTH)
    system.addForce(bonds)
    pair = np.array([[0, 0, 0], [systems.DIMER_LENGTH, 0, 0]])
    places = np.arange(DIMERS)[:, None, None] * np.array([0, 1, 0])
    return Case("free dimers", system, (places + pair).reshape(-1, 3), 5 * DIMERS, 0.001, platform=platform)


def _energies(case: Case, tolerance: float, count: int) -> EnergySeries:
    """At constant energy, after a bath."""
    bath = langevin(case, "LangevinMiddle")
    warm = make_context(case, bath)
    bath.step(2000)
    state = warm.getState(positions=True, velocities=True)
    integrator = mc.RattleIntegrator(case.step_size)
    integrator.setConstraintTolerance(tolerance)
    context = make_context(case, integrator)
    context.setPositions(state.getPositions())
    context.setVelocities(state.getVelocities())
    series = EnergySeries()
    for index in sampled(context, f"{case.name}, {tolerance:g}", count, INTERVAL, INTERVAL):
        series.add((index + 1) * INTERVAL * case.step_size, *energies(context))
    return series


def tensions(case: Case, tolerance: float, count: int) -> np.ndarray:
    """The mean multiplier of dimers, in kJ/mol/nm, so many times."""
    integrator = langevin(case, "LangevinMiddle")
    integrator.setConstraintTolerance(tolerance)
    context = make_context(case, integrator)
    label = f"{case.name}, {tolerance:g}"
    return np.array([np.mean(integrator.getMultipliers()) for _ in sampled(context, label, count, INTERVAL, 2000)])


def check_tensions(case: Case, tolerance: float, found: np.ndarray, rotations: int = 2) -> Check:
    """Whether their mean is that of so many rotational degrees of freedom."""
    expected = -rotations * KT / systems.DIMER_LENGTH
    quantity = f"multiplier at {tolerance:g}, kJ/mol/nm"
    return compare(EXPERIMENT, case.name, "LangevinMiddle", quantity, of_series(found), expected)


def run(size: float, output: Path) -> list[Check]:
    """Each case at each tolerance."""
    count = max(100, round(STEPS * size / INTERVAL))
    checks = []
    panels = Panels(1, 2)
    trimers = systems.bent_trimers(200)
    trimers.name = "trimers of two bonds"
    for case in map(_without_forces, (trimers, _chain(30))):
        axes = panels.next(case.name, "time, ps", "energy - its mean, kJ/mol")
        for tolerance in TOLERANCES:
            series = _energies(case, tolerance, count)
            quantity = f"drift at {tolerance:g}, kT/ns/dof"
            found = slope(series)
            found = replace(found, error=float(np.hypot(found.error, NEGLIGIBLE)))
            checks.append(compare(EXPERIMENT, case.name, "Rattle", quantity, found, 0.0))
            axes.plot(series.time, series.total - series.total.mean(), linewidth=0.5, label=f"tolerance {tolerance:g}")
        legend_below(axes)
    panels.save(output / "rounding.png")
    dimers = free_dimers()
    return checks + [check_tensions(dimers, tolerance, tensions(dimers, tolerance, count)) for tolerance in TOLERANCES]
