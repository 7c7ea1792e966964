# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""tests/compare_states.py finds two records of the same build equal, and reports what is not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1]))

from compare_states import main

CASE = "moving/Rattle/direct/double"


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("states") / "before.npz")


def record(file: Path, *options: str) -> Path:
    """Runs that are solved and one that is refused: NoseHoover takes no constraints that move."""
    asked = ["--systems", "moving", "--integrators", "Rattle", "NoseHoover", "--methods", "direct"]
    assert main(["record", "--output", str(file), "--platform", "Reference", *asked]) == 0
    return file


def changed(before: Path, after: Path, **arrays: np.ndarray | None) -> Path:
    """A copy with other arrays of a case, or without them."""
    with np.load(before) as kept:
        found = {key: kept[key] for key in kept.files}
    for name, array in arrays.items():
        found[f"{CASE}/{name}"] = array
    np.savez(after, **{key: array for key, array in found.items() if array is not None})
    return after


def of_case(file: Path) -> dict[str, np.ndarray]:
    with np.load(file) as kept:
        return {key.split("/")[-1]: kept[key] for key in kept.files if key.startswith(CASE)}


def test_two_records_of_a_build_are_equal(before, tmp_path, capsys):
    assert main(["compare", str(before), str(record(tmp_path / "after.npz")), "--markdown"]) == 0
    shown = capsys.readouterr().out
    assert "| moving | 2 | 2 | 0 | 0 | 0 |" in shown
    assert "Both are of the same libraries." in shown


def test_a_record_has_what_was_computed(before):
    kept = of_case(before)
    assert str(kept["outcome"]) == ""
    assert kept["positions"].shape == kept["constraint forces"].shape == (12, 3)
    assert (kept["positions"] == kept["restored positions"]).all()
    assert kept["multipliers"].all()
    assert kept["constraint work"] != 0
    assert kept["constraint virial"].shape == (3, 3)
    assert kept["iterations"] > 0
    with np.load(before) as arrays:
        assert "NoseHoover" in str(arrays["moving/NoseHoover/direct/double/outcome"])


def test_other_numbers_are_reported(before, tmp_path, capsys):
    positions = of_case(before)["positions"]
    positions[3, 1] += 2e-7
    files = [str(before), str(changed(before, tmp_path / "after.npz", positions=positions))]
    assert main(["compare", *files, "--markdown"]) == 1
    assert "| moving | 2 | 1 | 2.0e-07 | 0 | 0 |" in capsys.readouterr().out
    assert main(["compare", *files, "--allow-numbers"]) == 0


def test_not_a_number_is_reported_as_infinite(before, tmp_path, capsys):
    velocities = of_case(before)["velocities"]
    velocities[0, 0] = np.nan
    assert main(["compare", str(before), str(changed(before, tmp_path / "after.npz", velocities=velocities))]) == 1
    assert "inf" in capsys.readouterr().out


def test_other_texts_are_reported(before, tmp_path, capsys):
    after = changed(before, tmp_path / "after.npz", outcome=np.array("it failed"))
    assert main(["compare", str(before), str(after), "--allow-numbers"]) == 1
    assert f"{CASE}, outcome:\n  no exception\n  it failed" in capsys.readouterr().out


def test_arrays_of_another_shape_are_reported(before, tmp_path, capsys):
    after = changed(before, tmp_path / "after.npz", multipliers=np.zeros(2))
    assert main(["compare", str(before), str(after), "--allow-numbers"]) == 1
    assert "an array [2]" in capsys.readouterr().out


def test_missing_cases_are_reported(before, tmp_path, capsys):
    after = changed(before, tmp_path / "after.npz", **dict.fromkeys(of_case(before)))
    assert main(["compare", str(before), str(after), "--allow-numbers"]) == 1
    assert f"{CASE} is only in {before}." in capsys.readouterr().out
