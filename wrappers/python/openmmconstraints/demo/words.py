# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What a run showed, part by part, and nothing else: each sentence is made from the numbers."""

from __future__ import annotations

from openmmconstraints.benchmark.candidates import Candidate
from openmmconstraints.benchmark.timing import Spread
from openmmconstraints.demo.comparison import BUILT_IN, OURS, Outcome, short_name
from openmmconstraints.demo.cost import Cost
from openmmconstraints.demo.results import Results, by_system


def verdict(time_ratio: Spread) -> str:
    """Of a time over OpenMM's: only what both quartiles say."""
    if time_ratio.high < 1:
        return "faster"
    return "slower" if time_ratio.low > 1 else "no difference seen"


def number(value: float) -> str:
    """A tolerance as 1e-5, not 1e-05."""
    return f"{value:.0e}".replace("e-0", "e-")


def seconds(value: float) -> str:
    """With the unit that suits."""
    return f"{value:.2g} s" if value >= 1 else f"{1000 * value:.2g} ms"


def of_villin(results: Results) -> str:
    """How long whole steps took."""
    parts = []
    for constraints, runs in by_system(results.outcomes).items():
        for candidate in OURS:
            outcome, ratio = runs[candidate], runs[candidate].time_ratio(runs[BUILT_IN])
            if outcome.failure is not None:
                parts.append(f"{constraints}, {short_name(candidate)}: {of_run(outcome)}")
            elif ratio is not None:
                parts.append(f"{constraints}, {short_name(candidate)}: {ratio.median:.2f} ({verdict(ratio)})")
    return f"Time of whole steps, OpenMM's = 1. {'; '.join(parts) or 'Not measured'}."


def of_error(results: Results) -> str:
    """Whether the constraints held."""
    errors = [o.largest_error for o in results.outcomes if o.candidate in OURS and o.largest_error is not None]
    if not errors:
        return "Error of the constraints: not measured."
    held = "within" if max(errors) <= 1.01 * results.tolerance else "NOT within"
    return f"Largest error of our constraints: {max(errors):.1e}, {held} the tolerance of {number(results.tolerance)}."


def loosest_and_tightest(results: Results, candidate: Candidate) -> list[tuple[Cost, Spread]]:
    """Of what was measured beside OpenMM's: the cost, and its ratio to OpenMM's."""
    costs = [(cost, cost.ratio) for cost in results.costs_of(candidate) if cost.ratio is not None]
    return costs[:1] + costs[1:][-1:]


def of_cost(results: Results) -> str:
    """The loosest and the tightest tolerance."""
    parts = [
        f"{short_name(candidate)} at {number(cost.tolerance)}: {ratio.median:.2f} ({verdict(ratio)})"
        for candidate in OURS
        for cost, ratio in loosest_and_tightest(results, candidate)
    ]
    return f"Time of the constraints alone, OpenMM's = 1. {'; '.join(parts) or 'Not measured'}."


def of_set_up(results: Results) -> str:
    """The largest."""
    if not results.set_ups:
        return "Set-up: not measured."
    largest = results.set_ups[-1]
    times = ", ".join(f"{short_name(candidate)} {seconds(time)}" for candidate, time in largest.seconds.items())
    return f"Set-up of {largest.constraints:,} constraints of bonds and angles: {times}."


def of_run(outcome: Outcome) -> str:
    """How far it came."""
    if outcome.failure is None:
        return f"ran {outcome.steps:,} steps"
    return f"{'NaN' if outcome.is_nan else 'failed'} at step {outcome.failed_at}"


def of_rigid(results: Results) -> str:
    """Who ran."""
    parts = []
    for name, runs in by_system(results.rigid).items():
        each = ", ".join(f"{short_name(candidate)} {of_run(outcome)}" for candidate, outcome in runs.items())
        parts.append(f"{name}: {each}")
    return f"{'; '.join(parts) or 'Rigid molecules: not run'}."


def of_mean_force(results: Results) -> str:
    """How many windows agree."""
    found = results.mean_forces
    if found is None:
        return "Mean force: not measured."
    return (
        f"Mean force: {found.within} of {len(found.exact)} windows within 2 standard errors of the exact value "
        "(95 % are expected)."
    )


def failures(results: Results) -> list[str]:
    """Of this package's runs, word for word."""
    failed = [o for o in (*results.outcomes, *results.rigid) if o.failure is not None and o.candidate in OURS]
    return [f"FAILED: {o.system}, {short_name(o.candidate)}: {o.failure}" for o in failed]


def in_short(results: Results) -> str:
    """One sentence that says what this run showed, the unfavourable too."""
    parts = []
    for candidate in OURS:
        shown = [
            f"{ratio.median:.2f} at {number(cost.tolerance)}"
            for cost, ratio in loosest_and_tightest(results, candidate)
        ]
        if shown:
            parts.append(f"constraints of {short_name(candidate)} {' and '.join(shown)}")
    ratios = [
        runs[candidate].time_ratio(runs[BUILT_IN])
        for runs in by_system(results.outcomes).values()
        for candidate in OURS
    ]
    medians = [ratio.median for ratio in ratios if ratio is not None]
    if medians:
        parts.append(f"whole steps {min(medians):.2f} to {max(medians):.2f}")
    if results.set_ups:
        times = results.set_ups[-1].seconds
        parts.append(f"set-up {seconds(max(times[c] for c in OURS))} (OpenMM: {seconds(times[BUILT_IN])})")
    for name, runs in by_system(results.rigid).items():
        ours = "ran" if all(runs[c].failure is None for c in OURS) else "FAILED"
        theirs = "OpenMM too" if runs[BUILT_IN].failure is None else f"OpenMM: {of_run(runs[BUILT_IN])}"
        parts.append(f"{name} {ours} ({theirs})")
    return f"In short (times, OpenMM's = 1): {'; '.join(parts) or 'not measured'}."
