// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Distances of centroids that no positions can have together, by themselves and with other distances.
#include "support/BodySystems.h"
#include "support/Messages.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Twelve particles of different masses, the last one with none, in a box of 6 nm, and a Force. */
struct Twelve {
    System system;
    ConstraintForce* force = new ConstraintForce();

    Twelve() {
        for (int i = 0; i < 12; i++)
            system.addParticle(i == 11 ? 0 : 2 + i);
        system.setDefaultPeriodicBoxVectors(Vec3(6, 0, 0), Vec3(0, 6, 0), Vec3(0, 0, 6));
        system.addForce(force);
    }
    std::vector<ConstraintProblem> problems() const {
        RattleIntegrator integrator(0.001);
        return diagnose(system, integrator).problems;
    }
};

const std::vector<int> A = {0, 1, 2}, B = {3, 4}, C = {5, 6, 7};

using Add = std::function<void(Twelve&)>;

/** Expect one problem, of these constraints, and that its message has these parts. */
void expectContradiction(const Add& add, const std::vector<int>& constraints, const std::vector<std::string>& parts) {
    Twelve twelve;
    add(twelve);
    const auto problems = twelve.problems();
    ASSERT_EQ(problems.size(), 1u) << parts[0];
    EXPECT_EQ(problems[0].kind, "contradictory");
    EXPECT_EQ(problems[0].constraints, constraints);
    expectAll(problems[0].message, parts);
}

void expectNone(const Add& add, const char* why) {
    Twelve twelve;
    add(twelve);
    const auto problems = twelve.problems();
    EXPECT_TRUE(problems.empty()) << why << ": " << problems[0].text();
}

} // namespace

TEST(ContradictedCentroids, AreTrianglesThatCannotClose) {
    const auto triangle = [](double ab, double bc, double ac) {
        return [=](Twelve& t) {
            t.force->addCentroidDistance(A, B, ab);
            t.force->addCentroidDistance({4, 3}, {7, 5, 6}, bc); // in another order
            t.force->addCentroidDistance(C, A, ac);
        };
    };
    expectContradiction(triangle(1, 1.5, 50), {0, 1, 2},
                        {"centroid distance 0 of the ConstraintForce with index 0 (particles 0, 1, 2, 3 and 4)",
                         "centroid distance 1", "centroid distance 2",
                         "with distances 1, 1.5 and 50 nm contradict each other", "no positions can hold all three"});
    expectContradiction(triangle(50, 1.5, 1), {2, 1, 0}, {"with distances 1, 1.5 and 50 nm"});
    expectNone(triangle(1, 1.5, 2.4), "it closes");
    expectNone(triangle(1, 1.5, 2.5), "it is straight");
    expectNone(triangle(1, 1.5, 0.6), "it closes");
}

TEST(ContradictedCentroids, AreRingsOfMore) {
    expectContradiction(
        [](Twelve& t) {
            t.force->addCentroidDistance(A, B, 0.3);
            t.force->addCentroidDistance(B, C, 0.4);
            t.force->addCentroidDistance(C, {8, 9}, 0.5);
            t.force->addCentroidDistance({8, 9}, A, 1.3);
        },
        {0, 1, 2, 3}, {"with distances 0.3, 0.4, 0.5 and 1.3 nm", "can hold all 4"});
}

TEST(ContradictedCentroids, AreTwoDistancesOfTheSameGroups) {
    const auto pair = [](double second) {
        return [=](Twelve& t) {
            t.force->addCentroidDistance(A, B, 1);
            t.force->addCentroidDistance({4, 3}, {1, 0, 2}, second);
        };
    };
    expectContradiction(
        pair(1.2), {0, 1},
        {"centroid distance 0", "centroid distance 1", "give the same two groups different distances, 1 and 1.2 nm"});
    expectNone(pair(1), "they agree");
}

TEST(ContradictedCentroids, AreThoseOfAGroupAndItself) {
    Twelve twelve;
    twelve.force->addCentroidDistance({0, 1, 11}, {1, 0}, 0.5);
    const auto problems = twelve.problems();
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].kind, "particles");
    EXPECT_EQ(problems[0].particles, (std::vector<int>{0, 1}));
    expectAll(problems[0].message, {"centroid distance 0", "both groups have the same particles with mass"});
}

TEST(ContradictedCentroids, AreThoseOfSingleParticlesWithOtherDistances) {
    // 11 has no mass, so that it is no part of a centroid.
    expectContradiction(
        [](Twelve& t) {
            t.system.addConstraint(0, 1, 0.1);
            t.force->addDistance(1, 2, 0.2);
            t.force->addCentroidDistance({2, 11}, {0}, 0.4);
        },
        {0, 1, 2},
        {"System constraint 0 (particles 0 and 1)", "distance 0", "centroid distance 0",
         "with distances 0.1, 0.2 and 0.4 nm"});
    expectContradiction(
        [](Twelve& t) {
            t.force->addDistance(1, 2, 0.2);
            t.force->addCentroidDistance({2}, {1}, 0.4);
        },
        {0, 1}, {"give the same pair different distances, 0.2 and 0.4 nm"});
    expectContradiction(
        [](Twelve& t) { // by way of a group
            t.force->addDistance(0, 1, 1);
            t.force->addCentroidDistance({0}, C, 0.3);
            t.force->addCentroidDistance(C, {1}, 0.4);
        },
        {1, 2, 0}, {"with distances 0.3, 0.4 and 1 nm"});
    expectContradiction(
        [](Twelve& t) { // the body holds 0 and 1
            t.force->addRigidBody({0, 1, 2}, {Vec3(), Vec3(1, 0, 0), Vec3(0, 1, 0)});
            t.force->addCentroidDistance({0}, C, 0.3);
            t.force->addCentroidDistance(C, {1}, 0.4);
        },
        {0, 1}, {"rigid body 0", "with distances 0.3, 0.4 and 1 nm"});
}

TEST(ContradictedCentroids, AreNoneOfOtherGroupsNorOfWhatMovesNorAroundTheBox) {
    expectNone(
        [](Twelve& t) {
            t.force->addCentroidDistance(A, B, 0.1);
            t.force->addCentroidDistance(B, C, 0.1);
            t.force->addCentroidDistance({0, 1}, C, 3); // a part of a group, and a group that has it
            t.force->addCentroidDistance({0, 1, 2, 8}, C, 5);
        },
        "these are four groups");
    expectNone(
        [](Twelve& t) {
            t.force->addCentroidDistance(A, B, 0.1);
            t.force->addCentroidDistance(B, C, 0.1);
            t.force->addCentroidDistance(A, C, 3, -0.1);
        },
        "the longest moves");
    expectNone(
        [](Twelve& t) {
            t.force->setUsesPeriodicBoundaryConditions(true);
            t.force->addCentroidDistance(A, B, 1.9);
            t.force->addCentroidDistance(B, C, 0.9);
            t.system.addForce(new ConstraintForce()); // takes no images
            dynamic_cast<ConstraintForce&>(t.system.getForce(1)).addCentroidDistance(A, C, 5);
        },
        "the ring may close around the box");
}

TEST(ContradictedCentroids, AreAllFoundInOnePassAndLeaveTheRest) {
    Twelve twelve;
    twelve.force->addCentroidDistance(A, B, 1);
    twelve.force->addCentroidDistance(A, B, 2);
    twelve.force->addCentroidDistance(B, C, 1);
    twelve.force->addCentroidDistance(A, C, 9);
    twelve.force->addCentroidDistance({8, 9}, {10, 0}, 0.4);
    RattleIntegrator integrator(0.001);
    const Diagnosis diagnosis = diagnose(twelve.system, integrator);
    ASSERT_EQ(diagnosis.problems.size(), 2u);
    EXPECT_EQ(diagnosis.problems[0].constraints, (std::vector<int>{0, 1}));
    EXPECT_EQ(diagnosis.problems[1].constraints, (std::vector<int>{0, 2, 3}));
    EXPECT_EQ(diagnosis.problems[1].value, 9);
    EXPECT_EQ(diagnosis.problems[1].bound, 2);
    EXPECT_EQ(diagnosis.refused, (std::vector<int>{1, 3}));
    EXPECT_EQ(diagnosis.numIndependent, 3);
}

class ContradictedCentroidsOn : public testing::TestWithParam<std::string> {};

TEST_P(ContradictedCentroidsOn, AreNamedWhenAContextIsMade) {
    Twelve twelve;
    twelve.force->addCentroidDistance(A, B, 1);
    twelve.force->addCentroidDistance(B, C, 1.5);
    twelve.force->addCentroidDistance(A, C, 2);
    RattleIntegrator integrator(0.001);
    const auto context = makeContext(twelve.system, integrator, GetParam());
    Vectors x;
    for (int i = 0; i < 12; i++)
        x.emplace_back(i < 3 ? 0 : i < 5 ? 1 : 2, i < 5 ? 0 : 1, 0.1 * i);
    context->setPositions(x);
    integrator.setMaxProjection(1);
    integrator.step(1);
    twelve.force->setCentroidDistanceParameters(2, A, C, 2.6);
    expectAll(messageOf([&] { twelve.force->updateParametersInContext(*context); }),
              {"centroid distance 0", "centroid distance 1", "centroid distance 2",
               "1, 1.5 and 2.6 nm contradict each other"});
    RattleIntegrator another(0.001);
    expectAll(messageOf([&] { makeContext(twelve.system, another, GetParam()); }),
              {"1, 1.5 and 2.6 nm contradict each other"});
}

INSTANTIATE_TEST_SUITE_P(Platforms, ContradictedCentroidsOn, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });
