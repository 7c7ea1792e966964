# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The documentation's pages and the reports, in a browser. For scripts/docs.sh, which has built the pages before."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import openmm as mm
import pytest

import openmmconstraints as mc

HTML = Path(__file__).parents[2] / "build/docs/html"
PAGES = sorted(path for path in HTML.rglob("*.html") if "_static" not in path.parts)


def test_there_are_pages():
    assert HTML / "index.html" in PAGES


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(HTML)))
def test_page_loads_and_fits(path, problems_of):
    assert problems_of(path) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<div style='width: 1000px'>wide</div>", "390: page is"),
        ("<img src='none.png'>", "none.png"),
        ("<pre style='overflow: auto'>" + "x" * 300 + "</pre>", "code is clipped"),
        ("<table><td style='max-width: 3em; word-break: break-all'><code>getMultipliers()</code></table>", "column of"),
        ("<script>undefined.x</script>", "Cannot read properties"),
        ("<script src='https://example.org/x.js'></script>", "from the network"),
    ],
)
def test_broken_page_is_noticed(body, problem, problems_of, tmp_path):
    file = tmp_path / "broken.html"
    file.write_text(f"<!doctype html><meta name='viewport' content='width=device-width'><body>{body}</body>")
    assert problem in "\n".join(problems_of(file))


def test_search_finds_a_page_without_a_server(page):
    page.goto((HTML / "search.html").as_uri() + "?q=dihedral")
    page.wait_for_selector("ul.search li a", timeout=20_000)
    assert page.locator("ul.search li a").count() > 3
    assert page.problems == []


@pytest.mark.parametrize(
    ("name", "tables"), [("coming-from.html", 4), ("api/index.html", 4), ("guide/readings.html", 1)]
)
def test_tables_that_are_looked_up_need_no_scrolling(page, name, tables):
    """Elsewhere tables of many columns scroll within the page; these are read on telephones, in a hurry."""
    page.set_viewport_size({"width": 390, "height": 900})
    page.goto((HTML / name).as_uri())
    widths = page.evaluate("[...document.querySelectorAll('.table-wrapper')].map(t => t.scrollWidth - t.clientWidth)")
    assert len(widths) == tables
    assert max(widths) <= 1


def test_code_can_be_copied(page):
    page.goto((HTML / "cookbook.html").as_uri())
    page.evaluate("document.addEventListener('copy', () => { window.copied = document.getSelection().toString(); })")
    blocks = page.locator("div.highlight-python")
    buttons = page.locator("div.highlight-python button.copybtn")
    assert buttons.count() == blocks.count() >= 16
    buttons.first.click()
    assert "import openmmconstraints as mc" in page.evaluate("window.copied")


@pytest.mark.parametrize("width", [390, 1400])
def test_buttons_are_seen_without_a_mouse_and_cover_no_code(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((HTML / "cookbook.html").as_uri())
    page.wait_for_selector("button.copybtn")
    seen, covered = page.evaluate(
        """() => {
            const buttons = [...document.querySelectorAll("button.copybtn")];
            const covered = buttons.filter(button => {
                const box = button.getBoundingClientRect(), text = document.createRange();
                text.selectNodeContents(button.parentElement.querySelector("pre"));
                return [...text.getClientRects()].some(line => line.right > box.left && line.left < box.right
                    && line.top < box.bottom && line.bottom > box.top);
            });
            return [buttons.filter(button => getComputedStyle(button).opacity > 0.3).length, covered.length];
        }"""
    )
    assert seen >= 38
    assert covered == 0


def test_report_of_health_loads_and_fits(problems_of, tmp_path):
    system = mm.System()
    for mass in (16, 12, 16):
        system.addParticle(mass)
    for i, j, distance in ((0, 1, 0.1), (1, 2, 0.1), (0, 2, 0.25)):
        system.addConstraint(i, j, distance)
    file = tmp_path / "health.html"
    viewport = "<meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
    file.write_text(f"<!doctype html>{viewport}<body>{mc.Health(system)._repr_html_()}</body>")
    assert problems_of(file) == []


def test_views_in_notebooks_load_and_fit(problems_of, tmp_path):
    """On a telephone, too."""
    coordinate, long = mc.freeenergy.Dihedral(0, 1, 2, 3), "sqrt((x1-x2)^2+(y1-y2)^2+(z1-z2)^2)-distance_of_both"
    values = [0.1 * i for i in range(5)]
    windows = tuple(
        mc.freeenergy.Window(value, mc.freeenergy.MeanForce(value, 0.1, 100, 1.0), np.zeros((4, 3))) for value in values
    )
    forces = mc.freeenergy.MeanForceProfile(coordinate, 300.0, windows)
    held = mc.ConstraintForce()
    held.addCentroidDistance(range(40), range(40, 80), 1.0, 0.1)
    views = (mc.CustomConstraintForce(2, long), held, mc.SolverSummary(), forces, forces.integrate())
    file = tmp_path / "views.html"
    viewport = "<meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
    file.write_text(f"<!doctype html>{viewport}<body>{''.join(view._repr_html_() for view in views)}</body>")
    assert problems_of(file) == []


def test_page_of_the_benchmark_loads_and_fits(problems_of, tmp_path):
    options = "--quick --rounds 3 --seconds 0.001 --systems co2:2 water:2"
    command = [sys.executable, "-m", "openmmconstraints", "benchmark", *options.split()]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert problems_of(tmp_path / "benchmark-output/benchmark.html") == []
