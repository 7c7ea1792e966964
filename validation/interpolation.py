# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Thermodynamic integration over the length of a constraint, which interpolates with a Context parameter.

The distance of two atoms of liquid argon goes from d0 to d1. With w = -kT ln g of the unconstrained liquid, of as many
atoms in the same box, A(d1) - A(d0) = w(d1) - w(d0) - 2 kT ln(d1/d0): the constrained pair may turn, and the area of
its sphere is in A but not in g. Free dimers have the last term alone.
Source: Straatsma, Zacharias, McCammon, Chem. Phys. Lett. 196, 297 (1992), doi 10.1016/0009-2614(92)85971-C.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openmm as mm

import openmmconstraints as mc
from openmmconstraints.inspection.energy import BOLTZMANN
from validation.checks import BATCHES, Check, Estimate, compare, of_series
from validation.dynamics import KT, METHODS, Case, langevin, make_context, positions, sampled

EXPERIMENT = "λ-dependent length"
ARGON = 94.4  # K
ATOMS, DENSITY = 108, 20.71  # per nm^3: 1.374 g/cm^3
SIGMA, EPSILON = 0.3405, 119.8 * BOLTZMANN  # nm, kJ/mol
D0, ENDS = 0.37, (0.45, 0.53)  # nm: the first shell, its outer side, the first minimum
WIDTH = 0.004  # nm, of the bins of g
NODES = 5  # of Gauss and Legendre


def _argon(name: str, constrained: bool) -> tuple[Case, float]:
    """Atoms on a face-centred cubic lattice, of which two neighbours are held where they stand; the box's edge."""
    edge = (ATOMS / DENSITY) ** (1 / 3)
    system, nonbonded = mm.System(), mm.NonbondedForce()
    nonbonded.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    nonbonded.setCutoffDistance(0.85)
    nonbonded.setUseSwitchingFunction(True)
    nonbonded.setSwitchingDistance(0.7)
    system.setDefaultPeriodicBoxVectors(*(edge * np.eye(3)))
    for _ in range(ATOMS):
        system.addParticle(39.948)
        nonbonded.addParticle(0, SIGMA, EPSILON)
    system.addForce(nonbonded)
    cells = np.array(list(np.ndindex(3, 3, 3)))
    corners = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
    places = (cells[:, None] + corners).reshape(-1, 3) * edge / 3
    if constrained:
        force = mc.ConstraintForce()
        force.setUsesPeriodicBoundaryConditions(True)
        force.addGlobalParameter("lambda", 0)
        force.addDistance(0, 1, D0)
        system.addForce(force)
    degrees = 3 * ATOMS - constrained
    return Case(name, system, places, degrees, 0.005, friction=2.0, platform="CPU"), edge


def _distribution(method: str, count: int) -> dict[float, Estimate]:
    """w = -kT ln g at each distance up to a constant, with its error from batches."""
    case, edge = _argon("liquid argon", constrained=False)
    context = make_context(case, langevin(case, method, ARGON))
    first, second = np.triu_indices(ATOMS, 1)
    counts: list[list[int]] = []
    for _ in sampled(context, f"liquid argon, {method}", count, 20, 10000):
        x = positions(context)
        between = x[first] - x[second]
        r = np.linalg.norm(between - edge * np.round(between / edge), axis=1)
        counts.append([np.count_nonzero(np.abs(r - d) < WIDTH / 2) for d in (D0, *ENDS)])
    found = np.array(counts, dtype=float)
    result = {}
    for n, d in enumerate((D0, *ENDS)):
        mean = of_series(found[:, n])
        w = -BOLTZMANN * ARGON * np.log(mean.mean / d**2)
        result[d] = Estimate(float(w), BOLTZMANN * ARGON * mean.error / mean.mean, mean.degrees_of_freedom)
    return result


def _integral(case: Case, method: str, temperature: float, count: int, interval: int, equilibration: int) -> Estimate:
    """A(1) - A(0): windows at the nodes of Gauss and Legendre, one after another in one Context."""
    integrator = langevin(case, method, temperature)
    context = make_context(case, integrator)
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    total, variance = 0.0, 0.0
    for node, weight in zip((1 + nodes) / 2, weights / 2, strict=True):
        context.setParameter("lambda", node)
        integrator.applyConstraints()
        label = f"{case.name}, {method}, λ = {node:.2f}"
        derivatives = [
            integrator.computeParameterDerivatives()["lambda"]
            for _ in sampled(context, label, count, interval, equilibration)
        ]
        window = of_series(np.array(derivatives))
        total += weight * window.mean
        variance += (weight * window.error) ** 2
    return Estimate(float(total), float(np.sqrt(variance)), NODES * (BATCHES - 1))


def _in_argon(method: str, size: float) -> list[Check]:
    w = _distribution(method, max(300, round(6000 * size)))
    found, start = [], D0
    total = Estimate(0.0, 0.0, 1)
    for end in ENDS:
        case, _ = _argon(f"pair in liquid argon, {start} to {end} nm", constrained=True)
        force = mc.ConstraintForce.cast(case.system.getForce(1))
        force.setDistanceParameters(0, 0, 1, start)
        force.setDistanceInterpolation(0, "lambda", end)
        part = _integral(case, method, ARGON, max(300, round(5000 * size)), 10, 4000)
        total = Estimate(total.mean + part.mean, float(np.hypot(total.error, part.error)), part.degrees_of_freedom)
        expected = w[end].mean - w[D0].mean - 2 * BOLTZMANN * ARGON * float(np.log(end / D0))
        error = float(np.sqrt(total.error**2 + w[end].error ** 2 + w[D0].error ** 2))
        both = Estimate(total.mean, error, BATCHES - 1)
        what = f"A({end}) - A({D0}) of a pair, kJ/mol; expected: from g(r)"
        found.append(compare(EXPERIMENT, "liquid argon", method, what, both, expected))
        start = end
    return found


def _free(method: str, size: float) -> Check:
    """Dimers that nothing acts on: samples of many in one System."""
    dimers, d0, d1 = 100, 0.1, 0.2
    system, force = mm.System(), mc.ConstraintForce()
    force.addGlobalParameter("lambda", 0)
    places = []
    for i in range(dimers):
        pair = system.addParticle(10), system.addParticle(14)
        force.setDistanceInterpolation(force.addDistance(*pair, d0), "lambda", d1)
        places += [[i, 0, 0], [i, d0, 0]]
    system.addForce(force)
    case = Case("free dimers", system, np.array(places, dtype=float), 5 * dimers, 0.004, friction=20.0)
    found = _integral(case, method, KT / BOLTZMANN, max(300, round(1000 * size)), 10, 100)
    estimate = Estimate(found.mean / dimers, found.error / dimers, found.degrees_of_freedom)
    expected = -2 * KT * float(np.log(d1 / d0))
    return compare(EXPERIMENT, "free dimers", method, f"A({d1}) - A({d0}), kJ/mol", estimate, expected)


def run(size: float, output: Path) -> list[Check]:
    """Free dimers and a pair in liquid argon, by each method."""
    checks = [_free(method, size) for method in METHODS]
    return checks + _in_argon("LangevinMiddle", size)
