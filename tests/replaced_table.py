# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Runs tests of tests/python/test_replaced_solver.py and prints what they measured, as a Markdown table.

python tests/replaced_table.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path(__file__).parent / "python" / "test_replaced_solver.py"
COLUMNS = {
    "Reference]": "largest error, Reference",
    "CPU]": "CPU",
    "test_trajectories": "nm from the built-in after 40 steps",
}


def main() -> int:
    """The status of the tests."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", str(TESTS), "-q", "--no-header", "--junitxml", str(report)]
        ran = subprocess.run([*command, "-k", "values_hold or trajectories"], stdout=sys.stderr, check=False)
        rows: dict[str, dict[str, str]] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            column = next(title for part, title in COLUMNS.items() if part in case.attrib["name"])
            for found in case.iter("property"):
                rows.setdefault(found.attrib["name"], {})[column] = found.attrib["value"]
    print("| integrator |", " | ".join(COLUMNS.values()), "|")
    print("|---" * (1 + len(COLUMNS)) + "|")
    for name, row in rows.items():
        print("|", name, "|", " | ".join(row.get(title, "") for title in COLUMNS.values()), "|")
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
