# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The demonstration's picture: six panels on a slide, a message each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg  # needs no display
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

from openmmconstraints.benchmark.villin import STEP_SIZE
from openmmconstraints.demo import rigid, words
from openmmconstraints.demo.butane import exact_mean_force
from openmmconstraints.demo.comparison import BUILT_IN, CANDIDATES, OURS, Outcome, short_name
from openmmconstraints.demo.results import Results, by_system

SHAKE, RATTLE = OURS
# Three of Okabe and Ito's colours that differ in lightness, told apart also by line and marker: colour, line, marker,
# width. Where curves lie on each other, the first is the widest and at the back.
STYLES = {
    BUILT_IN: ("#000000", "-", "o", 5.0),
    SHAKE: ("#E69F00", "--", "s", 3.0),
    RATTLE: ("#0072B2", "-", "^", 1.8),
}
SMALLEST_ERROR = 1e-17  # shown in the place of an exact 0, which a logarithm cannot show
FONTS = {"font.size": 12, "axes.titlesize": 14, "axes.titleweight": "bold", "axes.grid": True, "grid.alpha": 0.3}
ENERGY = "total energy - start"


def plot(results: Results, title: str, path: Path) -> None:
    """Write the figure, of a slide's shape: 1920 x 1080 pixels."""
    draw(results, title).savefig(path)


def draw(results: Results, title: str) -> Figure:
    """The figure."""
    with mpl.rc_context(FONTS):
        figure = Figure(figsize=(16, 9), dpi=120, layout="constrained")
        FigureCanvasAgg(figure)
        layout = figure.get_layout_engine()
        assert layout is not None
        layout.set(w_pad=0.12, h_pad=0.06)
        panels = figure.subfigures(2, 3, wspace=0.04, hspace=0.04)
        shown = list(by_system(results.outcomes))[-1:]  # AllBonds, where both were asked for
        runs = [outcome for outcome in results.outcomes if outcome.system in shown]
        _draw_energy(_axes(panels[0, 0], "Energy of a protein in water"), runs)
        _draw_error(_axes(panels[0, 1], "Its bonds against the tolerance"), runs, results.tolerance)
        _draw_cost(_axes(panels[0, 2], "Cost of constraints against tolerance"), results)
        _draw_set_up(_axes(panels[1, 0], "Set-up of bonds and H-angles"), results)
        _draw_rigid(_axes(panels[1, 1], "Linear and rigid molecules"), results.rigid)
        _draw_mean_force(panels[1, 2], results)
        handles = [Line2D([], [], label=short_name(candidate), **_style(candidate)) for candidate in CANDIDATES]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=14)
        figure.suptitle(title, fontsize=14)
        return figure


def _axes(panel: SubFigure, title: str) -> Axes:
    axes = panel.subplots()
    axes.set_title(title)
    return axes


def _style(candidate: Any) -> dict[str, Any]:
    colour, line, marker, width = STYLES[candidate]
    return {"color": colour, "linestyle": line, "marker": marker, "linewidth": width, "markersize": 7}


def _note(axes: Axes, text: str, top: bool = True) -> None:
    """A remark in a band above or below the data."""
    axes.text(
        0.5, 0.97 if top else 0.03, text, transform=axes.transAxes, ha="center", va="top" if top else "bottom",
        fontsize=12,
    )  # fmt: skip


def _leave_room(axes: Axes, above: float = 0.0, below: float = 0.0) -> None:
    """Shares of the data's height that are added on a linear or logarithmic axis, for _note()."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log":
        height = np.log(high / low)
        axes.set_ylim(low * np.exp(-below * height), high * np.exp(above * height))
    else:
        axes.set_ylim(low - below * (high - low), high + above * (high - low))


# ---- villin ----------------------------------------------------------------------------------------------------------


def _draw_energy(axes: Axes, runs: list[Outcome]) -> None:
    for number, outcome in enumerate(runs):
        time, total = outcome.energies.time, outcome.energies.total
        if len(time):
            axes.plot(time, total - total[0], **_style(outcome.candidate), markevery=(number, 3))
    axes.set(xlabel="time (ps)", ylabel=f"{ENERGY} (kJ/mol)")
    kinetic = np.mean([np.mean(outcome.energies.kinetic) for outcome in runs if outcome.energies.kinetic])
    _leave_room(axes, above=0.2)
    _note(axes, f"villin, {runs[0].system}; kinetic energy: {kinetic:,.0f} kJ/mol")


def _draw_error(axes: Axes, runs: list[Outcome], tolerance: float) -> None:
    axes.set_yscale("log")
    for outcome in runs:
        errors = np.maximum(outcome.bond_error[1:], SMALLEST_ERROR)
        axes.plot(outcome.energies.time[1:], errors, **_style(outcome.candidate))
    axes.axhline(tolerance, color="0.3", linewidth=1.5)
    axes.set_ylim(top=max(axes.get_ylim()[1], 2 * tolerance))
    axes.set(xlabel="time (ps)", ylabel="largest error |d - d0|/d0")
    _leave_room(axes, above=0.15)
    _note(axes, f"line: the tolerance, {words.number(tolerance)}")


# ---- cost and set-up -------------------------------------------------------------------------------------------------


def _draw_cost(axes: Axes, results: Results) -> None:
    for candidate in CANDIDATES:
        costs = results.costs_of(candidate)
        if costs:
            middle = np.array([cost.microseconds.median for cost in costs])
            low = [max(0.0, cost.microseconds.median - cost.microseconds.low) for cost in costs]
            high = [cost.microseconds.high - cost.microseconds.median for cost in costs]
            tolerances = [cost.tolerance for cost in costs]
            axes.errorbar(tolerances, middle, yerr=[low, high], capsize=4, elinewidth=1.5, **_style(candidate))
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.xaxis.set_major_locator(LogLocator(100))
    axes.xaxis.set_minor_locator(NullLocator())
    tallest = max((cost.microseconds.median for cost in results.cost), default=1.0)
    axes.set_ylim(0, 1.5 * tallest)  # bars of a busy machine may leave the panel
    axes.set(xlabel="tolerance (relative)", ylabel="constraints (CPU µs a step)")
    if results.cost:
        _note(axes, f"villin, {results.cost[0].constraints} bonds (OpenMM: CCMA)\nbars: quartiles")


def _draw_set_up(axes: Axes, results: Results) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = [entry.constraints for entry in results.set_ups]
    for candidate in CANDIDATES:
        axes.plot(sizes, [entry.seconds[candidate] for entry in results.set_ups], **_style(candidate))
    axes.set(xlabel="constraints (polyethylene)", ylabel="creating a Context (CPU s)")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    _leave_room(axes, above=0.2)
    if sizes:
        last = results.set_ups[-1].seconds
        _note(axes, f"{sizes[-1]:,}: OpenMM {words.seconds(last[BUILT_IN])}, RATTLE {words.seconds(last[RATTLE])}")


# ---- what OpenMM's algorithms cannot do ------------------------------------------------------------------------------


def _draw_rigid(axes: Axes, runs: list[Outcome]) -> None:
    largest = 0.01
    for outcome in runs:
        if outcome.candidate == BUILT_IN or not outcome.step:
            continue
        change = (outcome.energies.total - outcome.energies.total[0]) / rigid.MOLECULES[outcome.system]
        axes.plot(outcome.energies.time, change, **_style(outcome.candidate), markevery=(0, 3))
        largest = max(largest, float(np.abs(change).max()))
        if outcome.candidate == RATTLE:
            last = (outcome.energies.time[-1], change[-1])
            name = _chemical(outcome.system)
            axes.annotate(name, last, (10, 0), textcoords="offset points", va="center", annotation_clip=False)
    axes.set(xlabel="time (ps)", ylabel=f"{ENERGY} (kJ/mol a molecule)")
    axes.set_ylim(-2.0 * largest, 2.0 * largest)
    axes.set_xlim(right=1.35 * axes.get_xlim()[1])  # room for names
    lost = [outcome for outcome in runs if outcome.candidate == BUILT_IN]
    for outcome in lost:
        if outcome.failed_at is not None:
            cross: dict[str, Any] = {"color": "black", "markersize": 16, "markeredgewidth": 4, "zorder": 5}
            axes.plot([outcome.failed_at * STEP_SIZE], [0], "x", **cross)
    if lost:
        told = dict.fromkeys(words.of_run(outcome) for outcome in lost)
        if len(told) > 1:
            told = dict.fromkeys(f"{_chemical(o.system)} {words.of_run(o)}" for o in lost)
        _note(axes, f"OpenMM (×): {', '.join(told)}")
        sizes = (f"{_chemical(o.system)} {rigid.DISTANCES[o.system]}" for o in lost)
        _note(axes, f"distances of a molecule: {', '.join(sizes)}", top=False)


def _chemical(name: str) -> str:
    return name.replace("CO2", "CO$_2$")


def _draw_mean_force(panel: SubFigure, results: Results) -> None:
    above, below = panel.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    above.set_title("Mean force on a held dihedral")
    below.set(xlabel="dihedral of butane (degrees)", ylabel="ours - exact\n(kJ/mol/rad)")
    above.set_ylabel("dA/dφ (kJ/mol/rad)")
    found = results.mean_forces
    if found is None:
        return
    degrees = np.degrees(found.profile.values)
    fine = np.linspace(-180, 180, 361)
    style = {"fmt": "^", "color": STYLES[RATTLE][0], "markersize": 6, "capsize": 4, "elinewidth": 1.8}
    above.plot(fine, exact_mean_force(np.radians(fine)), color="0.3", linewidth=1.5)
    above.errorbar(degrees, found.profile.mean_force, yerr=2 * found.profile.error, **style)
    below.axhline(0, color="0.3", linewidth=1.5)
    below.errorbar(degrees, found.profile.mean_force - found.exact, yerr=2 * found.profile.error, **style)
    below.set_xticks(range(-180, 181, 60))
    _leave_room(above, above=0.25)
    _note(above, "points: ours ± 2 standard errors; line: exact")
