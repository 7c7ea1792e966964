# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""Plain lengths that must be angstroms, where positions tell."""

import warnings

import numpy as np
import openmm as mm
import pytest
from molecules import system_of, topology_of
from openmm import unit

import openmmconstraints as mc
from openmmconstraints import freeenergy as fe

QUIET = {"platform": "Reference", "progress": False}

# ---- constrain(lengths=...) --------------------------------------------------------------------------------------

METHANE = 0.109 / np.sqrt(3) * np.array([[0, 0, 0], [1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
FOUR = [(0, 1), (0, 2), (0, 3), (0, 4)]
OURS = 0.109, 0.178  # of a bond and of the ends of an angle, nm


def constrain_methane(lengths, positions=METHANE, angles="all"):
    topology = topology_of("CHHHH", FOUR)
    return mc.constrain(system_of(topology), topology, angles=angles, lengths=lengths, positions=positions)


def ways(bond, ends):
    """A table and a function."""
    return {("C", "H"): bond, ("H", "C", "H"): ends}, lambda *atoms: bond if len(atoms) == 2 else ends


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("positions", [METHANE, None])
@pytest.mark.parametrize("bond", [1.09, np.float32(1.09)])
def test_a_plain_bond_of_ten_times_its_length_is_asked_for_angstroms(way, positions, bond):
    with pytest.raises(
        ValueError, match=r"constrain: 1\.09 nm\? did you mean angstrom\?.*1\.09 angstrom are 0\.109, or"
    ):
        constrain_methane(ways(bond, OURS[1])[way], positions)


@pytest.mark.parametrize("way", [0, 1])
def test_beads_and_ends_of_angles_are_asked_at_three_times_the_present_distance(way):
    """0.35 nm is possible between beads, which have no positions here."""
    with pytest.raises(ValueError, match=r"0\.35 nm\? did you mean angstrom\?.*C0 - A:MOL1:H\d .* are 0\.109 nm at"):
        constrain_methane(ways(0.35, OURS[1])[way], angles=None)
    assert constrain_methane(ways(0.35, OURS[1])[way], None, angles=None).bonds == 4
    with pytest.raises(ValueError, match=r"1\.78 nm\? did you mean angstrom\?.*the ends of"):
        constrain_methane(ways(OURS[0], 1.78)[way])


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("bond", [0.2, 0.04, 0.35 * unit.nanometer, 10.9 * unit.angstrom])
def test_others_that_are_wrong_are_not_angstroms(way, bond):
    """Too short, not far enough off, or with a unit."""
    with pytest.raises(ValueError, match=r"^constrain: (A:MOL1:C0|1\.09 nm cannot)") as raised:
        constrain_methane(ways(bond, OURS[1])[way], angles=None)
    assert "angstrom" not in str(raised.value)


@pytest.mark.parametrize("way", [0, 1])
def test_angstroms_with_their_unit_are_taken(way):
    assert constrain_methane(ways(1.09 * unit.angstrom, 109.47 * unit.degrees)[way]).bonds == 4


# ---- free energies -----------------------------------------------------------------------------------------------

AT = np.array([[0, 0, 0], [0.3, 0, 0], [0.3, 0.1, 0]])


def system():
    made = mm.System()
    for _ in range(3):
        made.addParticle(12)
    made.addConstraint(1, 2, 0.1)
    return made


def langevin():
    integrator = mc.RattleLangevinIntegrator(300, 5, 0.001)
    integrator.setMaxProjection(9)
    return integrator


def pull(held, values):
    return fe.pull(system, AT, held, values, langevin(), 1000, **QUIET)


def windows(held, values):
    size = len(values) if hasattr(values, "__len__") else 2
    return fe.run_windows(system, size * [AT], held, values, langevin(), 20, **QUIET)


def window(held, values):
    return fe.run_window(system, AT, held, next(iter(values)), langevin(), 20, platform="Reference")


def profile(held, values):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "too few")
        return fe.mean_force_profile(
            system, AT, held, values, langevin(), 20, pull_steps=1000, equilibration=0, **QUIET
        )


ALL = [pull, windows, window, profile]
HELD = [fe.Distance(0, 1), fe.CentroidDistance((0,), (1,))]


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("run", ALL)
@pytest.mark.parametrize("values", [(3.1, 3.4), np.array([3.6, 3.2]), "an iterator"])
def test_values_whose_tenth_is_the_present_one_must_be_angstroms(held, run, values):
    values = iter((3.1, 3.5)) if isinstance(values, str) else values
    with pytest.raises(ValueError, match=r"^distance .*: 3\.\d nm\? did you mean angstrom\?.* it is 0\.3 nm\. Where"):
        run(held, values)


@pytest.mark.parametrize("run", ALL)
@pytest.mark.parametrize(
    "values", [[3.1, 3.4] * unit.nanometer, [3.1 * unit.nanometer, 3.4 * unit.nanometer], [3.1, 3.4] * unit.angstrom]
)
def test_values_with_a_unit_are_taken(run, values):
    assert run(HELD[0], values)


@pytest.mark.parametrize("run", [pull, profile])
@pytest.mark.parametrize("values", [(0.31, 3.0), (3.0, 0.31), (1.2, 1.5), (5.0, 5.5)])
def test_targets_of_a_long_pull_are_taken(run, values):
    assert run(HELD[0], values)


def test_what_is_no_length_is_not_looked_at():
    radians = fe.Angle(0, 1, 2)
    assert pull(radians, [np.pi / 2, 2.0])
    with pytest.raises(TypeError, match="values must be a list"):
        pull(HELD[0], 3.0)
    with pytest.raises(TypeError, match="values must be a list"):
        windows(HELD[0], "3.0")
