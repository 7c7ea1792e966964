# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Plots, words and the page of `openmm-constraints benchmark`, from made-up measurements."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure

from openmmconstraints.benchmark import others
from openmmconstraints.benchmark.measure import Record
from openmmconstraints.benchmark.page import write_page
from openmmconstraints.benchmark.plots import plot_errors, plot_ratios
from openmmconstraints.benchmark.report import COLUMNS, row
from openmmconstraints.benchmark.timing import Spread
from openmmconstraints.benchmark.words import share, shares_in_words, why_no_numbers

SETTINGS = {
    "date": "2026-11-25",
    "machine": "a machine <with> 2 cores",
    "openmm": "8.6.1",
    "openmm_constraints": "0.2",
    "platform": "CPU",
    "properties": {"Threads": "1"},
    "integrator": "Shake",
    "built_in": "Verlet",
    "step_size_ps": 0.002,
    "rounds": 3,
    "seconds_of_a_measurement": 0.01,
    "cores_used_by_other_programs": 0.9,
}


def spread(value):
    return Spread(value, 0.9 * value, 1.1 * value)


def measured(system, solver, tolerance=1e-5, time=10.0, error=1e-6):
    """A row in which nothing is missing."""
    record = Record(system, "Rigid", 30, 30, tolerance, "Shake", solver, setup_s=0.01, error=error)
    record.constraints_us, record.step_ms, record.share = spread(time), spread(0.1), spread(time / 100)
    if solver is not None:
        record.constraints_ratio, record.step_ratio, record.iterations = spread(time / 10), spread(1.0), 3
    return record


def failed(record, why):
    return replace(record, failure=why, constraints_us=None, share=None, constraints_ratio=None, error=None)


def make_records():
    """Four systems: all is measured; the built-in gives NaN; one of ours fails; ratios are lost in noise."""
    rows = {
        name: [measured(name, solver, time=t, error=e) for solver, t, e in SOLVERS]
        for name in ("all", "nan", "one", "noise")
    }
    rows["nan"] = [failed(rows["nan"][0], "NaN"), *(replace(r, constraints_ratio=None) for r in rows["nan"][1:])]
    rows["one"][1] = failed(rows["one"][1], "did not converge <in> 100 iterations")
    rows["noise"][1:] = [replace(r, constraints_ratio=None) for r in rows["noise"][1:]]
    return [record for some in rows.values() for record in some]


SOLVERS = ((None, 10.0, 1e-6), ("Iterative", 200.0, 9e-6), ("MatrixInversion", 2.0, 1e-15))


@pytest.fixture
def figures(monkeypatch):
    """Figures as they are saved."""
    saved = []
    save = Figure.savefig

    def keep(figure, *args, **kwargs):
        save(figure, *args, **kwargs)
        saved.append(figure)

    monkeypatch.setattr(Figure, "savefig", keep)
    return saved


@pytest.mark.parametrize("plot", [plot_ratios, plot_errors])
def test_no_label_covers_data(plot, figures, tmp_path):
    plot(make_records(), "title", tmp_path / "plot.png")
    (figure,) = figures
    renderer = figure.canvas.get_renderer()
    labels = 0
    for axes in figure.axes:
        places = [line.get_transform().transform(line.get_xydata()) for line in axes.lines if len(line.get_xydata())]
        bars = [axes.transData.transform(np.vstack(c.get_segments())) for c in axes.collections]
        data = np.vstack([p for p in places if len(p) != 2] + bars)  # without the line at 1, which two points make
        for text in (*axes.texts, axes.title):
            if text.get_text():
                labels += 1
                box = text.get_window_extent(renderer)
                assert not any(box.contains(*point) for point in data), text.get_text()
    assert labels >= 4


def test_each_empty_row_of_the_plot_says_why(figures, tmp_path):
    plot_ratios(make_records(), "title", tmp_path / "plot.png")
    (axes,) = figures[0].axes
    said = {round(text.get_position()[1]): text.get_text() for text in axes.texts}
    assert said == {
        1: "no ratio: the built-in algorithm gives NaN",
        2: "Iterative: fails",
        3: "no ratio: the time of the built-in algorithm is less than its noise",
    }


def test_each_dash_of_a_table_has_a_reason():
    records = make_records()
    for start in range(0, len(records), 3):
        case = records[start : start + 3]
        reasons = " ".join(why_no_numbers(case))
        for record in case[1:]:
            has_dash = record.failure is not None or record.constraints_ratio is None
            assert has_dash == (record.label in reasons or "Nothing can be compared" in reasons), (record, reasons)
    assert why_no_numbers(records[3:6]) == [
        "built-in, 1e-05: positions become NaN, without an error. Nothing can be compared with that."
    ]
    assert why_no_numbers(records[6:9]) == ["Iterative, 1e-05: did not converge <in> 100 iterations"]


def test_shares_are_told_in_words():
    record = measured("all", "Iterative")
    assert share(replace(record, share=Spread(0.0412, 0.04, 0.05))) == "4.1"
    assert share(replace(record, share=Spread(0.2, 0.19, 0.25))) == "20"
    assert share(replace(record, share=Spread(0.01, -0.1, 0.2))) == "noise"
    assert share(replace(record, share=Spread(1.2, 1.0, 1.5))) == ">100"
    assert share(replace(record, share=None)) == "-"
    assert shares_in_words([record, replace(record, solver="MatrixInversion", share=Spread(0.01, -0.1, 0.2))]) == [
        "At 1e-05 the constraints take, of a whole step: Iterative 10 %; MatrixInversion too little to be measured."
    ]


def test_other_programs_are_told(monkeypatch):
    clock = {"busy": 100.0, "own": 3.0, "now": 50.0}
    monkeypatch.setattr(others, "_busy_seconds", lambda: clock["busy"])
    monkeypatch.setattr(others, "_own_seconds", lambda: clock["own"])
    monkeypatch.setattr(others, "perf_counter", lambda: clock["now"])
    measured = others.OtherPrograms()
    clock.update(busy=120.0, own=13.0, now=60.0)  # in 10 s: 20 s of all cores, 10 s of them ours
    assert measured.cores() == pytest.approx(1.0)
    assert "1.0 cores" in others.warning(measured.cores())
    assert others.warning(0.05) is None
    monkeypatch.setattr(others, "_busy_seconds", lambda: None)  # no Linux
    assert measured.cores() is None
    assert others.warning(None) is None


def test_time_of_other_programs_is_read_where_there_is_one():
    measured = others.OtherPrograms()
    cores = measured.cores()
    assert cores is None or cores >= 0


def test_times_below_their_scatter_are_said_to_be_noise():
    """Differences of two times, which may be negative."""
    record = measured("all", "Iterative")
    column = COLUMNS.index("Constraints\n(µs/step)")
    assert row(record)[column] == "10"
    assert row(replace(record, constraints_us=Spread(-24.3, -30.0, 2.0)))[column] == "noise"


class Page(HTMLParser):
    """What a browser would load from elsewhere, and whether tags are closed."""

    def __init__(self, text):
        super().__init__()
        self.links, self.open, self.pictures, self.rows = [], [], 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.links += [found[name] for name in ("src", "href") if name in found]
        self.pictures += tag == "img"
        self.rows += tag == "tr"
        if tag not in ("meta", "link", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_one_file_with_all_of_it(tmp_path):
    records = make_records()
    plot_ratios(records, "title", tmp_path / "ratios.png")
    plot_errors(records, "title", tmp_path / "errors.png")
    write_page(tmp_path / "page.html", SETTINGS, records)
    text = (tmp_path / "page.html").read_text()
    page = Page(text)
    assert page.open == []
    assert page.pictures == 2
    assert all(link.startswith("data:") for link in page.links), "it would load something"
    assert page.rows == 7 + 4 + len(records)  # settings, heads, measurements
    for word in (
        "did not converge &lt;in&gt; 100 iterations",
        "a machine &lt;with&gt; 2 cores",
        "2026-11-25",
        "Other programs used 0.9 cores",
    ):
        assert word in text
    plain = re.sub(r"<[^>]+>", " ", text)
    for name in COLUMNS:
        assert name.replace("-\n", "").replace("\n", " ") in plain
    for cell in row(records[0]):
        assert f"<td>{cell}</td>" in text
