// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid bodies in closed form on every platform: projections and errors.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/StateChecks.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** On every platform, with Rattle. */
class FreeBodyStates : public testing::TestWithParam<ConstraintTests::Setup> {
protected:
    const ConstraintTests::Setup setup = GetParam();
    const std::string platform = std::get<0>(setup);
    const Precision precision = precisionOf(platform);

    static Vectors disturbed(const BodySystem& bodies, double size, unsigned seed) {
        const Vectors shift = bodies.velocities(size, seed);
        Vectors x = bodies.start;
        for (std::size_t i = 0; i < x.size(); i++)
            x[i] += bodies.masses[i] > 0 ? shift[i] : Vec3();
        return x;
    }
};

// ---- projection -----------------------------------------------------------------------------------------------------

TEST_P(FreeBodyStates, AreFittedWithTheSmallestMoves) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.001);
    s.context->setPositions(disturbed(bodies, 0.03, 5));
    const Vectors off = s.positions(); // as the platform stores it
    const double farthest = s.integrator->applyConstraints();
    const Vectors x = s.positions();
    EXPECT_LT(bodies.deformation(x), 1e-12 + 4 * precision.position);
    EXPECT_NEAR(farthest, distance(x, off), 1e-12 + 4 * precision.position);
    // Least squares, weighted by mass: the moves of a body have no resultant and no torque about the new positions,
    // where it is free to move and turn.
    for (std::size_t b = 0; b < bodies.bodies.size(); b++) {
        SCOPED_TRACE(bodies.bodies[b].name);
        const RigidShape& body = bodies.bodies[b];
        std::vector<Vec3> anchors;
        Vec3 sum, torque;
        for (int p : bodies.particles(b))
            if (bodies.masses[p] == 0)
                anchors.push_back(x[p]);
        const Vec3 about = anchors.empty() ? x[bodies.first[b]] : anchors[0];
        for (int p : bodies.particles(b)) {
            sum += (x[p] - off[p]) * bodies.masses[p];
            torque += (x[p] - about).cross(x[p] - off[p]) * bodies.masses[p];
            if (bodies.masses[p] == 0) {
                EXPECT_EQ(x[p], off[p]);
            }
        }
        if (anchors.empty()) {
            EXPECT_LT(length(sum), 1e-12 + 100 * precision.position);
        }
        if (anchors.size() == 2)
            torque = Vec3(torque.dot(anchors[1] - anchors[0]), 0, 0);
        if (anchors.size() < 3) {
            EXPECT_LT(length(torque), 1e-12 + 100 * precision.position);
        }
        EXPECT_TRUE(body.name == "single" || distance(x, off) > 0.01);
    }
    // and again is no change
    s.integrator->applyConstraints();
    EXPECT_EQ(distance(s.positions(), x), 0);
}

TEST_P(FreeBodyStates, WithinTheToleranceAreLeftBitForBit) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.001);
    expectLeftWithinTheTolerance(s, disturbed(bodies, 1e-5, 1), 1.0001, 1e-9, 1e-6);
    EXPECT_LT(bodies.deformation(s.positions()), 1e-12 + 4 * precision.position);
}

TEST_P(FreeBodyStates, FarFromTheirShapeAreRefusedByName) {
    const BodySystem bodies(someBodies());
    Simulation s = bodies.simulate(setup, 0.001);
    Vectors x = bodies.start;
    x[bodies.first[2] + 4] += Vec3(0, 0, 0.3); // of the pyramid
    s.context->setPositions(x);
    const ConstraintProblem problem = expectRefusal(s, "far-off", oneStep);
    expectAll(problem.text(), {"rigid body 2 of the ConstraintForce with index 0", "setMaxProjection", "0.05"});
    EXPECT_EQ(problem.particles, bodies.particles(2));
    EXPECT_GT(problem.value, 0.05);
    EXPECT_EQ(problem.bound, 0.05);
    s.integrator->setMaxProjection(1);
    s.integrator->step(1);
    EXPECT_LT(bodies.deformation(s.positions()), 1e-12 + 4 * precision.position);
}

TEST_P(FreeBodyStates, WrappedWithoutImagesAreRefused) {
    const BodySystem bodies({someBodies()[2]});
    auto system = bodies.toOpenMM(false);
    system->setDefaultPeriodicBoxVectors({2, 0, 0}, {0, 2, 0}, {0, 0, 2});
    Simulation s(std::move(system), makeIntegrator(setup, 0.001), platform);
    Vectors x = bodies.start;
    x[1] += Vec3(2, 0, 0);
    s.context->setPositions(x);
    expectAll(expectRefusal(s, "minimum-image", oneStep).text(), {"rigid body 0", "setUsesPeriodicBoundaryConditions"});
}

TEST_P(FreeBodyStates, MirrorImagesAreRefused) {
    for (int kind : {2, 4, 6}) {
        const BodySystem bodies({someBodies()[0], someBodies()[kind]});
        SCOPED_TRACE(bodies.bodies[1].name);
        Simulation s(bodies.toOpenMM(), makeIntegrator(setup, 0.001), platform);
        s.integrator->setMaxProjection(10);
        Vectors x = bodies.start;
        // through the plane of three of its particles, anchors first
        const std::vector<int> plane = kind == 2   ? std::vector<int>{3, 4, 5}
                                       : kind == 4 ? std::vector<int>{4, 3, 5}
                                                   : std::vector<int>{3, 7, 4};
        const Vec3 origin = x[plane[0]];
        Vec3 normal = (x[plane[1]] - origin).cross(x[plane[2]] - origin);
        normal /= length(normal);
        for (int p : bodies.particles(1))
            x[p] -= normal * (2 * normal.dot(x[p] - origin));
        s.context->setPositions(x);
        const ConstraintProblem problem = expectRefusal(s, "mirror-image", oneStep);
        expectAll(problem.text(), {"rigid body 1 of the ConstraintForce with index 0", "mirror image"});
        EXPECT_EQ(problem.particles, bodies.particles(1));
        expectRefusal(s, "mirror-image", [](Simulation& t) { t.integrator->applyConstraints(); });
    }
    // Flat and straight ones are their own mirror images.
    const BodySystem bodies({someBodies()[0], someBodies()[1]});
    Simulation s = bodies.simulate(setup, 0.001, 0);
    Vectors x = bodies.start;
    for (Vec3& r : x)
        r[2] = -r[2];
    s.context->setPositions(x);
    s.integrator->step(1);
}

TEST_P(FreeBodyStates, AnchorsThatContradictTheShapeAreRefused) {
    for (int kind : {6, 7}) {
        const BodySystem bodies({someBodies()[kind]});
        SCOPED_TRACE(bodies.bodies[0].name);
        Simulation s(bodies.toOpenMM(), makeIntegrator(setup, 0.001), platform);
        Vectors x = bodies.start;
        x[4] = x[4] + (x[4] - x[0]) * 0.02;
        s.context->setPositions(x);
        const ConstraintProblem problem = expectRefusal(s, "anchors", oneStep);
        expectAll(problem.text(), {"rigid body 0", "has no mass and cannot move"});
        EXPECT_GT(problem.value, 0.001);
    }
}

TEST_P(FreeBodyStates, AnchorsMayBeRounded) {
    // So far from the origin that rounding of a coordinate exceeds the tolerance
    const BodySystem bodies({someBodies()[2], someBodies()[6], someBodies()[7]});
    Simulation s = bodies.simulate(setup, 0.001, 0);
    Vectors x = disturbed(bodies, 0.003, 2);
    const double far = isDevice(platform) ? 10 : 1e6;
    for (Vec3& r : x)
        r += Vec3(far, far, far);
    s.context->setPositions(x);
    s.integrator->step(1);
    EXPECT_LT(bodies.deformation(s.positions()), 1e-15 * far + 40 * precision.position);
}

// ---- failing steps --------------------------------------------------------------------------------------------------

TEST_P(FreeBodyStates, ThatTurnTooFarEndTheStep) {
    for (int kind : {0, 1, 2, 4, 5, 6}) {
        const BodySystem bodies({someBodies()[3], someBodies()[kind], someBodies()[2]});
        SCOPED_TRACE(bodies.bodies[1].name);
        Simulation s = bodies.simulate(setup, 0.002, 0);
        s.integrator->step(2);
        const Vectors x = s.positions();
        Vectors v = s.velocities();
        Vec3 axis = kind == 6 ? x[bodies.first[1] + 4] - x[bodies.first[1]] : Vec3(1, 2, 3);
        axis /= length(axis);
        for (int p : bodies.particles(1))
            v[p] = bodies.masses[p] > 0 ? axis.cross(x[p] - x[bodies.first[1] + (kind == 4 ? 1 : 0)]) * 5000 : Vec3();
        s.context->setVelocities(v);
        s.integrator->applyVelocityConstraints();
        const ConstraintProblem problem = expectRefusal(s, "too-fast", oneStep);
        expectAll(problem.text(), {"rigid body 1 of the ConstraintForce with index 0", "90 degrees", "setStepSize"});
        EXPECT_EQ(problem.particles, bodies.particles(1));
        EXPECT_GT(problem.value, problem.bound);
        EXPECT_TRUE(std::isfinite(problem.value));
        EXPECT_EQ(problem.bound, 1); // SHAKE turns a body by asin(omega dt)
        EXPECT_EQ(problem.text().find("inf"), std::string::npos) << problem.text();
        EXPECT_FALSE(s.integrator->getSolverSummary().converged);
        s.integrator->setStepSize(0.0001); // as it says
        s.integrator->step(1);
        EXPECT_TRUE(s.integrator->getSolverSummary().converged);
        EXPECT_LT(bodies.deformation(s.positions()), 1e-12 + 4 * precision.position);
    }
}

TEST_P(FreeBodyStates, WithNumbersThatAreNotFiniteAreRefused) {
    for (int kind : {0, 2, 3, 4, 5, 6, 7})
        for (double bad : {std::nan(""), HUGE_VAL}) {
            const BodySystem bodies({someBodies()[2], someBodies()[kind]});
            SCOPED_TRACE(bodies.bodies[1].name + " " + std::to_string(bad));
            Simulation s = bodies.simulate(setup, 0.001, 0);
            s.integrator->step(1);
            const Vectors x = s.positions(), v = s.velocities();
            const std::vector<int> particles = bodies.particles(1);
            const int massive =
                *std::find_if(particles.begin(), particles.end(), [&](int p) { return bodies.masses[p] > 0; });
            Vectors wrong = x;
            wrong[massive][1] = bad;
            s.context->setPositions(wrong);
            expectRefusal(s, "not-finite", oneStep);
            expectRefusal(s, "not-finite", [](Simulation& t) { t.integrator->applyConstraints(); });
            if (bodies.bodies[1].degreesOfFreedom < 3) { // anchors first
                wrong = x;
                wrong[particles[0]][1] = bad;
                s.context->setPositions(wrong);
                expectRefusal(s, "not-finite", oneStep);
            }
            s.context->setPositions(x);
            wrong = v;
            wrong[massive][2] = bad;
            s.context->setVelocities(wrong);
            expectRefusal(s, "not-finite", oneStep);
            if (kind != 3) // which has no constraint
                expectRefusal(s, "not-finite", [](Simulation& t) { t.integrator->applyVelocityConstraints(); });
            s.context->setVelocities(v);
            s.integrator->step(1);
            EXPECT_LT(bodies.deformation(s.positions()), 1e-12 + 4 * precision.position);
            if (isDevice(platform))
                break;
        }
}

TEST_P(FreeBodyStates, WithForcesThatAreNotFiniteEndTheStep) {
    for (int kind : {0, 2, 6}) {
        const BodySystem bodies({someBodies()[2], someBodies()[kind]});
        SCOPED_TRACE(bodies.bodies[1].name);
        auto system = bodies.toOpenMM();
        auto* field = new CustomExternalForce("1/(1-switch)+switch*x");
        field->addGlobalParameter("switch", 0);
        field->addParticle(bodies.first[1] + 1, {});
        field->addParticle(bodies.first[1] + 2, {});
        field->setForceGroup(2);
        system->addForce(field);
        Simulation s(std::move(system), makeIntegrator(setup, 0.001), platform);
        bodies.begin(s);
        s.integrator->step(2);
        s.context->setParameter("switch", HUGE_VAL);
        expectRefusal(s, "not-finite", oneStep);
        s.context->setParameter("switch", 0);
        s.integrator->step(1);
    }
}

TEST_P(FreeBodyStates, TooFarFromTheOriginAreRefused) {
    const BodySystem bodies({someBodies()[2]});
    Simulation s = bodies.simulate(setup, 0.001, 0);
    Vectors x = bodies.start;
    for (Vec3& r : x)
        r += Vec3(1e17, 0, 0);
    s.context->setPositions(x);
    expectAll(expectRefusal(s, "rounding", oneStep).text(), {"rigid body 0"});
}

INSTANTIATE_TEST_SUITE_P(Platforms, FreeBodyStates, testing::ValuesIn(bodySetups({"Rattle"})),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
