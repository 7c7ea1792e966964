# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The demonstration's figure: energy and constraint error against time."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg  # needs no display
from matplotlib.figure import Figure

from openmmconstraints.demo.comparison import Outcome

# Okabe and Ito's colours, told apart also by line and marker: Verlet, Shake x 2, Rattle x 2.
STYLES = {
    "Verlet (built-in)": ("#000000", "-", "o"),
    "Shake Iterative": ("#E69F00", "--", "s"),
    "Shake MatrixInversion": ("#56B4E9", "-", "D"),
    "Rattle Iterative": ("#D55E00", "-.", "^"),
    "Rattle MatrixInversion": ("#0072B2", ":", "v"),
}
SMALLEST_ERROR = 1e-17  # shown in the place of an exact 0, which a logarithm cannot show


def plot(outcomes: list[Outcome], title: str, tolerance: float, path: Path) -> None:
    """Write the figure: one column per set of constraints."""
    sets = list(dict.fromkeys(outcome.constraints for outcome in outcomes))
    with mpl.rc_context({"font.size": 9, "axes.grid": True, "grid.alpha": 0.3}):
        figure = Figure(figsize=(5.2 * len(sets) + 1.0, 7.4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(2, len(sets), squeeze=False, sharex="col", sharey="row")
        for column, constraints in enumerate(sets):
            energy, error = axes[0][column], axes[1][column]
            for index, outcome in enumerate(o for o in outcomes if o.constraints == constraints and o.step):
                _draw(energy, error, outcome, index)
            energy.set_title(f"{constraints}, rigid water")
            error.axhline(tolerance, color="0.4", linewidth=1, label="tolerance")
            error.set_yscale("log")
            error.set_xlabel("time (ps)")
        axes[0][0].set_ylabel("total energy - its value at the start (kJ/mol)")
        axes[1][0].set_ylabel("largest constraint error |d - d0|/d0")
        handles, labels = axes[1][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.suptitle(title)
        figure.savefig(path, dpi=150)


def _draw(energy, error, outcome: Outcome, index: int) -> None:
    colour, line, marker = STYLES[outcome.candidate.label]
    time, total = np.array(outcome.energies.time), outcome.energies.total
    # curves that lie on each other: markers at different samples, the first curve widest and at the back
    every = max(1, len(time) // 8)
    style = {
        "color": colour,
        "linestyle": line,
        "linewidth": 3.0 - 0.4 * index,
        "marker": marker,
        "markersize": 4.5,
        "markevery": (index * every // 5, every),
        "label": outcome.candidate.label,
    }
    energy.plot(time, total - total[0], **style)
    error.plot(time[1:], np.maximum(outcome.bond_error[1:], SMALLEST_ERROR), **style)
