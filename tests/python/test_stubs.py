# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What SWIG adds to every module and class, and what is private to the package.
GENERATED = r"""
openmmconstraints\.wrapper\._.*
openmmconstraints\.wrapper\.(complete|retype|add_arrays|name_solvers|SwigPyIterator)
openmmconstraints\.wrapper\.ConstraintIntegrator\.__init__
.*\.(this|thisown)
.*\._repr_html_
.*\.__(repr|str|reduce|getstate|setstate|swig_destroy)__
.*\._fromXML
"""


@pytest.mark.long
def test_stubs_agree_with_the_module(tmp_path):
    allowlist = tmp_path / "allowlist"
    allowlist.write_text(GENERATED)
    command = [sys.executable, "-m", "mypy.stubtest", "openmmconstraints.wrapper", "--ignore-unused-allowlist"]
    options = ["--allowlist", str(allowlist), "--mypy-config-file", str(ROOT / "pyproject.toml")]
    result = subprocess.run(command + options, capture_output=True, text=True, cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_package_is_typed():
    import openmmconstraints

    assert Path(openmmconstraints.__file__).with_name("py.typed").exists()
