# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Texts of the repository (README.md and others) that pages include name files beside them, which have pages here."""

import re

PAGES = {
    "ARCHITECTURE.md": "/developer.md",
    "CHANGELOG.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "benchmarks/results": "/results.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^):]+)\)")
IMAGE = re.compile(r"(!\[[^\]]*\]\()docs(/[^)]+\))")


def to_page(match):
    text, target = match.groups()
    if target.startswith("docs/"):
        target = target.removeprefix("docs")
    elif target.startswith("examples/"):
        target = f"/{target.removesuffix('.py')}.md"
    else:
        target = next((page for start, page in PAGES.items() if target.startswith(start)), None)
    return f"[{text}]({target})" if target else f"`{text}`"


def rewrite(app, path, parent, content):
    if path.name in ("README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        content[0] = IMAGE.sub(r"\1\2", LINK.sub(to_page, content[0]))


def setup(app):
    app.connect("include-read", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
