// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/StateChecks.h"
#include "support/BodySystems.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using OpenMM::State;
using OpenMM::Vec3;

namespace ConstraintTests {

void oneStep(Simulation& s) {
    s.integrator->step(1);
}

ConstraintProblem expectRefusal(Simulation& s, const std::string& kind,
                                const std::function<void(Simulation&)>& action) {
    const Vectors x = s.positions(), v = s.velocities();
    const State before = s.context->getState(0);
    const ConstraintProblem problem = problemThrownBy([&] { action(s); });
    EXPECT_EQ(problem.kind, kind) << problem.text();
    const Vectors xAfter = s.positions(), vAfter = s.velocities();
    EXPECT_EQ(std::memcmp(x.data(), xAfter.data(), x.size() * sizeof(Vec3)), 0);
    EXPECT_EQ(std::memcmp(v.data(), vAfter.data(), v.size() * sizeof(Vec3)), 0);
    EXPECT_EQ(s.context->getStepCount(), before.getStepCount());
    EXPECT_EQ(s.context->getTime(), before.getTime());
    return problem;
}

void expectLeftWithinTheTolerance(Simulation& s, const Vectors& positions, double scale, double tolerance,
                                  double leastMove) {
    s.integrator->setConstraintTolerance(1e-3);
    Vectors v = s.velocities();
    for (Vec3& each : v)
        each[0] *= scale;
    s.context->setPositions(positions);
    s.context->setVelocities(v);
    const Vectors near = s.positions(); // as the platform stores it
    v = s.velocities();
    EXPECT_EQ(s.integrator->applyConstraints(), 0);
    s.integrator->applyVelocityConstraints();
    EXPECT_EQ(distance(s.positions(), near), 0);
    EXPECT_EQ(distance(s.velocities(), v), 0);
    s.integrator->setConstraintTolerance(tolerance);
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    EXPECT_GT(distance(s.positions(), near), leastMove);
    EXPECT_GT(distance(s.velocities(), v), 1e-7);
}

void expectNotMixed(const std::function<Simulation(double stepSize)>& simulate) {
    Simulation a = simulate(0.001), b = simulate(0.002), alone = simulate(0.001);
    for (int i = 0; i < 10; i++) {
        a.integrator->step(3);
        b.integrator->step(2);
    }
    alone.integrator->step(30);
    EXPECT_EQ(distance(a.positions(), alone.positions()), 0);
    EXPECT_EQ(distance(a.velocities(), alone.velocities()), 0);
    EXPECT_EQ(distance(a.integrator->getConstraintForces(), alone.integrator->getConstraintForces()), 0);
    EXPECT_EQ(a.integrator->getMultipliers(), alone.integrator->getMultipliers());
    EXPECT_GT(distance(a.positions(), b.positions()), 1e-4);
}

Wrapped wrapped(const Vectors& positions, const Vectors& box) {
    Wrapped result;
    for (Vec3 at : positions) {
        Vec3 image;
        for (int k = 2; k >= 0; k--) {
            const Vec3 shift = box[k] * std::floor(at[k] / box[k][k]);
            image += shift;
            at -= shift;
        }
        result.images.push_back(image);
        result.positions.push_back(at);
    }
    return result;
}

} // namespace ConstraintTests
