// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/internal/CollectConstraints.h"
#include "Triangles.h"
#include "openmm/OpenMMException.h"
#include "openmmconstraints/internal/ConstraintErrors.h"
#include <sstream>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** Angles closer to 0 or pi than this (rad) count as straight. */
constexpr double straightAngle = 1e-3;

[[noreturn]] void refuse(const ConstraintSet& set, int constraint, const std::string& why) {
    throw OpenMMException(describeConstraint(set, constraint) + ": " + why);
}

/** Check the value that a constraint asks for. */
void validateTarget(const ConstraintSet& set, int k) {
    const Constraint& c = set.constraints[k];
    std::ostringstream why;
    switch (c.kind) {
    case CoordinateKind::Distance:
        if (!(c.target > 0) || std::isinf(c.target))
            why << "the distance " << c.target << " nm is not a positive number.";
        break;
    case CoordinateKind::Angle:
        if (!(c.target > straightAngle && c.target < M_PI - straightAngle))
            why << "the angle " << c.target << " rad has to lie between 0 and pi, by at least " << straightAngle
                << " rad: an angle has no gradient where it is straight.";
        break;
    case CoordinateKind::Dihedral:
        if (!std::isfinite(c.target))
            why << "the dihedral " << c.target << " rad is not a number.";
        break;
    }
    if (!why.str().empty())
        refuse(set, k, why.str());
}

/** Check one constraint by itself; set.constraints holds it already, at index k. */
void validate(const System& system, const ConstraintSet& set, int k, const Box& box) {
    const Constraint& c = set.constraints[k];
    for (int s = 0; s < c.size(); s++) {
        const int p = c.particles[s];
        if (p < 0 || p >= system.getNumParticles())
            refuse(set, k,
                   "particle index " + std::to_string(p) + " is out of range: the System has " +
                       std::to_string(system.getNumParticles()) + " particles, 0 to " +
                       std::to_string(system.getNumParticles() - 1) + ".");
        if (system.isVirtualSite(p))
            refuse(set, k,
                   "particle " + std::to_string(p) +
                       " is a virtual site, which follows other particles and cannot be constrained. Constrain the "
                       "particles that define it.");
        if (!(system.getParticleMass(p) >= 0) || std::isinf(system.getParticleMass(p)))
            refuse(set, k, "the mass of particle " + std::to_string(p) + " is negative or not a number.");
        for (int t = 0; t < s; t++)
            if (c.particles[t] == p)
                refuse(set, k, "a constraint cannot join particle " + std::to_string(p) + " to itself.");
    }
    validateTarget(set, k);
    if (c.kind == CoordinateKind::Distance && c.force >= 0 && c.periodic && c.target > box.halfWidth()) {
        std::ostringstream why;
        why << "the distance " << c.target << " nm exceeds half the shortest width of the periodic box ("
            << box.halfWidth()
            << " nm), so the minimum image cannot represent it. Use a larger box "
               "(System.setDefaultPeriodicBoxVectors) or "
               "setUsesPeriodicBoundaryConditions(False).";
        refuse(set, k, why.str());
    }
}

void validateTogether(const ConstraintSet& set, double tolerance) {
    if (const auto pair = findContradictoryPair(set, tolerance)) {
        std::ostringstream out;
        out << describeConstraint(set, (*pair)[0]) << " and " << describeConstraint(set, (*pair)[1])
            << " give the same pair different distances, " << set.constraints[(*pair)[0]].target << " and "
            << set.constraints[(*pair)[1]].target << " nm, that differ by more than the tolerance " << tolerance
            << ". Remove one of them.";
        throw OpenMMException(out.str());
    }
    if (const auto triangle = findBadTriangle(set)) {
        const auto& t = triangle->constraints;
        auto length = [&](int i) { return set.constraints[t[i]].target; };
        std::ostringstream out;
        out << describeConstraint(set, t[0]) << ", " << describeConstraint(set, t[1]) << " and "
            << describeConstraint(set, t[2]) << " with distances " << length(0) << ", " << length(1) << " and "
            << length(2) << " nm ";
        if (triangle->impossible)
            out << "contradict each other: the longest exceeds the sum of the others, so no positions can hold all "
                   "three. Correct or remove one of them.";
        else
            out << "form a straight set, which is singular: no multipliers exist that keep it straight. Constrain "
                   "the outer pair only and make the middle particle a virtual site (TwoParticleAverageSite), or "
                   "leave out the longest distance.";
        throw OpenMMException(out.str());
    }
}

/** Force::usesPeriodicBoundaryConditions() throws where a Force does not say; such a one decides nothing here. */
bool isPeriodic(const Force& force) {
    try {
        return force.usesPeriodicBoundaryConditions();
    } catch (const OpenMMException&) {
        return false;
    }
}

bool usesPeriodicBoundaries(const System& system) {
    for (int f = 0; f < system.getNumForces(); f++)
        if (isPeriodic(system.getForce(f)))
            return true;
    return false;
}

Box defaultBox(const System& system) {
    Vec3 v[3];
    system.getDefaultPeriodicBoxVectors(v[0], v[1], v[2]);
    return {{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}};
}

} // namespace

std::vector<Constraint> constraintsOf(const ConstraintForce& force, int forceIndex) {
    std::vector<Constraint> constraints;
    const bool periodic = force.usesPeriodicBoundaryConditions();
    int p1, p2, p3, p4;
    double target;
    for (int i = 0; i < force.getNumDistances(); i++) {
        force.getDistanceParameters(i, p1, p2, target);
        constraints.push_back({CoordinateKind::Distance, {p1, p2}, target, periodic, forceIndex, i});
    }
    for (int i = 0; i < force.getNumAngles(); i++) {
        force.getAngleParameters(i, p1, p2, p3, target);
        constraints.push_back({CoordinateKind::Angle, {p1, p2, p3}, target, periodic, forceIndex, i});
    }
    for (int i = 0; i < force.getNumDihedrals(); i++) {
        force.getDihedralParameters(i, p1, p2, p3, p4, target);
        constraints.push_back({CoordinateKind::Dihedral, {p1, p2, p3, p4}, target, periodic, forceIndex, i});
    }
    return constraints;
}

ConstraintSet collectConstraints(const System& system, double tolerance) {
    ConstraintSet set;
    const Box box = defaultBox(system);
    for (int i = 0; i < system.getNumParticles(); i++) {
        const double mass = system.getParticleMass(i);
        set.inverseMass.push_back(mass == 0 ? 0 : 1 / mass);
    }
    auto add = [&](const Constraint& constraint) {
        set.constraints.push_back(constraint);
        validate(system, set, (int) set.constraints.size() - 1, box);
    };
    int p1, p2;
    double distance;
    const bool periodic = usesPeriodicBoundaries(system);
    for (int i = 0; i < system.getNumConstraints(); i++) {
        system.getConstraintParameters(i, p1, p2, distance);
        add({CoordinateKind::Distance, {p1, p2}, distance, periodic, -1, i});
    }
    for (int f = 0; f < system.getNumForces(); f++)
        if (const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f)))
            for (const Constraint& constraint : constraintsOf(*force, f))
                add(constraint);
    validateTogether(set, tolerance);
    return set;
}

} // namespace ConstraintPlugin
