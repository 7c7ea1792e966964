// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What contradicts a declared rigid body: constraints whose particles are all in it, and Forces beside it.
#include "support/AbsorbedSample.h"
#include "support/Messages.h"
#include <functional>
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

using Sample = AbsorbedSample;

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

// ---- Forces that do not work with bodies ----------------------------------------------------------------------------

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

} // namespace
