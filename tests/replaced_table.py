# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Runs tests of tests/python/test_replaced_solver.py and prints what they measured, as a Markdown table.

python tests/replaced_table.py
python tests/replaced_table.py --platform OpenCL --precision mixed
"""

from __future__ import annotations

import argparse
import os
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", choices=["OpenCL", "CUDA"], help="a device in the place of Reference and CPU")
    parser.add_argument("--precision", choices=["single", "mixed", "double"], default="mixed", help="of the device")
    options = parser.parse_args()
    columns, tests, environment = COLUMNS, "values_hold or trajectories", dict(os.environ)
    if options.platform is not None:
        columns, tests = (
            {f"{options.platform}]": f"largest error, {options.platform}"},
            f"values_hold and {options.platform}",
        )
        environment |= {"CONSTRAINTS_TEST_PLATFORM": options.platform, "CONSTRAINTS_TEST_PRECISION": options.precision}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", str(TESTS), "-q", "--no-header", "--junitxml", str(report)]
        ran = subprocess.run([*command, "-k", tests], stdout=sys.stderr, env=environment, check=False)
        rows: dict[str, dict[str, str]] = {}
        for case in ElementTree.parse(report).iter("testcase"):
            column = next(title for part, title in columns.items() if part in case.attrib["name"])
            for found in case.iter("property"):
                rows.setdefault(found.attrib["name"], {})[column] = found.attrib["value"]
    print("| integrator |", " | ".join(columns.values()), "|")
    print("|---" * (1 + len(columns)) + "|")
    for name, row in rows.items():
        print("|", name, "|", " | ".join(row.get(title, "") for title in columns.values()), "|")
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
