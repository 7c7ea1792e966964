# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The summaries as a table (Markdown), as numbers (JSON) and as a plot."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg  # needs no display
from matplotlib.figure import Figure

from .models import TEMPERATURE, Configuration
from .summary import Summary, Value, divergence

REFERENCE = Configuration("HBonds", 2)
TITLES = {"implicit": "Villin in implicit solvent (OBC2)", "water": "Villin in water (TIP3P, PME)"}
CLASSES = {"heavy": ("#0072B2", "o"), "hydrogen": ("#D55E00", "^"), "water": ("#009E73", "s")}
POTENTIALS = {"angles": ("#CC79A7", "D"), "torsions": ("#000000", "v")}
Summaries = dict[Configuration, Summary]


def write(found: dict[str, Summaries], modes: list[dict[str, Any]], settings: dict[str, Any], path: Path) -> None:
    """:param path: of the files, without .md, .json and .png
    :param found:   by model
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [_settings(settings), *(_section(TITLES[name], runs) for name, runs in found.items()), _modes(modes)]
    path.with_suffix(".md").write_text("\n".join(parts), encoding="utf-8")
    models = {name: [_entry(run, runs) for run in runs.values()] for name, runs in found.items()}
    numbers = {"settings": settings, "models": models, "fastest_modes": modes}
    text = json.dumps(_without_nan(numbers), indent=1, allow_nan=False)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    _plot(found, path.with_suffix(".png"))


def _without_nan(thing: Any) -> Any:
    """The same with None in the place of nan, which JSON does not have."""
    if isinstance(thing, dict):
        return {key: _without_nan(value) for key, value in thing.items()}
    if isinstance(thing, list):
        return [_without_nan(value) for value in thing]
    return None if isinstance(thing, float) and isnan(thing) else thing


def truth_of(run: Summary, runs: Summaries) -> Summary | None:
    """The run that shows what the error of the time step is, if there is one with energies."""
    truth = runs.get(run.configuration.truth())
    return truth if truth is not None and truth.potential and truth is not run else None


def speed(run: Summary, runs: Summaries) -> float | None:
    """Simulated time for the same processor time, HBonds at 2 fs = 1."""
    reference = runs.get(REFERENCE)
    if reference is None or not (reference.cost and run.cost):
        return None
    return run.configuration.step / REFERENCE.step * reference.cost / run.cost


def _settings(settings: dict[str, Any]) -> str:
    return " ".join(f"{key}: {value}." for key, value in settings.items()) + "\n"


def _section(title: str, runs: Summaries) -> str:
    classes = ["all", *(name for name in CLASSES if any(name in run.temperature for run in runs.values()))]
    head = [
        *("", "ps"),
        *(f"T {name}, K" for name in classes),
        "hydrogen - heavy, K",
        *("ΔE angles", "ΔE torsions", "ΔE nonbonded"),
        *("RMSD, Å", "Rg, Å", "JS truth", "JS reference", "iterations", "simulated time for the same cost"),
    ]
    lines = [f"## {title}", "", _row(head), "|---" * len(head) + "|"]
    constant_temperature = [run for run in runs.values() if run.configuration.integrator != "Rattle"]
    lines += [_row(_cells(run, runs, classes)) for run in constant_temperature]
    constant_energy = [run for run in runs.values() if run.drift is not None]
    if constant_energy:
        lines += ["", "| constant energy | ps | drift, kT/ns/dof |", "|---|---|---|"]
        lines += [f"| {r.configuration.name} | {r.time:.0f} | {r.drift} |" for r in constant_energy]
    failed = [run for run in runs.values() if run.failure is not None]
    lines += ["", *(f"**{r.configuration.name}** stopped after {r.reached:.1f} ps: {r.failure}\n" for r in failed)]
    return "\n".join(lines)


def _name(run: Summary) -> str:
    return run.configuration.name + (" FAILED" if run.failure else "")


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(run: Summary, runs: Summaries, classes: list[str]) -> list[str]:
    name = _name(run)
    if not run.temperature:
        return [name, f"{run.reached:.1f}", *[""] * (len(classes) + 10)]
    truth = truth_of(run, runs)
    terms = ("angles", "torsions", "nonbonded")
    errors = [(run.potential[t] - truth.potential[t]).text(0) if truth else run.potential[t].text(0) for t in terms]
    similar = [_number(divergence(run, other) if other else None, 3) for other in (truth, runs.get(REFERENCE))]
    return [
        name,
        f"{run.time:.0f}",
        *(run.temperature[c].text(0) for c in classes),
        "" if run.contrast is None else run.contrast.text(0),
        *(errors if truth else [f"({error})" for error in errors]),
        _angstrom(run.rmsd),
        _angstrom(run.gyration),
        *similar,
        f"{run.iterations:.1f}",
        _number(speed(run, runs), 2),
    ]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def _angstrom(value: Value | None) -> str:
    return "" if value is None else Value(10 * value.mean, 10 * value.error).text(2)


def _modes(modes: list[dict[str, Any]]) -> str:
    head = ["constraints", "hydrogen mass, Da", "highest frequency, 1/cm", "period, fs", "period/π, fs"]
    lines = ["## Fastest small vibrations of villin", "", _row(head), "|---" * len(head) + "|"]
    for mode in modes:
        mass = "1" if mode["hydrogen_mass"] is None else f"{mode['hydrogen_mass']:g}"
        period = mode["period_fs"]
        lines.append(
            _row([mode["held"], mass, f"{mode['frequency_per_cm']:.0f}", f"{period:.1f}", f"{period / 3.1416:.1f}"])
        )
    return "\n".join([*lines, ""])


def _entry(run: Summary, runs: Summaries) -> dict[str, Any]:
    truth = truth_of(run, runs)
    reference = runs.get(REFERENCE)
    entry = {key: value for key, value in asdict(run).items() if key != "dihedrals"}
    entry["name"] = run.configuration.name
    entry["potential_less_truth"] = (
        {term: asdict(run.potential[term] - truth.potential[term]) for term in run.potential} if truth else None
    )
    entry["divergence_from_truth"] = divergence(run, truth) if truth else None
    entry["divergence_from_reference"] = divergence(run, reference) if reference else None
    entry["time_for_the_same_cost"] = speed(run, runs)
    return entry


def _plot(found: dict[str, Summaries], path: Path) -> None:
    """One row of panels per model: temperatures, errors of energies, speed."""
    shown = {name: [r for r in runs.values() if r.temperature and r.drift is None] for name, runs in found.items()}
    heights = [max(2, len(runs)) for runs in shown.values()]
    with mpl.rc_context({"font.size": 8, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(figsize=(9.5, 1.2 + 0.2 * sum(heights) + 0.6 * len(heights)), layout="constrained")
        FigureCanvasAgg(figure)
        grid = figure.subplots(len(shown), 3, squeeze=False, sharey="row", height_ratios=heights)
        for axes, (name, runs) in zip(grid, shown.items(), strict=True):
            _draw(axes, runs, found[name])
            axes[0].set_title(TITLES[name], loc="left")
        found_labels: dict[str, Any] = {}
        for panel in grid.flat:
            handles, labels = panel.get_legend_handles_labels()
            found_labels.update(zip(labels, handles, strict=True))
        ordered = [label for label in (*CLASSES, *POTENTIALS) if label in found_labels]
        handles = [found_labels[label] for label in ordered]
        # It covers nothing there.
        figure.legend(handles, ordered, title="mean ± standard error", loc="outside lower center", ncols=len(ordered))
        figure.savefig(path, dpi=110)


def _draw(axes: Any, runs: list[Summary], among: Summaries) -> None:
    temperature, energy, gain = axes
    for name, (colour, marker) in CLASSES.items():
        chosen = [(i, r.temperature[name]) for i, r in enumerate(runs) if name in r.temperature]
        _points(temperature, chosen, name, colour, marker)
    temperature.axvline(TEMPERATURE, color="0.4", linewidth=1)
    for term, (colour, marker) in POTENTIALS.items():
        pairs = [(i, r, truth_of(r, among)) for i, r in enumerate(runs)]
        chosen = [(i, _percent(r.potential[term], truth.potential[term])) for i, r, truth in pairs if truth]
        _points(energy, chosen, term, colour, marker)
    energy.axvline(0, color="0.4", linewidth=1)
    gains = [0 if r.failure else speed(r, among) or 0 for r in runs]  # what failed has simulated nothing of use
    gain.barh(range(len(runs)), gains, color="#56B4E9")
    temperature.set_yticks(range(len(runs)), [_name(r) for r in runs])
    temperature.invert_yaxis()
    temperature.set_xlabel("temperature by class of atoms (K)")
    energy.set_xlabel("energy difference from 1 fs,\nsame constraints (%)")
    gain.set_xlabel(f"simulated time for the same cost\n({REFERENCE.name} = 1)")
    energy.set_visible(bool(energy.get_legend_handles_labels()[0]))  # not without a run at 1 fs to compare with


def _points(axes: Any, chosen: list[tuple[int, Value]], label: str, colour: str, marker: str) -> None:
    if chosen:
        means, errors = [v.mean for _, v in chosen], [v.error for _, v in chosen]
        rows = [i for i, _ in chosen]
        axes.errorbar(means, rows, xerr=errors, fmt=marker, color=colour, label=label, markersize=4, linewidth=1)


def _percent(value: Value, truth: Value) -> Value:
    difference = value - truth
    return Value(100 * difference.mean / truth.mean, 100 * difference.error / truth.mean)
