# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The faults of tests/faults.py can still be planted."""

import subprocess
import sys
from pathlib import Path

FAULTS = Path(__file__).parents[1] / "faults.py"


def test_every_text_to_change_occurs_once():
    subprocess.run([sys.executable, FAULTS, "--check"], check=True)


def test_an_unknown_name_is_refused():
    result = subprocess.run([sys.executable, FAULTS, "--check", "typo"], capture_output=True, text=True)
    assert result.returncode == 2
    assert "typo" in result.stderr
