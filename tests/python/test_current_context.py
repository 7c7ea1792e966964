# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""What Python adds to a Context makes CUDA's context current where it needs it: OpenMM leaves none between steps. The
driver is tests/calls/fakecuda, which refuses as NVIDIA's does, and kernels run on the host (tests/emulator)."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import emulator

BUILD = Path(__file__).parents[2] / "build"
SCRIPT = """
import io
import numpy as np, openmm as mm
from openmm import app, unit
import openmmconstraints as mc

INTEGRATORS = {
    "RattleIntegrator": (0.001,), "ShakeIntegrator": (0.001,), "RattleLangevinIntegrator": (300, 1, 0.001),
    "ConstraintForceIntegrator": (0.001,),
    "RattleNoseHooverIntegrator": (300, 20, 0.001), "RattleMTSIntegrator": (0.001, [(0, 1)]),
    "RattleMTSLangevinIntegrator": (300, 1, 0.001, [(0, 1)])}

topology = app.Topology()
chain = topology.addChain()
system, force, springs = mm.System(), mc.ConstraintForce(), mm.HarmonicBondForce()
system.setDefaultPeriodicBoxVectors(mm.Vec3(3, 0, 0), mm.Vec3(0, 3, 0), mm.Vec3(0, 0, 3))
positions = []
for n in range(4):
    residue = topology.addResidue("HOH", chain)
    for name, element, mass, place in (("O", "O", 16, (0, 0)), ("H1", "H", 1, (0.1, 0)), ("H2", "H", 1, (0, 0.1))):
        topology.addAtom(name, app.Element.getBySymbol(element), residue)
        system.addParticle(mass)
        positions.append(mm.Vec3(0.5 * n + place[0], place[1], 0.3 * (n % 2)))
    force.addDistance(3 * n, 3 * n + 1, 0.1)
    force.addDistance(3 * n, 3 * n + 2, 0.1)
    if n:
        springs.addBond(3 * n - 3, 3 * n, 0.55, 500)
force.addDistance(0, 6, np.linalg.norm(positions[6] - positions[0]))
springs.setUsesPeriodicBoundaryConditions(True)
force.setUsesPeriodicBoundaryConditions(True)
system.addForce(force)
system.addForce(springs)

def simulation_of(name):
    integrator = getattr(mc, name)(*INTEGRATORS[name])
    simulation = app.Simulation(topology, system, integrator, mm.Platform.getPlatform("CUDA"), {"Precision": "mixed"})
    simulation.context.setPositions(positions)
    simulation.context.setVelocitiesToTemperature(300, 1)
    return simulation

for name in INTEGRATORS:
    here, other = simulation_of(name), simulation_of(name)
    written = io.StringIO()
    here.reporters.append(mc.ConstraintStateReporter(written, 2, step=True, temperature=True, pressure=True))
    for each in (here, other):
        each.step(2)
    assert len(written.getvalue().splitlines()) == 2, written.getvalue()
    assert np.isfinite(mc.computePressure(here.context).value_in_unit(unit.bar))
    assert np.shape(mc.computePressureTensor(other.context)) == (3, 3)
    assert str(here.integrator.getSolverSummary()) and len(here.integrator.getClusters(system))
    assert np.shape(here.integrator.getConstraintForces(asNumpy=True)) == (12, 3)
    assert np.shape(force.getMultipliers(other.context)) == (9,)
    checkpoint = here.context.createCheckpoint()
    other.context.loadCheckpoint(checkpoint)
    here.context.setState(other.context.getState(positions=True, velocities=True))
    here.context.reinitialize(preserveState=True)
    del other
    here.step(2)
    print(name, flush=True)
"""


@pytest.mark.long
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the emulator runs on x86-64 only")
def test_python_makes_the_context_current_with_every_integrator(tmp_path: Path) -> None:
    environment = emulator.environment(BUILD, tmp_path, FAKECUDA_MULTIPROCESSORS="3")
    result = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(result.stdout.split()) == 7
