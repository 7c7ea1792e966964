# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""A constraint of centroids under a barostat, beside a stiff spring: mean volume and mean force.

Liquid argon at constant pressure. Two groups of atoms are pulled apart by a constant force, and held at a difference of
heights by a constraint or by a spring. OpenMM makes one molecule of the groups that the spring joins, which a barostat
scales as a whole. Of the groups that the constraint joins it scales each atom.

python benchmarks/centroid_pressure.py [steps] [runs]
"""

import sys

import numpy as np
import openmm as mm
from openmm import unit

import openmmconstraints as mc

EDGE, HEIGHT, PULL, STIFFNESS = 6, 0.9, 150.0, 50_000.0  # atoms a side, nm, kJ/mol/nm, kJ/mol/nm^2
TEMPERATURE, PRESSURE = 95 * unit.kelvin, 100 * unit.bar
GROUP = 20  # atoms
BAR = 16.6054  # kJ/mol/nm^3


def argon() -> tuple[mm.System, np.ndarray, list[list[int]]]:
    spacing = 0.365
    places = spacing * np.array([[i, j, k] for i in range(EDGE) for j in range(EDGE) for k in range(EDGE)], float)
    system = mm.System()
    size = EDGE * spacing
    system.setDefaultPeriodicBoxVectors([size, 0, 0], [0, size, 0], [0, 0, size])
    force = mm.NonbondedForce()
    force.setNonbondedMethod(mm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(0.95)
    force.setUseSwitchingFunction(True)
    force.setSwitchingDistance(0.85)
    for _ in places:
        system.addParticle(39.948)
        force.addParticle(0, 0.3405, 0.9960)
    system.addForce(force)
    middle = np.mean(places[:, 2])
    order = np.argsort(np.linalg.norm(places[:, :2] - places[:, :2].mean(axis=0), axis=1), kind="stable")
    upper = [int(p) for p in order if places[p, 2] > middle][:GROUP]
    lower = [int(p) for p in order if places[p, 2] <= middle][:GROUP]
    return system, places, [upper, lower]


def add_groups(force, groups, parameters=()):
    add = force.addConstraint if hasattr(force, "addConstraint") else force.addBond
    add([force.addGroup(group) for group in groups], list(parameters))
    return force


def sample(is_constraint: bool, steps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Volumes (nm^3) and forces that hold the groups (kJ/mol/nm)."""
    system, places, groups = argon()
    pull = mm.CustomExternalForce("-f*z")  # a CustomCentroidBondForce would make one molecule of the groups
    pull.addPerParticleParameter("f")
    for sign, group in zip((1, -1), groups, strict=True):
        for p in group:
            pull.addParticle(p, [sign * PULL / GROUP])
    system.addForce(pull)
    if is_constraint:
        holder = mc.CustomCentroidConstraintForce(2, f"z1-z2-{HEIGHT}")
    else:
        holder = mm.CustomCentroidBondForce(2, f"0.5*{STIFFNESS}*(z1-z2-{HEIGHT})^2")
        holder.setForceGroup(1)
    system.addForce(add_groups(holder, groups))
    barostat = mm.MonteCarloBarostat(PRESSURE, TEMPERATURE, 10)
    barostat.setRandomNumberSeed(seed)
    system.addForce(barostat)
    integrator = mc.RattleLangevinIntegrator(TEMPERATURE, 2 / unit.picosecond, 4 * unit.femtosecond)
    integrator.setRandomNumberSeed(seed)
    integrator.setMaxProjection(2)
    context = mm.Context(system, integrator, mm.Platform.getPlatformByName("CPU"), {"Threads": "1"})
    context.setPositions(places)
    mc.minimize(context, maxIterations=200)
    context.setVelocitiesToTemperature(TEMPERATURE, seed)
    integrator.setMaxProjection(0.05)
    integrator.step(max(steps // 10, 2000))
    masses = np.full(len(places), 39.948)
    volumes, forces = [], []
    for _ in range(steps // 20):
        integrator.step(20)
        state = context.getState(positions=True)
        volumes.append(state.getPeriodicBoxVolume().value_in_unit(unit.nanometer**3))
        if is_constraint:
            forces.append(holder.getMultipliers(context)[0])
        else:
            z = state.getPositions(asNumpy=True).value_in_unit(unit.nanometer)[:, 2]
            centres = [np.average(z[group], weights=masses[group]) for group in groups]
            forces.append(-STIFFNESS * (centres[0] - centres[1] - HEIGHT))
    return np.array(volumes), np.array(forces)


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    means = {}
    for is_constraint in (False, True):
        values = []
        for seed in range(1, runs + 1):
            volumes, forces = sample(is_constraint, steps, seed)
            values.append((volumes.mean(), forces.mean()))
            name = "constraint" if is_constraint else "spring"
            print(f"{name:10s} {seed} {values[-1][0]:.4f} {values[-1][1]:.2f}", flush=True)
        values = np.array(values)
        means[is_constraint] = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(runs)
    for is_constraint, name in ((False, "spring"), (True, "constraint")):
        (volume, force), (volume_error, force_error) = means[is_constraint]
        print(f"| {name} | {volume:.3f} ± {volume_error:.3f} | {force:.1f} ± {force_error:.1f} |")
    volume, force = means[True][0]
    print(f"lambda h / 3V = {force * HEIGHT / (3 * volume) * BAR:.0f} bar")


if __name__ == "__main__":
    main()
