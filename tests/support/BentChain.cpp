// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/BentChain.h"
#include "coordinates.h"

using namespace ConstraintPlugin;
using namespace OpenMM;

namespace ConstraintTests {

const Vectors bentChainPositions = {{0, 0, 0}, {0.15, 0, 0}, {0.2, 0.14, 0}, {0.33, 0.16, 0.09}};
const Vectors bentChainVelocities = {{0.3, 0.1, 0}, {-0.1, 0.2, 0.1}, {0.5, -0.4, 0.3}, {0, 0.1, -0.2}};

std::unique_ptr<System> makeBentChain() {
    auto system = std::make_unique<System>();
    for (double mass : {12.0, 14.0, 1.0, 16.0})
        system->addParticle(mass);
    auto* bonds = new HarmonicBondForce();
    auto* angles = new HarmonicAngleForce();
    for (int i = 0; i < 3; i++)
        bonds->addBond(i, i + 1, 0.15, 20000);
    for (int i = 0; i < 2; i++)
        angles->addAngle(i, i + 1, i + 2, 1.9, 300);
    auto* torsions = new PeriodicTorsionForce();
    torsions->addTorsion(0, 1, 2, 3, 1, 0.5, 40);
    for (Force* force : std::initializer_list<Force*>{bonds, angles, torsions})
        system->addForce(force);
    return system;
}

double valueInBentChain(CoordinateKind kind, const Vectors& x) {
    if (kind == CoordinateKind::Custom) {
        const Vec3 d = (x[0] * 12 + x[1] * 14) / 26 - (x[2] + x[3] * 16) / 17;
        return std::sqrt(d.dot(d));
    }
    Real3 b[3], G[3];
    for (int s = 0; s < 3; s++)
        b[s] = {x[s][0] - x[s + 1][0], x[s][1] - x[s + 1][1], x[s][2] - x[s + 1][2]};
    return coordinate(kind, b, G);
}

void constrainBentChain(ConstraintForce& force, CoordinateKind kind, double target, double rate, double startTime) {
    switch (kind) {
    case CoordinateKind::Distance:
        force.addDistance(0, 1, target, rate, startTime);
        break;
    case CoordinateKind::Angle:
        force.addAngle(0, 1, 2, target, rate, startTime);
        break;
    case CoordinateKind::Dihedral:
        force.addDihedral(0, 1, 2, 3, target, rate, startTime);
        break;
    default:
        force.addCentroidDistance({0, 1}, {2, 3}, target, rate, startTime);
    }
}

void interpolate(ConstraintForce& force, CoordinateKind kind, int index, const std::string& parameter, double value1) {
    switch (kind) {
    case CoordinateKind::Distance:
        return force.setDistanceInterpolation(index, parameter, value1);
    case CoordinateKind::Angle:
        return force.setAngleInterpolation(index, parameter, value1);
    case CoordinateKind::Dihedral:
        return force.setDihedralInterpolation(index, parameter, value1);
    default:
        return force.setCentroidDistanceInterpolation(index, parameter, value1);
    }
}

} // namespace ConstraintTests
