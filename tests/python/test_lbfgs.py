# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What minimize() walks with, on functions that are known."""

from itertools import islice, pairwise
from math import inf

import numpy as np
import pytest

from openmmconstraints.minimization.lbfgs import LONGEST_STEP, STALL, Point, descend

STIFFNESS = np.geomspace(1, 1e4, 60).reshape(20, 3)


BOTTOM = np.linspace(1, 2, 60).reshape(20, 3)


def valley(x, energy_at_the_bottom=0.0, digits=np.float64):
    """A quadratic function, energies rounded as digits says."""
    gradient = STIFFNESS * (x - BOTTOM)
    return Point(x, float(digits(energy_at_the_bottom + 0.5 * (gradient * (x - BOTTOM)).sum())), gradient)


def size(point):
    return np.linalg.norm(point.gradient)


def iterations_until(force, visit, limit=2000):
    start = visit(BOTTOM + 0.1)
    for number, point in enumerate(islice(descend(start, visit), limit), 1):
        if size(point) < force:
            return number
    pytest.fail("not converged")


def test_a_long_valley_takes_few_iterations():
    assert iterations_until(1e-6, valley) < 1000  # steepest descent: 100,000


def test_slopes_lead_where_energies_are_rounded():
    """To 0.06, as single precision does; the last 0.06 are lost at a force of 30."""
    assert iterations_until(1e-2, lambda x: valley(x, -1e6, np.float32)) < 1000


def test_no_particle_moves_far_at_once():
    points = [valley(BOTTOM + 5)]
    points += islice(descend(points[0], valley), 50)
    moves = [np.linalg.norm(b.positions - a.positions, axis=1).max() for a, b in pairwise(points)]
    assert max(moves) == pytest.approx(LONGEST_STEP)


def test_places_that_do_not_exist_are_avoided():
    def visit(x):
        return Point(x, inf, np.zeros_like(x)) if np.abs(x - BOTTOM).max() > 0.11 else valley(x)

    assert iterations_until(1e-6, visit) < 1000


def test_what_rounding_hides_is_the_end():
    steps = list(islice(descend(valley(BOTTOM + 0.1), valley), 5000))
    assert len(steps) < 1500 + STALL
    assert size(steps[-1]) < 1e-9


def test_from_the_bottom_there_is_no_way():
    assert list(descend(valley(BOTTOM), valley)) == []
