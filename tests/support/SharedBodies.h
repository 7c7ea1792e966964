// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_SHARED_BODIES_H_
#define CONSTRAINTS_TESTS_SHARED_BODIES_H_

#include "CollectConstraints.h"
#include "support/Simulation.h"

namespace ConstraintTests {

inline const Vectors somePlaces = {{0.1, 0, 0},        {0, 0.2, 0.05},   {-0.1, 0.1, 0.3}, {0.3, 0.2, -0.1},
                                   {0.25, -0.15, 0.2}, {0.05, 0.3, 0.2}, {0.4, 0.1, 0.15}, {-0.2, -0.1, 0.1},
                                   {0.15, 0.15, 0.4},  {-0.3, 0.2, -0.2}};

/** Turned by 1 rad about an axis, and shifted. */
inline OpenMM::Vec3 elsewhere(const OpenMM::Vec3& x) {
    const OpenMM::Vec3 axis(0.48, 0.6, 0.64);
    return OpenMM::Vec3(1, -2, 3) + x * std::cos(1.0) + axis.cross(x) * std::sin(1.0) +
           axis * (axis.dot(x) * (1 - std::cos(1.0)));
}

inline double lengthOf(const OpenMM::Vec3& r) {
    return std::sqrt(r.dot(r));
}

/** Particles at somePlaces, and what is wrong with their System. */
struct SharedBodies {
    OpenMM::System system;
    ConstraintPlugin::ConstraintForce* force = new ConstraintPlugin::ConstraintForce();
    Vectors x = somePlaces;
    std::vector<ConstraintPlugin::ConstraintProblem> problems;

    SharedBodies() {
        for (std::size_t i = 0; i < x.size(); i++)
            system.addParticle(1.0 + (double) i);
        system.setDefaultPeriodicBoxVectors({3, 0, 0}, {0, 3, 0}, {0, 0, 3});
        system.addForce(force);
    }
    /** Each body in a frame of its own. */
    void addBody(const std::vector<int>& particles, ConstraintPlugin::ConstraintForce* to = nullptr) {
        Vectors positions;
        for (int p : particles)
            positions.push_back(elsewhere(x[p]));
        (to == nullptr ? force : to)->addRigidBody(particles, positions);
        for (OpenMM::Vec3& r : x)
            r = elsewhere(r);
    }
    ConstraintPlugin::ConstraintSet collect(double tolerance = 1e-8) {
        problems.clear();
        return ConstraintPlugin::collectConstraints(
            system, tolerance,
            [&](ConstraintPlugin::ConstraintProblem problem) { problems.push_back(std::move(problem)); });
    }
};

inline std::vector<int> sorted(std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

} // namespace ConstraintTests

#endif
