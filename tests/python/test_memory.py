# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What is said where memory does not suffice, in a process of its own whose address space is bounded."""

from __future__ import annotations

import pytest
from command import python

PREPARE = """
import resource
import openmm as mm
import openmmconstraints as mc

def joined(n, is_star):
    system, force = mm.System(), mc.ConstraintForce()
    for i in range(n):
        system.addParticle(1)
        if (i > 0) if is_star else i % 2:
            force.addDistance(0 if is_star else i - 1, i, 0.1)
    system.addForce(force)
    return system

system = joined(SIZE)
integrator = mc.RattleIntegrator(0.001)
used = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmSize")][0] * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + 40 * 2**20, -1))
"""


STAR, PAIRS = "801, True", "400_000, False"


def run(size: str, line: str) -> str:
    """What the process says in the end: the last exception, or nothing."""
    return python(PREPARE.replace("SIZE", size) + line).stderr


def test_a_factor_that_is_too_large_is_named_with_its_size_and_the_solver_that_needs_none():
    create = "mm.Context(system, integrator, mm.Platform.getPlatform('Reference'))"
    for line in ("integrator.getClusters(system)", create):
        said = run(STAR, line)
        for part in ("OpenMMException: Out of memory in", "factor of 800 coupled constraints", "0.35 GB"):
            assert part in said
        assert "Remedy: setSolver(Iterative)" in said
    assert run(STAR, f"integrator.setSolver(mc.ConstraintIntegrator.Iterative); {create}") == ""


@pytest.mark.long
def test_anything_else_is_named_with_the_number_of_constraints():
    said = run(PAIRS, "integrator.getClusters(system)")
    assert "OpenMMException: Out of memory in getClusters(), for" in said
    assert "200000 constraints" in said
    assert "Remedy" in said
    assert "Iterative" not in said
