# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What an installed package has to do: load, step with every solver on each platform, be written to XML and read.
Run in an environment of its own: prints the platforms that stepped."""

import sys

import openmm as mm

import openmmconstraints as mc
from openmmconstraints.inspection.platforms import found_platforms, supports_plugin, try_platform

POSITIONS = [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0]]


def make_system():
    """A molecule with two bonds and an angle."""
    system, force = mm.System(), mc.ConstraintForce()
    for mass in (16, 1, 1):
        system.addParticle(mass)
    force.addDistance(0, 1, 0.1)
    force.addDistance(0, 2, 0.1)
    force.addAngle(1, 0, 2, 1.8)
    system.addForce(force)
    return mm.XmlSerializer.deserialize(mm.XmlSerializer.serialize(system))


def step(platform, solver):
    """Take a few steps; the constraints hold to the tolerance."""
    integrator = mc.RattleIntegrator(0.001)
    integrator.setConstraintTolerance(1e-5)
    integrator.setSolver(solver)
    integrator = mc.RattleIntegrator.cast(mm.XmlSerializer.clone(integrator))
    context = mm.Context(make_system(), integrator, platform)
    context.setPositions(POSITIONS)
    context.applyConstraints(1e-5)
    context.setVelocitiesToTemperature(300, 1)
    integrator.step(20)
    summary = integrator.getSolverSummary()
    assert summary.converged, summary
    assert summary.maxError <= 1e-5, summary


def main():
    for name, platform in found_platforms().items():
        assert supports_plugin(platform), f"{name}: no library of ours: {mm.Platform.getPluginLoadFailures()}"
        try:
            try_platform(platform)
        except mm.OpenMMException as error:
            print(f"{name} has no device here: {error}", file=sys.stderr)
            continue
        for solver in (mc.ConstraintIntegrator.Automatic, mc.ConstraintIntegrator.Iterative):
            step(platform, solver)
        print(name)


if __name__ == "__main__":
    main()
