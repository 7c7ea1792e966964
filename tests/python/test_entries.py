# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Every C++ test is in an entry of ctest, and every entry is run by a script."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests"))

from entries import entries, names_in, names_in_program  # noqa: E402

BUILD = ROOT / "build"


def lost(found):
    """Tests of programs that no entry runs, by program."""
    run, all_of = {}, {}
    distinct = {
        (e.command, tuple(w for w in e.environment if "SHARD" not in w and "REPORT" not in w)): e for e in found
    }
    for entry in distinct.values():
        if entry.is_googletest:
            run.setdefault(entry.program, set()).update(names_in(entry))
            if entry.program not in all_of:
                all_of[entry.program] = names_in_program(entry)
    return {program: sorted(all_of[program] - run[program]) for program in all_of if all_of[program] - run[program]}


@pytest.mark.long
def test_every_test_is_run_by_an_entry():
    found = entries(BUILD)
    assert not lost(found)
    without = [entry for entry in found if not entry.name.startswith("long.")]
    assert any(name.startswith("Million.") for name in lost(without)["ConstraintTests"])


def test_every_label_is_run_by_a_script():
    scripts = "".join((ROOT / "scripts" / name).read_text() for name in ("test.sh", "check.sh", "validate.sh"))
    run = set(re.findall(r"(?:--label-regex |ctest_of )(\w+)", scripts))
    assert {label for entry in entries(BUILD) for label in entry.labels} <= run
