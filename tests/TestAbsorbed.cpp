// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Constraints whose particles are all in one declared rigid body, which holds them.
#include "support/AbsorbedSample.h"
#include "support/Messages.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

using Sample = AbsorbedSample;

class Absorbed : public testing::TestWithParam<std::string> {
protected:
    struct Result {
        std::vector<double> multipliers;
        SolverSummary summary;
        Vectors x;
        int degreesOfFreedom;
    };
    /** Twenty steps from velocities at random. */
    Result run(const Sample& sample, double tolerance = 1e-8) const {
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(tolerance);
        auto context = makeContext(sample.system, integrator, GetParam());
        context->setPositions(sample.x);
        context->setVelocitiesToTemperature(300, 1);
        integrator.step(20);
        return {integrator.getMultipliers(), integrator.getSolverSummary(),
                context->getState(State::Positions).getPositions(), integrator.getNumDegreesOfFreedom()};
    }
    void expectShape(const Sample& sample, const Vectors& x, const std::vector<int>& particles,
                     double tolerance) const {
        const double bound = attainable(GetParam(), tolerance);
        EXPECT_GT(ConstraintTests::distance(x, sample.x), 1e-3) << "it has moved";
        for (int i : particles)
            for (int j : particles)
                EXPECT_NEAR(length(x[i] - x[j]), sample.distance(i, j), bound) << i << " " << j;
    }
};

TEST_P(Absorbed, TwoWatersWithARoundedLengthRun) {
    Sample sample;
    for (int first : {0, 3})
        for (auto [i, j] : {std::pair(0, 1), std::pair(0, 2), std::pair(1, 2)})
            sample.system.addConstraint(first + i, first + j, sample.distance(first + i, first + j));
    sample.system.setConstraintParameters(4, 3, 5, sample.distance(3, 5) + 5e-5);
    const Result result = run(sample);
    EXPECT_EQ(result.multipliers, std::vector<double>(6, 0.0));
    EXPECT_EQ(result.degreesOfFreedom, 6 + 6);
    EXPECT_EQ(result.summary.absorbed, 6);
    EXPECT_NEAR(result.summary.absorbedDeviation, 5e-5 / (sample.distance(3, 5) + 5e-5), 1e-12);
    EXPECT_EQ(result.summary.absorbedConstraint, 4);
    EXPECT_EQ(result.summary.worstConstraint, -1) << "nothing else is constrained";
    EXPECT_EQ(result.summary.clusters, 1);
    EXPECT_NE(result.summary.str().find("6 constraints of their particles, with multipliers of 0"), std::string::npos);
    expectShape(sample, result.x, allOfBody, 1e-13);
}

TEST_P(Absorbed, ABondOfCoordinatesRoundedToAPicometreRuns) {
    // 0.1 nm, and both ends rounded the wrong way.
    Sample sample(false);
    sample.x[0] = Vec3(0.1, 0.2, 0.3);
    sample.x[1] = sample.x[0] + Vec3(0.059, 0.059, 0.059);
    const double rounded = sample.distance(0, 1);
    sample.addBody(allOfBody);
    sample.system.addConstraint(0, 1, rounded / 1.0173);
    const Result result = run(sample);
    EXPECT_EQ(result.multipliers, std::vector<double>{0.0});
    EXPECT_NEAR(result.summary.absorbedDeviation, 0.0173, 1e-12);
    EXPECT_EQ(result.degreesOfFreedom, 6 + 6);
    expectShape(sample, result.x, allOfBody, 1e-13);
}

TEST_P(Absorbed, ConstraintsInAJoinedBodyReadZeroToo) {
    Sample sample;
    sample.system.addConstraint(0, 1, 1.01 * sample.distance(0, 1));
    sample.force->addDistance(5, 6, sample.distance(5, 6));
    sample.force->addAngle(1, 0, 2, 1.82421813);
    const Result result = run(sample);
    ASSERT_EQ(result.multipliers.size(), 3u);
    EXPECT_EQ(result.multipliers[0], 0);
    EXPECT_NE(result.multipliers[1], 0);
    EXPECT_EQ(result.multipliers[2], 0);
    EXPECT_EQ(result.degreesOfFreedom, 6 + 6 - 1);
    EXPECT_EQ(result.summary.absorbed, 2);
    EXPECT_LE(result.summary.maxError, result.summary.tolerance);
    expectShape(sample, result.x, allOfBody, 1e-8);
}

TEST_P(Absorbed, AnglesDihedralsExpressionsAndCentroidsThatTheBodyHolds) {
    Sample sample;
    sample.force->addAngle(1, 0, 2, 1.82421813 + 0.02);
    const Vec3 a = sample.x[0] - sample.x[1], b = sample.x[3] - sample.x[0], c = sample.x[4] - sample.x[3];
    const Vec3 m = a.cross(b), n = b.cross(c);
    sample.force->addDihedral(1, 0, 3, 4, std::atan2(length(b) * a.dot(n), m.dot(n)) - 2 * M_PI);
    const Vec3 centre1 = (sample.x[0] * 16 + sample.x[1]) / 17, centre2 = (sample.x[2] + sample.x[4]) / 2;
    sample.force->addCentroidDistance({0, 1}, {2, 4}, length(centre1 - centre2));
    sample.addExpression("distance(p1,p2)-" + std::to_string(sample.distance(1, 4)), {1, 4});
    const Result result = run(sample, 1e-5);
    EXPECT_EQ(result.multipliers, std::vector<double>(4, 0.0));
    EXPECT_EQ(result.degreesOfFreedom, 6 + 6);
    EXPECT_EQ(result.summary.absorbed, 4);
    EXPECT_NEAR(result.summary.absorbedDeviation, 0.02, 1e-6);
    EXPECT_EQ(result.summary.absorbedConstraint, 0);
}

TEST_P(Absorbed, AStraightAngleIsHeldByABodyBentByRounding) {
    Sample sample(false);
    sample.x[0] = Vec3(0.1, 0.2, 0.3);
    sample.x[1] = sample.x[0] + Vec3(0.116, 0.001, 0);
    sample.x[2] = sample.x[0] - Vec3(0.116, 0, 0);
    sample.addBody({0, 1, 2});
    sample.force->addAngle(1, 0, 2, M_PI);
    const Result result = run(sample);
    EXPECT_EQ(result.multipliers, std::vector<double>{0.0});
    EXPECT_EQ(result.degreesOfFreedom, 5 + 15);
    EXPECT_NEAR(result.summary.absorbedDeviation, 0.001 / 0.116, 1e-6);
    EXPECT_GT(result.summary.lineShift, 1e-4);
    EXPECT_LT(result.summary.lineShift, 1e-3);
    EXPECT_NE(result.summary.str().find("onto a line"), std::string::npos);
}

TEST_P(Absorbed, ExpressionsOfPlacesJoinTheBody) {
    Sample sample;
    sample.addExpression("z1-0.28", {3});
    const Result result = run(sample);
    EXPECT_NE(result.multipliers[0], 0);
    EXPECT_EQ(result.degreesOfFreedom, 5 + 6);
    EXPECT_EQ(result.summary.absorbed, 0);
    EXPECT_NEAR(result.x[3][2], 0.28, 1e-7);
    expectShape(sample, result.x, allOfBody, 1e-7);
}

TEST_P(Absorbed, ADistanceToAnAnchorOutsideJoinsTheBody) {
    Sample sample;
    sample.system.setParticleMass(6, 0);
    sample.addExpression("distance(p1,p2)-" + std::to_string(sample.distance(0, 6)), {0, 6});
    const Result result = run(sample, 1e-5);
    EXPECT_NE(result.multipliers[0], 0);
    EXPECT_EQ(result.degreesOfFreedom, 5 + 3);
}

TEST_P(Absorbed, ParticlesSharedByTwoBodiesAreInsideEither) {
    Sample sample(false);
    sample.addBody({0, 1, 2, 3});
    sample.addBody({2, 3, 4, 5});
    sample.system.addConstraint(2, 3, sample.distance(2, 3) * 1.001);
    sample.system.addConstraint(4, 5, sample.distance(4, 5) * 1.001);
    const Result result = run(sample);
    EXPECT_EQ(result.multipliers, std::vector<double>(2, 0.0));
    EXPECT_EQ(result.degreesOfFreedom, 7 + 6) << "a hinge";
}

TEST_P(Absorbed, ABodyWithinAnotherRunsWhereBothAgree) {
    Sample sample;
    sample.addBody({1, 2, 3, 4});
    const Result result = run(sample);
    EXPECT_EQ(result.degreesOfFreedom, 6 + 6);
    expectShape(sample, result.x, allOfBody, 1e-8);
}

TEST_P(Absorbed, LengthsInABodyMayChangeInAContextWithinTheirBound) {
    Sample sample;
    sample.force->addDistance(0, 1, sample.distance(0, 1));
    RattleIntegrator integrator(0.001);
    auto context = makeContext(sample.system, integrator, GetParam());
    context->setPositions(sample.x);
    sample.force->setDistanceParameters(0, 0, 1, 1.01 * sample.distance(0, 1));
    sample.force->updateParametersInContext(*context);
    EXPECT_NEAR(integrator.getSolverSummary().absorbedDeviation, 0.01 / 1.01, 1e-12);
    integrator.step(2);
    sample.force->setDistanceParameters(0, 0, 1, 1.05 * sample.distance(0, 1));
    expectAll(messageOf([&] { sample.force->updateParametersInContext(*context); }), {"distance 0", "rigid body 0"});
    integrator.step(2);
    EXPECT_NEAR(integrator.getSolverSummary().absorbedDeviation, 0.01 / 1.01, 1e-12) << "as before";
}

TEST_P(Absorbed, WhatOpenMMMovesOntoAbsorbedLengthsReturnsToTheShape) {
    Sample sample;
    sample.system.addConstraint(0, 1, 1.01 * sample.distance(0, 1));
    RattleIntegrator integrator(0.001);
    auto context = makeContext(sample.system, integrator, GetParam());
    context->setPositions(sample.x);
    context->applyConstraints(1e-6);
    const Vectors moved = context->getState(State::Positions).getPositions();
    EXPECT_NEAR(length(moved[0] - moved[1]), sample.distance(0, 1), 1e-6); // by our solver: the body
    context->setVelocitiesToTemperature(300, 1);
    integrator.step(20);
    expectShape(sample, context->getState(State::Positions).getPositions(), allOfBody, 1e-13);
}

TEST(AbsorbedConstraints, AreToldByDiagnose) {
    Sample sample;
    sample.system.addConstraint(3, 4, 1.01 * sample.distance(3, 4));
    sample.force->addDistance(6, 7, sample.distance(6, 7));
    sample.force->addAngle(1, 0, 2, 1.82421813);
    RattleIntegrator integrator(0.001);
    Start start;
    start.positions = sample.x;
    sample.system.getDefaultPeriodicBoxVectors(start.box[0], start.box[1], start.box[2]);
    const Diagnosis found = diagnose(sample.system, integrator, &start);
    EXPECT_TRUE(found.problems.empty());
    EXPECT_EQ(found.absorbed, (std::vector<int>{0, 2}));
    EXPECT_NEAR(found.absorbedDeviation, 0.01 / 1.01, 1e-12);
    EXPECT_EQ(found.absorbedConstraint, 0);
    EXPECT_EQ(found.numIndependent, 12 + 1);
    ASSERT_EQ(found.groups.size(), 1u);
    EXPECT_EQ(found.groups[0].kind, ConstraintGroup::Rigid);
    EXPECT_EQ(found.groups[0].constraints, (std::vector<int>{0, 2}));
    EXPECT_EQ(found.groups[0].particles, allOfBody);
    EXPECT_EQ(found.groups[0].count, 12);
    EXPECT_TRUE(std::isnan(found.errors[0]) && std::isnan(found.errors[2]));
    EXPECT_NEAR(found.errors[1], 0, 1e-12);
    ASSERT_EQ(found.clusters.size(), 2u);
    EXPECT_EQ(found.clusters[0].solver, "rigid body");
    EXPECT_EQ(found.clusters[0].constraints, 12);
    EXPECT_EQ(found.clusters[0].particles, 6);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Absorbed, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
