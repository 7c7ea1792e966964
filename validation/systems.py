# SPDX-FileCopyrightText: 2026 the openmm-constraints developers
# SPDX-License-Identifier: MIT
"""The systems that are run: small ones, each an example of a kind of constraint."""

from __future__ import annotations

from io import StringIO

import numpy as np
import openmm as mm
import openmm.app as app

import openmmconstraints as mc
from openmmconstraints.benchmark.generated import Molecules, carbon_dioxide
from openmmconstraints.benchmark.generated import water as make_water
from openmmconstraints.benchmark.start import relax, thermalize
from validation.dynamics import KT, Case

# The extended conformation, as tLEaP builds it.
ALANINE_DIPEPTIDE = """ATOM      1  H1  ACE A   1       2.000   1.000   0.000
ATOM      2  CH3 ACE A   1       2.000   2.090   0.000
ATOM      3  H2  ACE A   1       1.486   2.454   0.890
ATOM      4  H3  ACE A   1       1.486   2.454  -0.890
ATOM      5  C   ACE A   1       3.427   2.641   0.000
ATOM      6  O   ACE A   1       4.391   1.877   0.000
ATOM      7  N   ALA A   2       3.555   3.970   0.000
ATOM      8  H   ALA A   2       2.733   4.556   0.000
ATOM      9  CA  ALA A   2       4.853   4.614   0.000
ATOM     10  HA  ALA A   2       5.408   4.316   0.890
ATOM     11  CB  ALA A   2       5.661   4.221  -1.232
ATOM     12  HB1 ALA A   2       5.123   4.521  -2.131
ATOM     13  HB2 ALA A   2       6.630   4.719  -1.206
ATOM     14  HB3 ALA A   2       5.809   3.141  -1.241
ATOM     15  C   ALA A   2       4.713   6.129   0.000
ATOM     16  O   ALA A   2       3.601   6.653   0.000
ATOM     17  N   NME A   3       5.846   6.835   0.000
ATOM     18  H   NME A   3       6.737   6.359   0.000
ATOM     19  C   NME A   3       5.846   8.284   0.000
ATOM     20  H1  NME A   3       4.819   8.648   0.000
ATOM     21  H2  NME A   3       6.360   8.648   0.890
ATOM     22  H3  NME A   3       6.360   8.648  -0.890
END
"""


def _liquid(name: str, molecules: Molecules, per_molecule: int, step_size: float, equilibration: int) -> Case:
    system = molecules.create("Rigid")
    mc.moveConstraints(system)
    start = thermalize(system, relax(molecules, 100), equilibration)
    size = len(molecules.elements) // 3
    classes = {e: [i for i, x in enumerate(molecules.elements) if x == e] for e in sorted(set(molecules.elements))}
    return Case(
        name, system, start.positions, per_molecule * size, step_size, friction=40.0, platform="CPU", classes=classes
    )


def water(n: int = 216, equilibration: int = 5000) -> Case:
    """A periodic box of rigid waters: six degrees of freedom each."""
    return _liquid("rigid water", make_water(n), 6, 0.0005, equilibration)


def liquid_carbon_dioxide(n: int = 64, equilibration: int = 20000) -> Case:
    """Dense carbon dioxide: linear rigid bodies, given by three distances, with five degrees of freedom each."""
    return _liquid("rigid rods (CO2)", carbon_dioxide(n), 5, 0.001, equilibration)


def carbon_dioxide_molecule() -> Case:
    """One molecule of carbon dioxide in vacuum: a linear rigid body, given by three distances."""
    system = mm.System()
    bonds = mc.ConstraintForce()
    for mass in (15.999, 12.011, 15.999):
        system.addParticle(mass)
    for i, j, length in ((0, 1, 0.1149), (1, 2, 0.1149), (0, 2, 0.2298)):
        bonds.addDistance(i, j, length)
    system.addForce(bonds)
    start = np.array([[-0.1149, 0, 0], [0, 0, 0], [0.1149, 0, 0]])
    return Case("one rod (CO2)", system, start, 5, 0.001, classes={"C": [1], "O": [0, 2]})


def peptide() -> Case:
    """Alanine dipeptide in vacuum, all bonds held, and all angles that have two hydrogens."""
    pdb = app.PDBFile(StringIO(ALANINE_DIPEPTIDE))
    system = app.ForceField("amber14-all.xml").createSystem(pdb.topology, removeCMMotion=False)
    force = mc.constrain(system, pdb.topology, bonds="all", angles="hydrogens")
    assert force is not None
    # 21 bonds, and three angles in each of 3 methyl groups, all independent.
    atoms = [atom.element.symbol for atom in pdb.topology.atoms()]
    classes = {
        "H": [i for i, symbol in enumerate(atoms) if symbol == "H"],
        "C": [i for i, symbol in enumerate(atoms) if symbol == "C"],
        "N and O": [i for i, symbol in enumerate(atoms) if symbol in "NO"],
    }
    return Case(
        "angle-constrained peptide", system, np.array(pdb.positions._value), 3 * 22 - 21 - 9, 0.0005, classes=classes
    )


SPHERE_RADIUS = 0.4  # nm
SPHERE_MASS = 2.0  # u


def on_sphere(n: int, field: float = 0.0) -> Case:
    """n particles on a sphere, without interaction. @param field  force along z, in kT per radius"""
    system = mm.System()
    sphere = mc.CustomConstraintForce(1, f"x1^2 + y1^2 + z1^2 - {SPHERE_RADIUS**2}")
    field_force = mm.CustomExternalForce(f"{-field * KT / SPHERE_RADIUS}*z")
    for _ in range(n):
        particle = system.addParticle(SPHERE_MASS)
        sphere.addConstraint([particle], [])
        if field:
            field_force.addParticle(particle, [])
    system.addForce(sphere)
    if field:
        system.addForce(field_force)
    start = np.tile([SPHERE_RADIUS, 0, 0], (n, 1))
    return Case("particles on a sphere", system, start, 2 * n, 0.004, friction=10.0)


TORUS_RADII = (0.4, 0.25)  # nm, of the ring and of the tube


def on_torus(n: int) -> Case:
    """n free particles on a torus."""
    ring, tube = TORUS_RADII
    system = mm.System()
    torus = mc.CustomConstraintForce(1, f"(sqrt(x1^2 + y1^2) - {ring})^2 + z1^2 - {tube**2}")
    for _ in range(n):
        torus.addConstraint([system.addParticle(SPHERE_MASS)], [])
    system.addForce(torus)
    return Case("particles on a torus", system, np.tile([ring, 0, tube], (n, 1)), 2 * n, 0.004, friction=10.0)


TRIMER_MASSES = (16.0, 1.0, 16.0)  # u; the light centre makes |Z| depend strongly on the angle
TRIMER_BONDS = (0.15, 0.1)  # nm


def trimer() -> Case:
    """Two rigid bonds that share a particle; no other force acts."""
    system = mm.System()
    bonds = mc.ConstraintForce()
    for mass in TRIMER_MASSES:
        system.addParticle(mass)
    for i, length in enumerate(TRIMER_BONDS):
        bonds.addDistance(i, i + 1, length)
    system.addForce(bonds)
    start = np.array([[-TRIMER_BONDS[0], 0, 0], [0, 0, 0], [0, TRIMER_BONDS[1], 0]])
    return Case("trimer of two rigid bonds", system, start, 7, 0.002, friction=10.0)


def bent_trimers(n: int) -> Case:
    """n trimers of two rigid bonds with a harmonic angle: a potential energy that depends on the shape."""
    system = mm.System()
    bonds, angles = mc.ConstraintForce(), mm.HarmonicAngleForce()
    start = []
    for _ in range(n):
        first = system.getNumParticles()
        for mass in (4.0, 12.0, 2.0):
            system.addParticle(mass)
        bonds.addDistance(first, first + 1, 0.15)
        bonds.addDistance(first + 1, first + 2, 0.1)
        angles.addAngle(first, first + 1, first + 2, 1.9, 60)
        start += [[-0.15, 0, 0], [0, 0, 0], [0.03, 0.0954, 0]]
    system.addForce(bonds)
    system.addForce(angles)
    return Case("trimers with a soft angle", system, np.array(start), 7 * n, 0.002, friction=20.0)


DIMER_LENGTH = 0.1  # nm


def tethered_dimers(n: int, stiffness: float = 6000.0) -> Case:
    """n dimers, their light end in a harmonic well, which couples rotation and translation: <U> = 3/2 kT each."""
    system = mm.System()
    bonds, well = mc.ConstraintForce(), mm.CustomExternalForce(f"{stiffness / 2}*(x*x + y*y + z*z)")
    start = []
    for _ in range(n):
        heavy, light = system.addParticle(16.0), system.addParticle(2.0)
        bonds.addDistance(heavy, light, DIMER_LENGTH)
        well.addParticle(light, [])
        start += [[DIMER_LENGTH, 0, 0], [0, 0, 0]]
    system.addForce(bonds)
    system.addForce(well)
    return Case("dimers, one end in a well", system, np.array(start), 5 * n, 0.002, friction=5.0)


def dimer_gas(n: int, volume: float) -> Case:
    """n rigid dimers in a periodic cube, without any interaction. @param volume  at the start (nm^3)"""
    edge = volume ** (1 / 3)
    system = mm.System()
    system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
    bonds = mc.ConstraintForce()
    bonds.setUsesPeriodicBoundaryConditions(True)
    rng = np.random.default_rng(1)
    start = []
    for place in rng.uniform(0, edge, (n, 3)):
        heavy, light = system.addParticle(16.0), system.addParticle(2.0)
        bonds.addDistance(heavy, light, DIMER_LENGTH)
        start += [place, place + np.array([DIMER_LENGTH, 0, 0])]
    system.addForce(bonds)
    return Case("ideal gas of rigid dimers", system, np.array(start), 5 * n, 0.004)


BODIES = {  # name: (masses (u), positions (nm), degrees of freedom)
    "any shape": (
        (12.0, 1.0, 16.0, 1.0),
        ((0.0, 0.0, 0.0), (0.11, 0.0, 0.0), (-0.04, 0.14, 0.0), (-0.03, -0.05, 0.09)),
        6,
    ),
    "linear": ((16.0, 12.0, 32.0), ((-0.116, 0.0, 0.0), (0.0, 0.0, 0.0), (0.156, 0.0, 0.0)), 5),
}


def bodies(kind: str, n: int, volume: float | None = None) -> Case:
    """n rigid bodies of addRigidBody without any interaction. @param volume  of a periodic cube at the start (nm^3)"""
    masses, shape, degrees_of_freedom = BODIES[kind]
    edge = 3.0 if volume is None else volume ** (1 / 3)
    system, force = mm.System(), mc.ConstraintForce()
    if volume is not None:
        system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
        force.setUsesPeriodicBoundaryConditions(True)
    start = []
    for place in np.random.default_rng(1).uniform(0, edge, (n, 3)):
        particles = [system.addParticle(mass) for mass in masses]
        force.addRigidBody(particles, shape)
        start += [place + x for x in np.array(shape)]
    system.addForce(force)
    return Case(f"rigid bodies, {kind}", system, np.array(start), degrees_of_freedom * n, 0.004, friction=10.0)


HINGED_MASSES = (2.0, 2.0, 16.0, 3.0, 30.0, 1.0)  # u; a light axis makes |M| depend strongly on the angle
#: Two bodies, of the particles 0 to 3 and of 0, 1, 4 and 5: the axis of their hinge goes through 0 and 1, along z.
HINGED_BODIES = ((0, 1, 2, 3), (0, 1, 4, 5))
HINGED_SHAPE = (
    (0.0, 0.0, 0.0),
    (0.0, 0.0, 0.15),
    (0.14, 0.0, 0.05),
    (0.05, 0.1, 0.1),
    (-0.12, 0.0, 0.2),
    (-0.06, 0.08, -0.05),
)


def hinged(n: int, volume: float | None = None) -> Case:
    """n molecules of two rigid bodies on a hinge, without any interaction.

    @param volume  of a periodic cube at the start (nm^3)
    """
    edge = 3.0 if volume is None else volume ** (1 / 3)
    system, force = mm.System(), mc.ConstraintForce()
    if volume is not None:
        system.setDefaultPeriodicBoxVectors([edge, 0, 0], [0, edge, 0], [0, 0, edge])
        force.setUsesPeriodicBoundaryConditions(True)
    shape = np.array(HINGED_SHAPE)
    start = []
    for place in np.random.default_rng(2).uniform(0, edge, (n, 3)):
        first = system.getNumParticles()
        for mass in HINGED_MASSES:
            system.addParticle(mass)
        for body in HINGED_BODIES:
            force.addRigidBody([first + i for i in body], shape[list(body)])
        start += [place + x for x in shape]
    system.addForce(force)
    return Case("molecules of two bodies on a hinge", system, np.array(start), 7 * n, 0.002, friction=10.0)


RING_BARS = (
    0.3,
    0.35,
    0.25,
    0.42,
)  # nm: the longest and the shortest are not as long as the others, so no flat position


def ring_of_hinges(n: int) -> Case:
    """n rings of four bars on four hinges with parallel axes: seven degrees of freedom each."""
    a, b, c, d = RING_BARS
    base, far = np.array([d, 0.0, 0.0]), a * np.array([np.cos(1.2), np.sin(1.2), 0.0])
    way = base - far  # from the end of bar a to that of bar d; bars b and c close the triangle
    length = float(np.linalg.norm(way))
    along = (b**2 - c**2 + length**2) / (2 * length)
    side = np.cross([0, 0, 1], way) / length
    corners = [np.zeros(3), far, far + along * way / length + np.sqrt(b**2 - along**2) * side, base]
    height = np.array([0.0, 0.0, 0.1])  # the axes are of two particles each
    system, force = mm.System(), mc.ConstraintForce()
    start = []
    for place in np.random.default_rng(3).uniform(0, 3, (n, 3)):
        first = system.getNumParticles()
        shape = np.array([corner + end for corner in corners for end in (0 * height, height)])
        for i in range(len(shape)):
            system.addParticle(12.0 + 2 * i)
        for bar in range(4):
            body = [2 * bar, 2 * bar + 1, (2 * bar + 2) % 8, (2 * bar + 3) % 8]
            force.addRigidBody([first + i for i in body], shape[body])
        start += [place + x for x in shape]
    system.addForce(force)
    return Case("rings of four hinges", system, np.array(start), 7 * n, 0.002, friction=10.0)
