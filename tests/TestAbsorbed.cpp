// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Constraints whose particles are all in one declared rigid body: the body holds them, or they contradict it.
#include "support/Messages.h"
#include "support/Simulation.h"
#include <functional>
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Two rigid waters, the second one turned and shifted. */
Vectors twoWaters() {
    const double d = 0.09572, half = 0.5 * 1.82421813;
    const Vec3 first(d * std::cos(half), d * std::sin(half), 0), second(d * std::cos(half), -d * std::sin(half), 0);
    Vectors x = {Vec3(), first, second};
    for (int i = 0; i < 3; i++) {
        const Vec3 r = x[i];
        x.emplace_back(Vec3(0.1, 0.21, 0.28) + Vec3(r[1], 0.6 * r[0], 0.8 * r[0]));
    }
    return x;
}

/** Eight particles: 0 to 5 are two waters in one rigid body, 6 and 7 are free. */
struct Sample {
    System system;
    ConstraintForce* force = new ConstraintForce();
    Vectors x = twoWaters();

    explicit Sample(bool withBody = true) {
        for (int i = 0; i < 6; i++)
            system.addParticle(i % 3 == 0 ? 16 : 1);
        for (int i = 0; i < 2; i++)
            system.addParticle(12);
        x.emplace_back(-0.12, 0.05, 0.02);
        x.emplace_back(-0.3, 0.3, 0.1);
        system.setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 3));
        if (withBody)
            addBody({0, 1, 2, 3, 4, 5});
        force->setParticleNames({"W1:O", "W1:H1", "W1:H2", "W2:O", "W2:H1", "W2:H2", "C", "D"});
        system.addForce(force);
        auto* field = new CustomExternalForce("40*x + 25*sin(30*y) - 30*z*x");
        for (int i = 0; i < system.getNumParticles(); i++)
            field->addParticle(i);
        system.addForce(field);
    }
    void addBody(const std::vector<int>& particles) {
        force->addRigidBody(particles, at(particles));
    }
    Vectors at(const std::vector<int>& particles) const {
        Vectors positions;
        for (int p : particles)
            positions.push_back(x[p]);
        return positions;
    }
    double distance(int i, int j) const {
        return length(x[i] - x[j]);
    }
    CustomConstraintForce* addExpression(const std::string& text, const std::vector<int>& particles) {
        auto* expression = new CustomConstraintForce((int) particles.size(), text);
        expression->addConstraint(particles, {});
        system.addForce(expression);
        return expression;
    }
};

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

const std::vector<int> allOfBody = {0, 1, 2, 3, 4, 5};

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

TEST_P(Absorbed, ABodyThatIsListedTwiceRunsWhereBothAgree) {
    Sample sample;
    sample.addBody(allOfBody);
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
    EXPECT_NEAR(length(moved[0] - moved[1]), 1.01 * sample.distance(0, 1), 1e-6);
    context->setVelocitiesToTemperature(300, 1);
    integrator.step(20);
    expectShape(sample, context->getState(State::Positions).getPositions(), allOfBody, 1e-13);
}

// ---- what contradicts a body
// ------------------------------------------------------------------------------------------

struct Contradiction {
    const char* name;
    std::function<void(Sample&)> make;
    std::string kind;
    std::vector<int> constraints, particles;
    std::vector<std::string> texts;
};

const std::vector<Contradiction>& contradictions() {
    static const std::vector<Contradiction> list = {
        {"SystemConstraint",
         [](Sample& s) { s.system.addConstraint(0, 1, 0.0985); },
         "contradictory",
         {0},
         {0, 1},
         {"System constraint 0 (particles 0 and 1: W1:O and W1:H1)", "0.0985 nm", "0.09572 nm",
          "rigid body 0 of the ConstraintForce with index 0", "system.removeConstraint(0)"}},
        {"Distance",
         [](Sample& s) { s.force->addDistance(4, 1, 1.021 * s.distance(1, 4)); },
         "contradictory",
         {0},
         {4, 1},
         {"distance 0", "W2:H1 and W1:H1", "setDistanceParameters(0, ...)"}},
        {"Angle",
         [](Sample& s) { s.force->addAngle(1, 0, 2, 1.87); },
         "contradictory",
         {0},
         {1, 0, 2},
         {"angle 0", "1.87 rad", "1.82422 rad", "0.04"}},
        {"Dihedral",
         [](Sample& s) { s.force->addDihedral(1, 0, 3, 4, 3); },
         "contradictory",
         {0},
         {1, 0, 3, 4},
         {"dihedral 0", "3 rad"}},
        {"Centroids",
         [](Sample& s) {
             s.force->addCentroidDistance({0, 1}, {3, 4}, 0.37);
         },
         "contradictory",
         {0},
         {0, 1, 3, 4},
         {"centroid distance 0", "0.37 nm", "the tolerance is 1e-05"}},
        {"Expression",
         [](Sample& s) {
             s.addExpression("distance(p1,p2)-0.1", {0, 1});
         },
         "contradictory",
         {0},
         {0, 1},
         {"constraint 0 of the CustomConstraintForce", "distance(p1,p2)-0.1", "-0.00428"}},
        {"MovingDistance",
         [](Sample& s) { s.force->addDistance(0, 1, s.distance(0, 1), 0.01); },
         "moving",
         {0},
         {0, 1},
         {"distance 0", "changes in time", "rigid body 0"}},
        {"MovingCentroids",
         [](Sample& s) { s.force->addCentroidDistance({0}, {1}, s.distance(0, 1), 0.01); },
         "moving",
         {0},
         {0, 1},
         {"centroid distance 0", "changes in time", "rigid body 0"}},
        {"MovingExpression",
         [](Sample& s) {
             s.addExpression("distance(p1,p2)-0.09572-0.01*t", {0, 1});
         },
         "moving",
         {0},
         {0, 1},
         {"changes in time", "rigid body 0"}},
        {"Parameter",
         [](Sample& s) {
             s.addExpression("distance(p1,p2)-d", {0, 1})->addGlobalParameter("d", 0.09572);
         },
         "moving",
         {0},
         {0, 1},
         {"Context parameter \"d\"", "rigid body 0"}},
        {"DihedralOnALine",
         [](Sample& s) {
             s.system.setDefaultPeriodicBoxVectors(Vec3(4, 0, 0), Vec3(0, 4, 0), Vec3(0, 0, 4));
             s.force->setRigidBodyParameters(0, {0, 1, 2, 3},
                                             {Vec3(), Vec3(0.1, 0, 0), Vec3(0.2, 0, 0), Vec3(0.3, 0.1, 0)});
             s.force->addDihedral(0, 1, 2, 3, 1);
         },
         "straight",
         {0},
         {0, 1, 2, 3},
         {"dihedral 0", "no value", "one line"}},
        {"SharedLength",
         [](Sample& s) {
             Vectors wider = s.at({4, 5, 6});
             wider[1] += Vec3(0.001, 0, 0);
             s.force->addRigidBody({4, 5, 6}, wider);
         },
         "contradictory",
         {},
         {4, 5},
         {"rigid body 1 of the ConstraintForce with index 0", "particle 4 (W2:H1) and particle 5 (W2:H2)",
          "rigid body 0 of the ConstraintForce with index 0"}},
        {"MirrorImage",
         [](Sample& s) {
             Vectors mirrored = s.at({0, 1, 2, 3, 4, 5});
             for (Vec3& x : mirrored)
                 x[2] = -x[2];
             s.force->addRigidBody({0, 1, 2, 3, 4, 5}, mirrored);
         },
         "contradictory",
         {},
         {0, 1, 2, 3, 4, 5},
         {"rigid body 1", "mirror image", "rigid body 0"}},
        {"OnePlace",
         [](Sample& s) {
             s.force->addRigidBody({6, 7}, {Vec3(), Vec3()});
         },
         "shape",
         {},
         {6, 7},
         {"rigid body 1", "particle 6 (C) and particle 7 (D) are at one place", "addRigidBody"}},
        {"Twice",
         [](Sample& s) {
             s.force->addRigidBody({6, 7, 6}, {Vec3(), Vec3(0.1, 0, 0), Vec3(0.2, 0, 0)});
         },
         "shape",
         {},
         {6, 7, 6},
         {"rigid body 1", "particle 6 (C) is listed twice"}},
        {"NotFinite",
         [](Sample& s) {
             s.force->addRigidBody({6, 7}, {Vec3(), Vec3(0.1, NAN, 0)});
         },
         "shape",
         {},
         {6, 7},
         {"rigid body 1", "particle 7 (D) has a position that is not finite"}},
        {"Empty", [](Sample& s) { s.force->addRigidBody({}, {}); }, "shape", {}, {}, {"rigid body 1", "at least 1"}},
        {"TooFewPositions",
         [](Sample& s) {
             s.force->addRigidBody({6, 7}, {Vec3()});
         },
         "shape",
         {},
         {6, 7},
         {"rigid body 1", "2 particles", "1 positions"}},
        {"TooLargeForTheBox",
         [](Sample& s) {
             s.force->setUsesPeriodicBoundaryConditions(true);
             s.force->addRigidBody({6, 7}, {Vec3(), Vec3(1.6, 0, 0)});
         },
         "box",
         {},
         {6, 7},
         {"rigid body 1", "1.6", "half the shortest width"}},
    };
    return list;
}

class Contradictory : public testing::TestWithParam<Contradiction> {};

TEST_P(Contradictory, IsRefusedByName) {
    const Contradiction& expected = GetParam();
    Sample sample;
    expected.make(sample);
    RattleIntegrator integrator(0.001);
    try {
        Context context(sample.system, integrator, requirePlatform("Reference"));
        FAIL() << "accepted";
    } catch (const ConstraintException& error) {
        const ConstraintProblem& problem = error.getProblem();
        EXPECT_EQ(problem.kind, expected.kind);
        EXPECT_EQ(problem.constraints, expected.constraints);
        EXPECT_EQ(problem.particles, expected.particles);
        expectAll(error.what(), expected.texts);
        EXPECT_FALSE(problem.remedy.empty());
    }
    RattleIntegrator other(0.001);
    const Diagnosis diagnosis = diagnose(sample.system, other);
    ASSERT_EQ(diagnosis.problems.size(), 1u) << "and nothing but it";
    EXPECT_EQ(diagnosis.problems[0].kind, expected.kind);
    EXPECT_EQ(diagnosis.refused, expected.constraints);
}

INSTANTIATE_TEST_SUITE_P(Faults, Contradictory, testing::ValuesIn(contradictions()),
                         [](const auto& info) { return info.param.name; });

TEST(AbsorbedConstraints, MayDeviateByWhatRoundedCoordinatesExplain) {
    const auto refusal = [](double factor, double radians) {
        Sample sample;
        sample.system.addConstraint(0, 1, factor * sample.distance(0, 1));
        sample.force->addAngle(1, 0, 2, 1.82421813 + radians);
        RattleIntegrator integrator(0.001);
        return diagnose(sample.system, integrator).problems.size();
    };
    EXPECT_EQ(refusal(1 / 1.0199, 0), 0u);
    EXPECT_EQ(refusal(1 / 0.9801, 0), 0u);
    EXPECT_EQ(refusal(1 / 1.0201, 0), 1u);
    EXPECT_EQ(refusal(1 / 0.9799, 0), 1u);
    EXPECT_EQ(refusal(1, 0.0399), 0u);
    EXPECT_EQ(refusal(1, -0.0399), 0u);
    EXPECT_EQ(refusal(1, 0.0401), 1u);
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

// ---- Forces that do not work with bodies
// --------------------------------------------------------------------------------

std::vector<ConstraintProblem> problemsWith(Sample& sample, Force* force) {
    sample.system.addForce(force);
    RattleIntegrator integrator(0.001);
    return diagnose(sample.system, integrator).problems;
}

TEST(ForcesBesideBodies, AreRefusedWithTheNameOfTheBody) {
    {
        Sample sample;
        const auto problems = problemsWith(sample, new AndersenThermostat(300, 1));
        ASSERT_EQ(problems.size(), 1u);
        expectAll(problems[0].message, {"AndersenThermostat", "(0 and 1)"});
    }
    for (bool anchored : {false, true}) {
        Sample sample;
        sample.system.setParticleMass(2, anchored ? 0 : 1);
        const auto problems = problemsWith(sample, new CMMotionRemover());
        ASSERT_EQ(problems.size(), anchored ? 1u : 0u);
        if (anchored)
            expectAll(problems[0].message, {"CMMotionRemover", "rigid body 0", "particle 2 (W1:H2)"});
    }
    for (bool asRigid : {false, true}) {
        Sample sample;
        auto* barostat = new MonteCarloFlexibleBarostat(1, 300, 25, asRigid);
        const auto problems = problemsWith(sample, barostat);
        ASSERT_EQ(problems.size(), asRigid ? 0u : 1u);
        if (!asRigid)
            expectAll(problems[0].message, {"MonteCarloFlexibleBarostat", "rigid body 0", "stretch"});
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, Absorbed, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
