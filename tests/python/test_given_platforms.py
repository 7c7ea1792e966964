# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Where a platform is asked for, its name is taken, and a platform itself."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import openmm as mm
import pytest

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe
from openmmconstraints.inspection.platforms import choose_platform

REFERENCE = mm.Platform.getPlatform("Reference")
X = np.array([[0, 0, 0], [0.15, 0, 0], [0.2, 0.1, 0]])
BOTH = ["Reference", REFERENCE]


def make_system():
    system = mm.System()
    for _ in X:
        system.addParticle(12)
    return system


def windows(platform, **changes):
    integrator = mc.RattleLangevinIntegrator(300, 1, 0.001)
    return {"system": make_system(), "integrator": integrator, "seed": 1, "platform": platform, **changes}


@pytest.mark.parametrize("platform", BOTH)
def test_free_energies_take_platforms(platform):
    coordinate = fe.Distance(0, 2)
    [start] = fe.pull(positions=X, coordinate=coordinate, values=[0.25], steps=5, progress=False, **windows(platform))
    held = {"coordinate": coordinate, "steps": 10}
    one = fe.run_window(positions=start, value=0.25, **held, **windows(platform))
    [same] = fe.run_windows(positions=[start], values=[0.25], progress=False, **held, **windows(platform))
    with ProcessPoolExecutor(1) as executor:
        [other] = fe.run_windows(
            positions=[start], values=[0.25], executor=executor, progress=False, **held, **windows(platform)
        )
    assert np.array_equal(same.positions, other.positions)
    assert one.mean_force.samples == other.mean_force.samples == 1


@pytest.mark.filterwarnings("ignore:too few")
@pytest.mark.parametrize("platform", BOTH)
def test_profiles_take_platforms(platform):
    made = fe.mean_force_profile(
        positions=X,
        coordinate=fe.Distance(0, 2),
        values=[0.24, 0.25],
        steps=10,
        pull_steps=2,
        equilibration=1,
        progress=False,
        **windows(platform),
    )
    assert len(made.windows) == 2


@pytest.mark.parametrize("platform", BOTH)
def test_health_takes_platforms(platform):
    assert mc.Health(make_system(), X, platform=platform).placement.steps == 3


@pytest.mark.parametrize("platform", [3, mm.Platform, ["CPU"]])
def test_what_is_no_platform(platform):
    with pytest.raises(TypeError, match=r'platform is a name such as "CPU", or itself, as openmm\.Platform\.getPlat'):
        mc.Health(make_system(), X, platform=platform)
    with pytest.raises(TypeError, match="platform is a name"):
        fe.run_window(positions=X, coordinate=fe.Distance(0, 2), value=0.25, steps=10, **windows(platform))


def test_a_platform_that_is_not_there():
    with pytest.raises(ValueError, match=r"platform 'CUDAA' is not available here; choose from .*CPU"):
        mc.Health(make_system(), X, platform="CUDAA")


def test_the_platform_itself_is_taken():
    """Not another object of its name: it may have properties."""
    assert choose_platform(REFERENCE) is REFERENCE
    assert choose_platform("Reference").getName() == "Reference"
