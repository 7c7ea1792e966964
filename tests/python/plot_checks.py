# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What is wrong with a plot: legends and texts over data, axes without a name, lines that are alike on a grey printer.

python plot_checks.py SCRIPT [arguments]     # runs it; fails if a figure that it saves has a problem
"""

import runpy
import sys
from itertools import combinations

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

LEAST_CONTRAST = 0.15  # of two luminances, from 0, black, to 1, white


def problems_of(figure):
    """All problems, in words."""
    figure.canvas.draw()
    found = []
    boxes = [(legend, "a legend") for legend in figure.legends]
    for axes in figure.axes:
        boxes += [(axes.get_legend(), "the legend")] if axes.get_legend() else []
        boxes += [(text, f"'{text.get_text()}'") for text in axes.texts]
        found += _unnamed(axes) + _alike(axes)
    for axes in figure.axes:
        for path in _paths(axes):
            for artist, name in boxes:
                if path.intersects_bbox(artist.get_window_extent().padded(-2), filled=False):  # they may touch
                    found.append(f"{name} covers data of '{axes.get_title() or axes.get_ylabel()}'")
    return list(dict.fromkeys(found))


def _paths(axes):
    """Of lines, bars, outlines and bands, on the screen. Of markers alone, and of surfaces, nothing is checked."""
    if axes.name == "3d":
        return
    for line in axes.lines:
        path = line.get_transform().transform_path(line.get_path())
        if line.get_linestyle() != "None" and len(path.vertices) > 1:
            yield path
    for artist in [*axes.patches, *axes.collections]:
        for path in artist.get_paths() if hasattr(artist, "get_paths") else [artist.get_path()]:
            yield artist.get_transform().transform_path(path)


def _unnamed(axes):
    """Axes with numbers but without a name."""
    if not axes.get_visible() or not axes.axison:
        return []
    sides = ((axes.xaxis, "x"), (axes.yaxis, "y"))
    return [
        f"the {name} axis of '{axes.get_title()}' has no name"
        for axis, name in sides
        if not axis.get_label_text()
        and any(label.get_visible() and label.get_text() for label in axis.get_ticklabels())
    ]


def _alike(axes):
    """Lines that differ by colours only, which a grey printer does not show."""
    found = []
    named = [line for line in axes.lines if not line.get_label().startswith("_")]
    for one, other in combinations(named, 2):
        looks = [(line.get_linestyle(), line.get_marker(), line.get_linewidth()) for line in (one, other)]
        contrast = abs(_luminance(one) - _luminance(other))
        if looks[0] == looks[1] and contrast < LEAST_CONTRAST:
            found.append(f"'{one.get_label()}' and '{other.get_label()}' are alike in grey")
    return found


def _luminance(line):
    red, green, blue = to_rgb(line.get_color())
    return 0.299 * red + 0.587 * green + 0.114 * blue


def run_checked(script):
    """Run a script as python does; every figure that it saves is checked first."""
    save = Figure.savefig

    def checked(figure, *args, **kwargs):
        found = problems_of(figure)
        if found:
            raise AssertionError("; ".join(found))
        return save(figure, *args, **kwargs)

    Figure.savefig = checked
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    del sys.argv[0]
    run_checked(sys.argv[0])
