// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONSTRAINT_SET_H_
#define CONSTRAINTS_CORE_CONSTRAINT_SET_H_

#include "Box.h"
#include "Real3.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ConstraintPlugin {

/** Which coordinate q of its particles a constraint holds at its target. */
enum class CoordinateKind { Distance, Angle, Dihedral };

/** Number of particles of a coordinate. */
inline int numParticlesOf(CoordinateKind kind) {
    switch (kind) {
    case CoordinateKind::Distance:
        return 2;
    case CoordinateKind::Angle:
        return 3;
    case CoordinateKind::Dihedral:
        return 4;
    }
    return 0;
}

constexpr int maxParticlesPerConstraint = 4;

/** sigma from q - target: a dihedral's is wrapped into [-pi, pi]. */
inline double wrapResidual(CoordinateKind kind, double difference) {
    constexpr double turn = 6.283185307179586477;
    return kind == CoordinateKind::Dihedral ? std::remainder(difference, turn) : difference;
}

/** One constraint sigma(r) = q(r) - target = 0. */
struct Constraint {
    CoordinateKind kind = CoordinateKind::Distance;
    std::array<int, maxParticlesPerConstraint> particles{}; ///< the first numParticlesOf(kind) count
    double target = 0;                                      ///< nm or rad
    bool periodic = false;                                  ///< bond vectors take the minimum image
    int force = -1;                                         ///< index of its Force in the System, -1: the System itself
    int index = 0;                                          ///< its index there

    int size() const {
        return numParticlesOf(kind);
    }
    /** What an error is divided by: a distance's is relative to its length, an angle's is in radians. */
    double scale() const {
        return kind == CoordinateKind::Distance ? target : 1.0;
    }
};

/** Every constraint of a System, as plain data: System constraints first, then each Force's, in System order. */
struct ConstraintSet {
    std::vector<double> inverseMass; ///< [numParticles] 1/amu, 0 for an immovable particle
    std::vector<Constraint> constraints;

    int numParticles() const {
        return (int) inverseMass.size();
    }
    bool isMovable(const Constraint& c) const {
        return std::any_of(c.particles.begin(), c.particles.begin() + c.size(),
                           [&](int p) { return inverseMass[p] > 0; });
    }
};

} // namespace ConstraintPlugin

#endif
