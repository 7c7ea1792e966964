# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Figures of several panels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg  # needs no display
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")  # Okabe and Ito
STYLE = {
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "legend.fontsize": 8,
}
#: Lines that differ by colour on a screen differ by these on a grey printer.
DASHES = ("-", (0, (4, 1.5)), ":", "-.")


def outline(axes: Axes, values: np.ndarray, label: str, **style: Any) -> None:
    """A histogram of densities, with dashes of its own in its panel."""
    dashes = DASHES[len(axes.patches) % len(DASHES)]
    axes.hist(values, density=True, histtype="step", linewidth=1.5, linestyle=dashes, label=label, **style)


def legend_below(axes: Axes, columns: int = 2) -> None:
    """Where it covers nothing."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=columns, fontsize=7)


class Panels:
    """A figure whose panels are taken in turn."""

    def __init__(self, rows: int, columns: int) -> None:
        with mpl.rc_context(STYLE):
            self._figure = Figure(figsize=(4.6 * columns, 3.5 * rows), layout="constrained")
            FigureCanvasAgg(self._figure)
            self._axes = iter(self._figure.subplots(rows, columns, squeeze=False).flat)

    def next(self, title: str, x: str, y: str) -> Axes:
        axes = next(self._axes)
        axes.set(title=title, xlabel=x, ylabel=y)
        return axes

    def save(self, path: Path) -> None:
        with mpl.rc_context(STYLE):
            self._figure.savefig(path, dpi=110)
