// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_VECTORS_H_
#define CONSTRAINTS_TESTS_VECTORS_H_

#include "openmm/System.h"
#include "openmm/Vec3.h"
#include <cmath>
#include <vector>

namespace ConstraintTests {

using Vectors = std::vector<OpenMM::Vec3>;

inline double length(const OpenMM::Vec3& r) {
    return std::sqrt(r.dot(r));
}

/** The centre of mass of some particles. */
inline OpenMM::Vec3 centroidOf(const OpenMM::System& system, const Vectors& x, const std::vector<int>& group) {
    OpenMM::Vec3 sum;
    double mass = 0;
    for (int i : group) {
        sum += x[i] * system.getParticleMass(i);
        mass += system.getParticleMass(i);
    }
    return sum / mass;
}

} // namespace ConstraintTests

#endif
