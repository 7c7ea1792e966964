# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What files look like from Python; tests/TestSerialization.cpp covers each field and each malformed one."""

import subprocess
import sys

import openmm
import pytest

import openmmconstraints as mc


def test_force_comes_back_from_xml(force, settings):
    copy = mc.ConstraintForce.cast(openmm.XmlSerializer.deserialize(openmm.XmlSerializer.serialize(force)))
    assert settings(copy) == settings(force)


def test_integrator_comes_back_from_xml(integrator, settings):
    copy = type(integrator).cast(openmm.XmlSerializer.deserialize(openmm.XmlSerializer.serialize(integrator)))
    assert settings(copy) == settings(integrator)


def test_solver_is_written_by_name(integrator):
    assert 'solver="MatrixInversion"' in openmm.XmlSerializer.serialize(integrator)


def test_unknown_version_is_refused(force):
    xml = openmm.XmlSerializer.serialize(force)
    head, _, tail = xml.rpartition('version="2"')
    with pytest.raises(openmm.OpenMMException, match="version 99"):
        openmm.XmlSerializer.deserialize(f'{head}version="99"{tail}')


def test_system_xml_is_read_by_a_program_that_imports_openmm_only(system, tmp_path):
    """The plugin registers its proxies when OpenMM loads it."""
    path = tmp_path / "system.xml"
    path.write_text(openmm.XmlSerializer.serialize(system))
    code = f"import openmm; s = openmm.XmlSerializer.deserialize(open({str(path)!r}).read()); print(s.getNumForces())"
    result = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "1"
