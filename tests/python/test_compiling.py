# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What is said while kernels are compiled."""

from __future__ import annotations

from time import sleep

import openmm as mm
import pytest

import openmmconstraints as mc
from openmmconstraints.run.observer import Observation
from openmmconstraints.terminal import compiling


@pytest.mark.parametrize(
    ("platform", "seconds", "is_said"), [("CUDA", 0.2, True), ("OpenCL", 0, False), ("Reference", 0.2, False)]
)
def test_long_compiling_is_said(
    platform: str, seconds: float, is_said: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where it takes long, on devices."""
    monkeypatch.setattr(compiling, "SECONDS", 0.05)
    with compiling.saying_if_compiling(platform):
        sleep(seconds)
    sleep(0.1)
    assert ("compiles kernels" in capfd.readouterr().err) == is_said


def test_a_first_step_says_so(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Of a script that is run, the first step only."""
    monkeypatch.setattr(compiling, "SECONDS", 0.01)
    system = mm.System()
    system.addParticle(1)
    integrator = mc.RattleIntegrator(0.001)
    context = mm.Context(system, integrator, mm.Platform.getPlatform("Reference"))
    context.setPositions([(0, 0, 0)])
    observation = Observation("VerletIntegrator", "RattleIntegrator")
    observation.attach(context)
    observation.platform = "OpenCL"  # which this test does not need

    def take(steps: int) -> None:
        sleep(0.05)
        mc.RattleIntegrator.step(integrator, steps)

    for expected in (1, 0):
        observation.step(take, integrator, 1)
        assert capfd.readouterr().err.count("OpenCL compiles kernels") == expected
