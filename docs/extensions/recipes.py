# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Write the code of examples/cookbook into docs/cookbook.md, where it can be read without building the pages.

    python docs/extensions/recipes.py            # rewrites the page
    python docs/extensions/recipes.py --check    # exits with 1 if it is not up to date

A comment before each block of code names its script. Sphinx takes the script itself, and what it printed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/cookbook.md"
SCRIPTS = ROOT / "examples/cookbook"
RECIPE = re.compile(r"^<!-- recipe: (\w+) -->\n(?:```python\n.*?^```\n)?", re.DOTALL | re.MULTILINE)


def code(name: str) -> str:
    """A script without the lines on its license."""
    return "".join((SCRIPTS / f"{name}.py").read_text().splitlines(keepends=True)[2:])


def with_code(page: str) -> str:
    """The page with the code of each script as it is now."""
    return RECIPE.sub(lambda found: f"{found[0].splitlines()[0]}\n```python\n{code(found[1])}```\n", page)


def with_directives(page: str) -> str:
    """The page for Sphinx: the directive in the place of the code."""
    return RECIPE.sub(lambda found: f"```{{recipe}} {found[1]}\n```\n", page)


def main(arguments: list[str]) -> int:
    """0: the page is up to date."""
    before = PAGE.read_text()
    after = with_code(before)
    if arguments != ["--check"]:
        PAGE.write_text(after)
        return 0
    if after != before:
        print("docs/cookbook.md is not up to date: run `python docs/extensions/recipes.py`.")
    return int(after != before)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
