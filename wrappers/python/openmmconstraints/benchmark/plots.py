# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The benchmark's figures: time against the built-in algorithm, and time against the error reached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg  # needs no display
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator

from openmmconstraints.benchmark.measure import Record
from openmmconstraints.benchmark.words import cases as cases_of
from openmmconstraints.benchmark.words import short_reason, why_no_ratio

# Okabe and Ito's colours, told apart also by marker.
STYLES = {
    "built-in": ("#000000", "o", "-"),
    "Iterative": ("#E69F00", "s", "--"),
    "MatrixInversion": ("#0072B2", "D", "-"),
    "Automatic": ("#009E73", "^", ":"),
}
FAILED = "#D55E00"
WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
SMALLEST_ERROR = 1e-17  # shown in the place of an exact 0, which a logarithm cannot show


def plot_ratios(records: Sequence[Record], title: str, path: Path) -> None:
    """A panel a tolerance, a row a case: the time of the constraints over that of the built-in algorithm."""
    cases = cases_of(records)
    tolerances = sorted({record.tolerance for record in records}, reverse=True)
    with mpl.rc_context({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(figsize=(max(7.0, 3.0 + 3.2 * len(tolerances)), 1.8 + 0.42 * len(cases)), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, len(tolerances), squeeze=False, sharex=True, sharey=True)[0]
        for axes, tolerance in zip(panels, tolerances, strict=True):
            _draw_ratios(axes, [r for r in records if r.tolerance == tolerance], cases)
            axes.set_title(f"tolerance {tolerance:g}")
        panels[0].set_yticks(range(len(cases)), cases)
        panels[0].set_ylim(len(cases) - 0.5, -0.5)
        for axes in panels:
            axes.set_xlabel("time of constraints / that of the built-in; bars: quartiles")
        _add_legend(figure, panels)
        figure.suptitle(title, fontsize=10)
        figure.savefig(path, dpi=150)


def _draw_ratios(axes: Axes, records: Sequence[Record], cases: list[str]) -> None:
    """Rows without any ratio say why in their place; what one solver lacks is said right of the panel."""
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=1)  # left of it: faster
    labels = [label for label in STYLES if label != "built-in"]
    for row, case in enumerate(cases):
        here = [record for record in records if record.case == case]
        drawn = 0
        lacking: list[tuple[float, str]] = []
        for record in here:
            if record.solver is None:
                continue
            place = row + 0.26 * (labels.index(record.label) - 1)
            ratio = record.constraints_ratio
            if ratio is None or ratio.median <= 0:
                lacking.append((place, why_no_ratio(record, here) if ratio is None else f"{record.label}: noise"))
                continue
            drawn += 1
            colour, marker, _ = STYLES[record.label]
            bars = [[ratio.median - max(ratio.low, 1e-3 * ratio.median)], [ratio.high - ratio.median]]
            bar_style: dict[str, Any] = {"fmt": marker, "color": colour, "markersize": 4.5, "elinewidth": 1.2}
            axes.errorbar([ratio.median], [place], xerr=bars, label=record.label, **bar_style)
        transform = axes.get_yaxis_transform()
        if not drawn:
            reasons = "; ".join(dict.fromkeys(text for _, text in lacking)) or "not measured"
            style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8, "color": FAILED, "bbox": WHITE}
            axes.text(0.5, row, reasons, transform=transform, **style)
            continue
        for place, text in lacking:
            axes.text(1.01, place, text, transform=transform, ha="left", va="center", fontsize=7, color=FAILED)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))


def plot_errors(records: Sequence[Record], title: str, path: Path) -> None:
    """A panel a case: nanoseconds a constraint against the error reached, a point a tolerance."""
    cases = cases_of(records)
    columns = min(4, len(cases))
    rows = math.ceil(len(cases) / columns)
    with mpl.rc_context({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(figsize=(max(7.0, 1.0 + 2.9 * columns), 1.6 + 2.5 * rows), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True)
        for axes, case in zip(panels.flat, cases, strict=False):
            _draw_errors(axes, [record for record in records if record.case == case])
            axes.annotate(case, (0.5, 1), (0, 14), "axes fraction", "offset points", ha="center", fontsize=9)
        for axes in panels.flat[len(cases) :]:
            axes.set_visible(False)
        for column in range(columns):
            lowest = panels[(len(cases) - 1 - column) // columns][column]
            lowest.set_xlabel("largest error, |d - d0|/d0")
            lowest.tick_params(labelbottom=True)
        figure.supylabel("time of the constraints (ns a constraint and step)", fontsize=9)
        _add_legend(figure, list(panels.flat[: len(cases)]))
        figure.suptitle(title, fontsize=10)
        figure.savefig(path, dpi=150)


def _draw_errors(axes: Axes, records: Sequence[Record]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    lost: list[str] = []
    for label, (colour, marker, line) in STYLES.items():
        points = []
        for record in (record for record in records if record.label == label):
            time = record.constraints_us
            if record.failure is not None or time is None or record.error is None:
                lost.append(f"{label}: {short_reason(record)}")
            elif time.median <= 0:
                lost.append(f"{label}: time less than noise")
            else:
                points.append((max(record.error, SMALLEST_ERROR), 1e3 * time.median / record.constraints))
        if points:
            hollow = {"markersize": 7.5, "markerfacecolor": "none"} if label == "built-in" else {"markersize": 4.5}
            line_style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": line, **hollow}
            axes.plot(*zip(*points, strict=True), label=label, **line_style)
    low, high = axes.get_ylim()
    if high < 10 * low:  # at least a decade, so that small differences do not look like a slope
        middle = math.sqrt(low * high)
        axes.set_ylim(middle / math.sqrt(10), middle * math.sqrt(10))
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    # Above the panel, where no data are.
    axes.set_title(", ".join(dict.fromkeys(lost)), fontsize=7, color=FAILED, pad=3)


def _add_legend(figure: Figure, panels: Sequence[Axes]) -> None:
    """Each label once, in the order of STYLES."""
    found: dict[str, Artist] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        found.update(zip(labels, handles, strict=True))
    labels = [label for label in STYLES if label in found]
    if labels:
        figure.legend([found[label] for label in labels], labels, loc="outside lower center", ncols=len(labels))
