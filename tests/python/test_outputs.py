# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The documentation shows what a test made of an example, until something changes."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "docs/extensions"))

import outputs


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "EXAMPLES", tmp_path / "examples")
    path = tmp_path / "examples/cookbook/task.py"
    path.parent.mkdir(parents=True)
    path.write_text("print(1)\n")
    (tmp_path / "examples/start.pdb").write_text("ATOM\n")
    return path


def test_an_output_is_known_until_script_or_data_change(script, tmp_path):
    output = outputs.Output(script, tmp_path / "docs")
    assert not output.is_known()
    plot = tmp_path / "elsewhere.png"
    plot.write_bytes(b"a plot")
    output.keep(f"saved {plot}\n", plot)
    assert output.is_known()
    assert output.printed.read_text() == "saved task.png\n"
    assert output.plot.read_bytes() == b"a plot"
    assert output.folder == tmp_path / "docs/example-output/cookbook/task"
    for changed in (script, tmp_path / "examples/start.pdb"):
        before = changed.read_text()
        changed.write_text(before + "# more\n")
        assert not output.is_known()
        changed.write_text(before)
        assert output.is_known()


def test_an_output_of_another_package_is_not_known(script, tmp_path, monkeypatch):
    output = outputs.Output(script, tmp_path / "docs")
    output.keep("1\n")
    assert output.is_known()
    monkeypatch.setattr(outputs, "_package", lambda: b"of other libraries")
    assert not output.is_known()


def test_libraries_are_part_of_the_package():
    assert len(outputs._package()) == 32
    assert any(str(file).endswith("libOpenMMConstraints.so") for file in outputs.files("openmm-constraints") or [])
