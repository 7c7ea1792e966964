# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Tolerance and time step: recommended values, and findings about those of an integrator."""

from __future__ import annotations

import numpy as np
import openmm as mm

from openmmconstraints.health.checker import Start
from openmmconstraints.health.findings import Finding, Severity
from openmmconstraints.health.vibrations import (
    FEWEST_STEPS_A_PERIOD,
    STEPS_A_PERIOD,
    STEPS_OF_INSTABILITY,
    Vibration,
)
from openmmconstraints.inspection.integrators import step_sizes

#: For constant energy, by precision, and why.
TOLERANCES = {
    "single": (1e-6, "the smallest that single precision reaches"),
    "mixed": (1e-8, "positions are kept in two floats; at most one more iteration than 1e-5"),
    "double": (1e-8, "energy drifts no less at tighter ones; at most one more iteration than 1e-5"),
}
#: Part of a period from which on slow forces of several time steps resonate: Ma, Izaguirre, Skeel, SIAM J. Sci. Comput.
#: 24, 1951 (2003).
RESONANCE = 1 / 3
#: Above it, constant-energy runs drift, and virials have errors of this size.
LOOSE = 1e-4


def recommend_tolerance(precision: str) -> float:
    """The tolerance for a constant-energy run."""
    return TOLERANCES[precision][0]


def check_tolerance(tolerance: float, precision: str, start: Start | None) -> list[Finding]:
    """Findings about the tolerance that an integrator has, and what single precision can hold."""
    findings = []
    floor = TOLERANCES["single"][0]
    if tolerance > LOOSE:
        message = f"The constraint tolerance {tolerance:.1e} is loose: energies drift, and pressures are wrong."
        remedy = f"Take {recommend_tolerance(precision):.0e}, which costs an iteration or two."
        findings.append(Finding("warning", "tolerance", message, remedy, values={"tolerance": tolerance}))
    elif precision == "single" and tolerance < floor:
        message = (
            f"The constraint tolerance {tolerance:.1e} cannot be reached in single precision: {floor:.0e} is used."
        )
        remedy = "Take mixed precision where that is not enough."
        findings.append(Finding("note", "tolerance", message, remedy, values={"tolerance": tolerance}))
    if precision == "single" and start is not None and start.is_finite:
        # A float is off by up to half of 2^-23 relative to the next lower power of two.
        rounding = float(np.spacing(np.float32(np.max(np.abs(start.x), initial=0.0)))) / 0.1
        if rounding > 10 * floor:
            message = f"Coordinates this far from the origin are rounded to {rounding:.0e} of a bond of 0.1 nm."
            remedy = "Take mixed precision, or move the system to the origin."
            findings.append(Finding("warning", "precision", message, remedy, values={"rounding": rounding}))
    return findings


def check_step(integrator: mm.Integrator | None, vibrations: list[Vibration], unseen: list[str]) -> list[Finding]:
    """Findings about an integrator's step size, and what the estimate of periods leaves out."""
    findings = []
    if unseen:
        message = f"The periods of {', '.join(sorted(set(unseen)))} terms are not known to this check."
        findings.append(Finding("note", "time-step", message, "They may need a shorter time step."))
    if integrator is None or not vibrations:
        return findings
    step, slowest = (1000 * size for size in step_sizes(integrator))
    fastest = vibrations[0]
    values = {"step_fs": step, "period_fs": fastest.period}
    remedy = (
        f"Take at most {fastest.period / STEPS_A_PERIOD:.2g} fs, constrain this {fastest.kind}, or repartition masses."
    )
    limits: tuple[tuple[Severity, float, str], ...] = (
        ("error", STEPS_OF_INSTABILITY, "is unstable"),
        ("warning", FEWEST_STEPS_A_PERIOD, f"has fewer than {FEWEST_STEPS_A_PERIOD} steps a period"),
        ("note", STEPS_A_PERIOD, f"has fewer than {STEPS_A_PERIOD} steps a period"),
    )
    for severity, steps, what in limits:
        if fastest.period < steps * step * (1 - 1e-3):
            message = f"A time step of {step:.3g} fs: {fastest} {what}."
            findings.append(
                Finding(
                    severity, "time-step", message, remedy, (), fastest.particles, fastest.names, values, fastest.count
                )
            )
            break
    if slowest > max(step, fastest.period * RESONANCE):
        message = f"Forces that are evaluated every {slowest:.3g} fs only: {fastest} resonates with them in long runs."
        remedy = f"Take at most {fastest.period * RESONANCE:.2g} fs for the slowest force group."
        values = {"step_fs": slowest, "period_fs": fastest.period}
        findings.append(Finding("warning", "time-step", message, remedy, values=values))
    return findings
