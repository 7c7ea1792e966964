# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Opens pages in Chromium, from files and without a network, as wide as a telephone and as a desk's screen."""

import shutil

import pytest
from playwright.sync_api import sync_playwright

WIDTHS = (390, 1400)  # pixels
# What is wrong with a page as it is now. Blocks of code may be scrolled nowhere: what is beyond the edge is not seen.
PROBLEMS = """() => {
    const found = [];
    const excess = document.documentElement.scrollWidth - window.innerWidth;
    if (excess > 0) {
        const widest = [...document.querySelectorAll("body *")].map(e => [e.getBoundingClientRect().right, e])
            .sort((a, b) => b[0] - a[0])[0][1];
        found.push(`page is ${excess} pixels too wide, by ${widest.tagName} ${widest.className}`);
    }
    for (const image of document.images)
        if (!image.complete || image.naturalWidth === 0) found.push(`picture ${image.src} is not shown`);
    for (const block of document.querySelectorAll("pre"))
        if (block.clientWidth > 0 && block.scrollWidth > block.clientWidth + 1)
            found.push(`code is clipped: ${block.textContent.trim().slice(0, 60)}`);
    for (const cell of document.querySelectorAll("td:has(code)")) {
        const code = cell.querySelector("code").textContent;
        if (code.length > 8 && cell.clientWidth > 0 && cell.clientWidth < 90)
            found.push(`${code} is in a column of ${cell.clientWidth} pixels`);
    }
    return found;
}"""


@pytest.fixture(scope="session")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    assert chromium, "no chromium here (Debian: chromium)"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium)
        yield started
        started.close()


@pytest.fixture
def page(browser):
    """A page that opens in an empty window; `page.problems` collects what its scripts and the loading of files complain
    about."""
    context = browser.new_context(viewport={"width": WIDTHS[-1], "height": 900})
    opened = context.new_page()
    opened.problems = []
    opened.on(
        "console",
        lambda message: opened.problems.append(message.text) if message.type in ("error", "warning") else None,
    )
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("requestfailed", lambda request: opened.problems.append(f"not loaded: {request.url}"))
    opened.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:", "blob:"))
            else opened.problems.append(f"from the network: {request.url}")
        ),
    )
    yield opened
    context.close()


@pytest.fixture
def problems_of(page):
    """What is wrong with a file, at all widths."""

    def look(path):
        page.goto(path.as_uri())
        for picture in page.query_selector_all("img[loading=lazy]"):
            picture.scroll_into_view_if_needed()
        page.wait_for_load_state("networkidle")
        found = list(page.problems)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            found += [f"{width}: {problem}" for problem in page.evaluate(PROBLEMS)]
        return found

    return look
