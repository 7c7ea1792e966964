# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The OpenMM series that a checkout is for: in the version of pyproject.toml and in its requirements.

    python scripts/series.py         # say it
    python scripts/series.py 8.5     # write it

There is a release for each series, from the same sources: 0.2.0.806 for OpenMM 8.6, 0.2.0.805 for 8.5. The fourth
component is the series, so the newest series is the highest version, which pip prefers. CMake and the Python package
read the version; the pins stand in pyproject.toml, where pip reads them, and only this file writes them.
"""

import re
import sys
from pathlib import Path

SERIES = ("8.4", "8.5", "8.6")  # that the tests pass with: scripts/wheels.sh --test
PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
VERSION = re.compile(r'^version = "(\d+\.\d+\.\d+)\.(\d+)(\d\d)"$', re.MULTILINE)
PIN = re.compile(r'"(openmm(?:-cuda-\d+)?)>=[\d.]+,<[\d.]+')


def read() -> str:
    """The series that pyproject.toml is for."""
    major, minor = VERSION.search(PYPROJECT.read_text()).group(2, 3)
    return f"{major}.{int(minor)}"


def write(series: str) -> None:
    """Make pyproject.toml that of a series."""
    major, minor = (int(number) for number in series.split("."))
    text, versions = VERSION.subn(rf'version = "\1.{major}{minor:02}"', PYPROJECT.read_text())
    text, pins = PIN.subn(rf'"\1>={major}.{minor},<{major}.{minor + 1}', text)
    if versions != 1 or pins < 2:
        raise SystemExit(f"error: {PYPROJECT} has {versions} versions and {pins} pins of OpenMM")
    PYPROJECT.write_text(text)


def main(words: list[str]) -> None:
    if len(words) > 1 or (words and words[0] not in SERIES):
        raise SystemExit(f"usage: series.py [{' | '.join(SERIES)}]")
    if words:
        write(words[0])
    print(read())


if __name__ == "__main__":
    main(sys.argv[1:])
