# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Which version pip chooses beside which OpenMM: the table of docs/install.md."""

import re

import pytest
from environments import SERIES, Environment, wheels

PYTHON = next((wheel.python for wheel in wheels()), "3.11")


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return Environment.create(tmp_path_factory.mktemp("versions") / "env", PYTHON)


def series_of(chosen):
    """Series of OpenMM and of ours, as {package: 8.6}; what pip leaves as it is is absent."""
    result = {}
    if "openmm" in chosen:
        result["openmm"] = ".".join(chosen["openmm"].split(".")[:2])
    if "openmm-constraints" in chosen:
        fourth = chosen["openmm-constraints"].split(".")[3]
        result["openmm-constraints"] = f"{fourth[0]}.{int(fourth[1:])}"
    return result


def test_plain_command_in_an_empty_environment_takes_the_newest(environment):
    chosen = series_of(environment.would_install("openmm-constraints"))
    assert chosen == {"openmm": SERIES[-1], "openmm-constraints": SERIES[-1]}


@pytest.mark.parametrize("series", SERIES)
def test_naming_the_series_takes_it(environment, series):
    chosen = series_of(environment.would_install("openmm-constraints", f"openmm=={series}.*"))
    assert chosen == {"openmm": series, "openmm-constraints": series}


@pytest.mark.parametrize("series", SERIES)
def test_beside_each_openmm(series, tmp_path):
    """Naming its series keeps it, naming another replaces it; the plain command takes the newest."""
    environment = Environment.create(tmp_path / "env", PYTHON)
    environment.install("--no-deps", f"openmm=={series}.*")
    for named in SERIES:
        chosen = series_of(environment.would_install("openmm-constraints", f"openmm=={named}.*"))
        assert chosen == {"openmm-constraints": named, **({} if named == series else {"openmm": named})}
    plain = series_of(environment.would_install("openmm-constraints"))
    newest = {"openmm-constraints": SERIES[-1]}
    assert plain == (newest if series == SERIES[-1] else {**newest, "openmm": SERIES[-1]})


def test_a_foreign_cuda_platform_is_named(tmp_path):
    """It stays behind where the plain command replaced OpenMM. Only its metadata counts here."""
    environment = Environment.create(tmp_path / "env", PYTHON)
    environment.install("--no-deps", f"openmm-cuda-13=={SERIES[-2]}.*")
    environment.install("openmm-constraints")
    for result in (environment.python("import openmmconstraints"), environment.run("openmm-constraints", "info")):
        assert result.returncode == 0, result.stderr
        said = " ".join((result.stdout + result.stderr).split())
        assert re.search(rf"openmm-cuda-13 {SERIES[-2]}\.\S+ is installed beside OpenMM {SERIES[-1]}\.", said), said
        assert f'pip install "openmm[cuda13]=={SERIES[-1]}.' in said
