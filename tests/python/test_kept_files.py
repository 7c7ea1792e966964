# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Files that earlier releases wrote (kept_files.py) are read as they were meant."""

import base64
import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import openmm as mm
import pytest
from kept_files import STEPS, read

from openmmconstraints.inspection.integrators import own_integrators

CASES = sorted((Path(__file__).parent / "data").glob("*/*.json"))


def _from_xml(path):
    made = mm.XmlSerializer.deserialize(path.read_text())
    if isinstance(made, mm.Integrator) and not isinstance(made, mm.CompoundIntegrator):
        return own_integrators(made)[0]
    return made


@pytest.fixture(params=CASES, ids=lambda case: f"{case.parent.name}-{case.stem}")
def case(request):
    return request.param


@pytest.fixture
def context(case):
    integrator = _from_xml(case.with_suffix(".integrator.xml"))
    made = mm.Context(_from_xml(case.with_suffix(".system.xml")), integrator, mm.Platform.getPlatform("Reference"))
    made.integrator = integrator
    return made


def _assert_contains(new, old):
    """Everything that the old element says is said by the new one, too."""
    assert new.tag == old.tag
    known = {name: value for name, value in old.attrib.items() if name not in ("version", "openmmVersion")}
    assert known.items() <= new.attrib.items()
    assert len(new) >= len(old)
    for child, old_child in zip(new, old, strict=False):
        _assert_contains(child, old_child)


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "data").glob("*/*.xml")), ids=lambda p: p.name)
def test_everything_in_an_xml_file_is_kept(path):
    old = path.read_text()
    new = mm.XmlSerializer.serialize(mm.XmlSerializer.deserialize(old))
    _assert_contains(ElementTree.fromstring(new), ElementTree.fromstring(old))


def test_checkpoint_of_rigid_bodies_from_an_earlier_version_is_refused(case, context):
    """It has multipliers in place of the impulses of bodies, from which forces could not be read."""
    with pytest.raises(mm.OpenMMException, match=r"earlier version of openmm-constraints.*saveState"):
        context.loadCheckpoint(base64.decodebytes(case.with_suffix(".checkpoint.txt").read_bytes()))


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.stem in ("Rattle", "Shake", "RattleNoseHoover", "Compound")], indirect=True
)
def test_run_goes_on_as_it_did(case, context):
    """From the positions and velocities of the checkpoint, or from a State where a heat bath has more.

    Other integrators draw noise, or had drifted: positions that are set are projected.
    """
    moments = json.loads(case.read_text())
    state = case.with_suffix(".state.xml")
    if state.exists():
        context.setState(_from_xml(state))
    else:
        context.setTime(moments["checkpoint"]["time"])
        context.setPositions(moments["checkpoint"]["positions"])
        context.setVelocities(moments["checkpoint"]["velocities"])
    context.integrator.step(STEPS)
    later = read(context, context.integrator)
    rounding = 1e-8  # of bodies whose particles had errors up to the tolerance, 3e-9
    for name in ("time", "positions", "velocities"):
        np.testing.assert_allclose(later[name], moments["later"][name], rtol=1e-6, atol=rounding, err_msg=name)


@pytest.mark.parametrize("case", [c for c in CASES if c.with_suffix(".state.xml").exists()], indirect=True)
def test_state_brings_the_nose_hoover_chain(case, context):
    context.setState(_from_xml(case.with_suffix(".state.xml")))
    moments = json.loads(case.read_text())
    now = read(context, context.integrator, of_step=False)
    for name in ("time", "positions", "velocities", "heat bath energy"):
        assert now[name] == moments["checkpoint"][name]
