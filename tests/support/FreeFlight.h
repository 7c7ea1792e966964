// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_FREE_FLIGHT_H_
#define CONSTRAINTS_TESTS_FREE_FLIGHT_H_

#include "ConstraintSolver.h"
#include "support/Bodies.h"
#include "support/Rotor.h"

namespace ConstraintTests {

/** A rigid body: masses and places. */
struct RigidShape {
    std::string name;
    std::vector<double> masses;
    Points places;
    int degreesOfFreedom;

    std::vector<double> inverseMasses() const {
        std::vector<double> inverse;
        for (double m : masses)
            inverse.push_back(m > 0 ? 1 / m : 0);
        return inverse;
    }
};

/** Points turned and moved away. */
inline Points moved(Points points, unsigned seed) {
    Random random(seed);
    const Real3 u = random.direction();
    Real3 v = cross(u, random.direction());
    v = (1 / std::sqrt(dot(v, v))) * v;
    const Real3 w = cross(u, v), shift = random.inCube(3);
    for (Real3& r : points)
        r = shift + r.x * u + r.y * v + r.z * w;
    return points;
}

/** A body in closed form. */
inline ConstraintSet freeBody(const RigidShape& shape) {
    ConstraintSet set;
    set.inverseMass = shape.inverseMasses();
    set.bodies = {
        ConstraintPlugin::makeRigidBody(range(0, (int) shape.places.size() - 1), shape.places, set.inverseMass)};
    set.bodies[0].force = set.bodies[0].index = 0;
    return set;
}

inline double largestDifference(const Arrays& a, const Arrays& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        largest = std::max(largest, distance(a[i], b[i]));
    return largest;
}

/** A body without forces, by RATTLE. */
struct FreeFlight {
    std::vector<double> masses;
    ConstraintPlugin::ConstraintSolver solver;
    Arrays x, v;

    /** @param velocities  their rigid part is taken */
    FreeFlight(const RigidShape& shape, const Arrays& velocities)
        : masses(shape.masses), solver(freeBody(shape), ConstraintPlugin::Method::Automatic), x(shape.places),
          v(velocities) {
        solver.solveVelocities(x.data(), Box(), v.data(), 1, 1e-12, 10);
    }
    void go(double dt, int steps) {
        for (int step = 0; step < steps; step++) {
            Arrays delta;
            for (const Real3& each : v)
                delta.push_back(dt * each);
            const auto report = solver.solvePositions(x.data(), Box(), delta.data(), 1e-12, 10, dt, v.data());
            ASSERT_EQ(report.outcome, ConstraintPlugin::Outcome::Converged);
            for (std::size_t i = 0; i < x.size(); i++)
                x[i] += delta[i];
            solver.solveVelocities(x.data(), Box(), v.data(), dt, 1e-12, 10);
        }
    }
};

} // namespace ConstraintTests

#endif
