// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What declared rigid bodies that share particles become: one body, a ball joint, a hinge, or a refusal by name.
#include "ClusterReport.h"
#include "CollectConstraints.h"
#include "ConstraintErrors.h"
#include "JointErrors.h"
#include "support/Bodies.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const Vectors places = {{0.1, 0, 0},      {0, 0.2, 0.05},   {-0.1, 0.1, 0.3},  {0.3, 0.2, -0.1},  {0.25, -0.15, 0.2},
                        {0.05, 0.3, 0.2}, {0.4, 0.1, 0.15}, {-0.2, -0.1, 0.1}, {0.15, 0.15, 0.4}, {-0.3, 0.2, -0.2}};

/** Turned by 1 rad about an axis, and shifted. */
Vec3 elsewhere(const Vec3& x) {
    const Vec3 axis(0.48, 0.6, 0.64);
    return Vec3(1, -2, 3) + x * std::cos(1.0) + axis.cross(x) * std::sin(1.0) +
           axis * (axis.dot(x) * (1 - std::cos(1.0)));
}

double length(const Vec3& r) {
    return std::sqrt(r.dot(r));
}

/** Particles at `places`, and what is wrong with their System. */
struct Sample {
    System system;
    ConstraintForce* force = new ConstraintForce();
    Vectors x = places;
    std::vector<ConstraintProblem> problems;

    Sample() {
        for (std::size_t i = 0; i < x.size(); i++)
            system.addParticle(1.0 + (double) i);
        system.setDefaultPeriodicBoxVectors({3, 0, 0}, {0, 3, 0}, {0, 0, 3});
        system.addForce(force);
    }
    /** Each body in a frame of its own. */
    void addBody(const std::vector<int>& particles, ConstraintForce* to = nullptr) {
        Vectors positions;
        for (int p : particles)
            positions.push_back(elsewhere(x[p]));
        (to == nullptr ? force : to)->addRigidBody(particles, positions);
        for (Vec3& r : x)
            r = elsewhere(r);
    }
    ConstraintSet collect(double tolerance = 1e-8) {
        problems.clear();
        return collectConstraints(system, tolerance,
                                  [&](ConstraintProblem problem) { problems.push_back(std::move(problem)); });
    }
};

std::vector<int> sorted(std::vector<int> numbers) {
    std::sort(numbers.begin(), numbers.end());
    return numbers;
}

/** Expect the distances of particles in a body. */
void expectShape(const FreeBody& body, const Vectors& x, double tolerance = 1e-12) {
    for (int i = 0; i < body.size(); i++)
        for (int j = 0; j < i; j++) {
            const Real3 r = body.shape[i] - body.shape[j];
            EXPECT_NEAR(std::sqrt(dot(r, r)), length(x[body.particles[i]] - x[body.particles[j]]), tolerance)
                << body.particles[i] << " " << body.particles[j];
        }
}

// ---- one body -------------------------------------------------------------------------------------------------------

TEST(DeclaredJoints, ThreeSharedParticlesMakeOneBody) {
    Sample sample;
    sample.addBody({0, 1, 2, 3, 4});
    sample.addBody({4, 2, 3, 5, 6});
    const ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 1u);
    EXPECT_EQ(set.bodies[0].particles, range(0, 6));
    EXPECT_EQ(set.bodies[0].index, 0);
    EXPECT_FALSE(set.bodies[0].isJoined);
    EXPECT_EQ(set.bodies[0].degreesOfFreedom(), 6);
    EXPECT_TRUE(set.constraints.empty());
    expectShape(set.bodies[0], sample.x);
    EXPECT_EQ(set.bodies[0].lineShift, 0);
}

TEST(DeclaredJoints, BodiesThatOthersTogetherFixAreOne) {
    Sample sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({6, 7, 8, 0}); // by one particle to the first, by two to the last
    sample.addBody({4, 1, 2, 3});
    sample.addBody({5, 4, 0, 7}); // by two to the first, once it has 4
    sample.addBody({9, 5, 7, 8});
    const ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    std::vector<std::vector<int>> particles;
    for (const FreeBody& body : set.bodies) {
        particles.push_back(sorted(body.particles));
        expectShape(body, sample.x);
    }
    // 0 1 2 3 4 share only 0 and 4 with 5 4 0 7: a hinge. That has 0 and 7 in common with 6 7 8 0, another one.
    EXPECT_EQ(particles, (std::vector<std::vector<int>>{{0, 1, 2, 3, 4}, {0, 6, 7, 8}, {0, 4, 5, 7}, {5, 7, 8, 9}}));
    sample.addBody({0, 1, 5, 6, 8, 9}); // fixes the last three, and these the first
    const ConstraintSet fixed = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(fixed.bodies.size(), 1u);
    EXPECT_EQ(sorted(fixed.bodies[0].particles), range(0, 9));
    expectShape(fixed.bodies[0], sample.x);
}

TEST(DeclaredJoints, ALinearBodyOfTwoSharedParticlesIsPartOfTheOther) {
    for (bool linearFirst : {false, true}) {
        Sample sample;
        sample.x[5] = sample.x[0] + (sample.x[1] - sample.x[0]) * 1.7;
        if (linearFirst)
            sample.addBody({5, 1, 0});
        sample.addBody({0, 1, 2, 3});
        if (!linearFirst)
            sample.addBody({5, 1, 0});
        sample.addBody({3, 6, 7, 8});
        const ConstraintSet set = sample.collect();
        EXPECT_TRUE(sample.problems.empty());
        ASSERT_EQ(set.bodies.size(), 2u);
        EXPECT_EQ(sorted(set.bodies[0].particles), (std::vector<int>{0, 1, 2, 3, 5}));
        EXPECT_FALSE(set.bodies[0].isLinear);
        expectShape(set.bodies[0], sample.x);
        EXPECT_EQ(set.bodies[1].index, 2);
    }
}

TEST(DeclaredJoints, ABodyWithinAnotherIsPartOfOne) {
    Sample sample;
    sample.addBody({4}); // of two bodies, which it does not fix to each other
    sample.addBody({2, 3, 4, 5});
    sample.addBody({6, 7, 8, 4});
    sample.addBody({7, 6});
    const ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 2u);
    EXPECT_EQ(sorted(set.bodies[0].particles), range(2, 5));
    EXPECT_EQ(set.bodies[0].index, 0);
    EXPECT_EQ(sorted(set.bodies[1].particles), (std::vector<int>{4, 6, 7, 8}));
    EXPECT_EQ(set.numCopies, 1);
}

TEST(DeclaredJoints, AParticleOfOneBodyIsNoBodyWhereAConstraintHasIt) {
    Sample sample;
    sample.addBody({0});
    sample.addBody({2});
    sample.force->addDistance(0, 1, length(sample.x[0] - sample.x[1]));
    const ConstraintSet set = sample.collect();
    ASSERT_EQ(set.bodies.size(), 1u);
    EXPECT_EQ(set.bodies[0].particles, std::vector<int>{2});
    EXPECT_FALSE(set.isJoined(set.constraints[0]));
}

// ---- joints ---------------------------------------------------------------------------------------------------------

TEST(DeclaredJoints, OneSharedParticleIsABallJointAndTwoAreAHinge) {
    Sample sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5, 6});
    sample.addBody({5, 6, 7, 8});
    sample.system.setParticleMass(9, 0);
    const ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 3u);
    EXPECT_EQ(set.numCopies, 3);
    EXPECT_EQ(set.constraints.size(), 3u + 5u);
    for (const FreeBody& body : set.bodies)
        EXPECT_TRUE(body.isJoined);
    EXPECT_DOUBLE_EQ(set.bodies[0].mass[3], 2);
    EXPECT_EQ(describeConstraint(set, 0),
              "the joint of rigid body 0 and rigid body 1 of the ConstraintForce with index 0 at particle 3");
    EXPECT_EQ(listedIndex(set, 0), -1);
    EXPECT_EQ(describeConstraints(set, range(0, 5)), describeConstraint(set, 0) + "; " + describeConstraint(set, 3));
    EXPECT_EQ(describeJoinedBodies(set, range(0, 7)), "rigid bodies 0, 1 and 2 of the ConstraintForce with index 0");
    EXPECT_EQ(describeJoinedBodies(set, {0}), "rigid bodies 0 and 1 of the ConstraintForce with index 0");
}

TEST(DeclaredJoints, HingesOfRoundedPositionsStayHinges) {
    // Four particles on a line, of which rounding moves each off it by up to 0.0009 nm.
    Sample sample;
    const Vec3 start = sample.x[0], way(0.8, 0.36, 0.48);
    for (auto [p, at] : {std::pair(1, 0.12), std::pair(2, 0.25), std::pair(3, 0.4)})
        sample.x[p] = start + way * at;
    for (Vec3& r : sample.x)
        for (int i = 0; i < 3; i++)
            r[i] = std::round(1000 * r[i]) / 1000;
    sample.addBody({0, 1, 2, 3, 4, 5});
    sample.addBody({6, 7, 3, 1, 2, 0});
    const ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 2u) << "nothing fixes the angle";
    for (const FreeBody& body : set.bodies) {
        EXPECT_GT(body.lineShift, 1e-5);
        EXPECT_LT(body.lineShift, 1e-3);
        const auto at = [&](int p) {
            return body.shape[std::find(body.particles.begin(), body.particles.end(), p) - body.particles.begin()];
        };
        for (int p : {1, 2}) {
            const Real3 normal = cross(at(p) - at(0), at(3) - at(0));
            EXPECT_LT(std::sqrt(dot(normal, normal)), 1e-15);
        }
        expectShape(body, sample.x, 1e-3);
    }
    EXPECT_EQ(set.bodies[0].lineShift, set.bodies[1].lineShift);
    // A bend of 0.003 nm is no rounding.
    for (int bent : {1, 2})
        sample.x[bent] += Vec3(0, 0, 0.004);
    Sample other;
    other.x = sample.x;
    other.addBody({0, 1, 2, 3, 4, 5});
    other.addBody({6, 7, 3, 1, 2, 0});
    EXPECT_EQ(other.collect().bodies.size(), 1u);
}

TEST(DeclaredJoints, BothBodiesOfAHingeHaveTheSameAxis) {
    Sample sample;
    sample.addBody({0, 1, 2, 3});
    const double first = length(sample.x[2] - sample.x[3]);
    sample.x[2] += (sample.x[2] - sample.x[3]) * 1e-6;
    sample.addBody({5, 3, 2, 4});
    const ConstraintSet set = sample.collect(1e-5);
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 2u);
    const auto axisOf = [](const FreeBody& body, int one, int other) {
        const Real3 r = body.shape[one] - body.shape[other];
        return std::sqrt(dot(r, r));
    };
    EXPECT_NEAR(axisOf(set.bodies[0], 2, 3), first, 1e-15);
    EXPECT_NEAR(axisOf(set.bodies[1], 2, 1), first, 1e-15);
    expectShape(set.bodies[1], sample.x, 1e-6);
    EXPECT_EQ(set.bodies[1].lineShift, 0);
    sample.collect(1e-7);
    ASSERT_EQ(sample.problems.size(), 1u);
    EXPECT_EQ(sample.problems[0].kind, "contradictory");
}

TEST(DeclaredJoints, OfTwoForcesHaveTheNamesOfBoth) {
    Sample sample;
    auto* second = new ConstraintForce();
    sample.system.addForce(second);
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5, 6}, second);
    sample.force->setParticleNames({"A", "B", "C", "ALA1:N"});
    const ConstraintSet set = sample.collect();
    ASSERT_EQ(set.constraints.size(), 3u);
    EXPECT_EQ(describeConstraint(set, 2),
              "the joint of rigid body 0 of the ConstraintForce with index 0 and rigid body 0 "
              "of the ConstraintForce with index 1 at particle 3 (ALA1:N)");
    EXPECT_EQ(describeJoinedBodies(set, {0}), "rigid body 0 of the ConstraintForce with index 0, rigid body 0 of the "
                                              "ConstraintForce with index 1");
}

TEST(DeclaredJoints, ArePeriodicIfOneOfTheForcesIs) {
    Sample sample;
    auto* second = new ConstraintForce();
    second->setUsesPeriodicBoundaryConditions(true);
    sample.system.addForce(second);
    sample.addBody({0, 1, 2, 3}, second);
    sample.addBody({3, 4, 5, 6});
    sample.addBody({6, 7, 8});
    ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 3u);
    for (const FreeBody& body : set.bodies)
        EXPECT_TRUE(body.periodic);
    sample.system.setDefaultPeriodicBoxVectors({0.9, 0, 0}, {0, 0.9, 0}, {0, 0, 0.9});
    sample.force->setRigidBodyParameters(1, {6, 7, 8}, {Vec3(), Vec3(0.5, 0, 0), Vec3(-0.5, 0.1, 0)});
    set = sample.collect();
    ASSERT_EQ(sample.problems.size(), 1u);
    EXPECT_EQ(sample.problems[0].kind, "box");
    expectAll(sample.problems[0].message, {"rigid body 1 of the ConstraintForce with index 0", "its radius 0.5"});
}

TEST(DeclaredJoints, OfMasslessParticlesNeedNoConstraints) {
    Sample sample;
    sample.system.setParticleMass(3, 0);
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5, 6});
    const ConstraintSet set = sample.collect();
    ASSERT_EQ(set.bodies.size(), 2u);
    EXPECT_TRUE(set.constraints.empty());
    for (const FreeBody& body : set.bodies) {
        EXPECT_FALSE(body.isJoined);
        EXPECT_EQ(body.degreesOfFreedom(), 3);
    }
}

// ---- what contradicts -----------------------------------------------------------------------------------------------

TEST(DeclaredJoints, ABodyThatContradictsMergedOnesIsRefusedByName) {
    Sample sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({1, 2, 3, 4});
    sample.x[0] += Vec3(0.001, 0, 0); // its distance to 4 is in neither body
    sample.addBody({0, 4, 5});
    const ConstraintSet set = sample.collect();
    ASSERT_EQ(sample.problems.size(), 1u);
    EXPECT_EQ(set.bodies.size(), 1u);
    EXPECT_EQ(sample.problems[0].kind, "contradictory");
    EXPECT_EQ(sample.problems[0].particles, (std::vector<int>{0, 4}));
    expectAll(sample.problems[0].message,
              {"rigid body 2 of", "particle 0 and particle 4",
               "rigid body 0 of the ConstraintForce with index 0 (one with rigid body 1 of the ConstraintForce with "
               "index 0), which has both"});
}

TEST(DeclaredJoints, ParticlesOfTwoBodiesAtOnePlaceAreRefusedByName) {
    Sample sample;
    sample.addBody({0, 1, 2, 3});
    sample.x[4] = sample.x[0];
    sample.addBody({1, 2, 3, 4});
    const ConstraintSet set = sample.collect();
    ASSERT_EQ(sample.problems.size(), 1u);
    EXPECT_EQ(sample.problems[0].kind, "shape");
    EXPECT_EQ(sample.problems[0].particles, (std::vector<int>{0, 4}));
    expectAll(
        sample.problems[0].message,
        {"rigid body 0 of the ConstraintForce with index 0 (one with rigid body 1 of the ConstraintForce with index "
         "0): particle 0 and particle 4 are at one place"});
    EXPECT_TRUE(set.bodies.empty());
}

TEST(DeclaredJoints, ConstraintsInMergedBodiesAreAbsorbedOrRefused) {
    for (bool fits : {true, false}) {
        Sample sample;
        sample.addBody({0, 1, 2, 3});
        sample.addBody({1, 2, 3, 4});
        sample.force->addDistance(0, 4, (fits ? 1.01 : 1.03) * length(sample.x[0] - sample.x[4]));
        const ConstraintSet set = sample.collect();
        ASSERT_EQ(sample.problems.size(), fits ? 0u : 1u);
        EXPECT_EQ(set.constraints[0].isAbsorbed, fits);
        EXPECT_FALSE(set.bodies[0].isJoined);
        if (fits)
            EXPECT_NEAR(set.absorbedDeviation, 0.01 / 1.01, 1e-12);
        else
            expectAll(sample.problems[0].message,
                      {"distance 0", "rigid body 0 of the ConstraintForce with index 0 (one with rigid body 1 of"});
    }
}

TEST(DeclaredJoints, ConstraintsOnAHingesAxisAreAbsorbedAndOthersJoinBoth) {
    Sample sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({2, 3, 4, 5});
    sample.force->addDistance(2, 3, length(sample.x[2] - sample.x[3]));
    sample.force->addDistance(0, 5, length(sample.x[0] - sample.x[5]));
    sample.system.addConstraint(1, 9, length(sample.x[1] - sample.x[9]));
    const ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.constraints.size(), 3u + 5u);
    EXPECT_TRUE(set.constraints[1].isAbsorbed);
    EXPECT_EQ(set.constraints[2].nodes.size(), 4u);
    EXPECT_EQ(set.constraints[0].nodes.size(), 3u);
}

TEST(DeclaredJoints, DistancesThatCannotSpanBodiesAreRefusedByName) {
    for (bool hinged : {false, true})
        for (bool fits : {true, false}) {
            Sample sample;
            sample.addBody({0, 1, 2, 3});
            if (hinged) {
                sample.addBody({2, 3, 5});
                const auto over = [&](int p) {
                    return length(sample.x[0] - sample.x[p]) + length(sample.x[5] - sample.x[p]);
                };
                sample.force->addDistance(0, 5, (fits ? 0.99 : 1.01) * std::min(over(2), over(3)));
            } else
                for (int end : {0, 1})
                    sample.force->addDistance(end, 9, (fits ? 0.51 : 0.49) * length(sample.x[0] - sample.x[1]));
            const ConstraintSet set = sample.collect();
            ASSERT_EQ(sample.problems.size(), fits ? 0u : 1u);
            EXPECT_EQ(set.constraints.size(), hinged ? 1u + 5u : 2u);
            if (fits)
                continue;
            EXPECT_EQ(sample.problems[0].kind, "contradictory");
            expectAll(sample.problems[0].message,
                      {"distance 0 of", "rigid body 0 of the ConstraintForce with index 0 (particles 0 and",
                       hinged ? "rigid body 1 of" : "distance 1 of", "the longest exceeds the sum"});
        }
}

TEST(DeclaredJoints, ADihedralOverALineOfABodyIsRefused) {
    for (bool isLine : {false, true}) {
        Sample sample;
        if (isLine)
            sample.x[1] = (sample.x[0] + sample.x[2]) / 2;
        sample.addBody({0, 1, 2, 3, 4});
        sample.force->addDihedral(9, 0, 1, 2, 1);
        sample.collect();
        ASSERT_EQ(sample.problems.size(), isLine ? 1u : 0u);
        if (isLine)
            expectAll(sample.problems[0].message, {"dihedral 0", "particle 0, particle 1 and particle 2", "one line"});
    }
}

// ---- what is said of joined bodies ----------------------------------------------------------------------------------

TEST(DeclaredJoints, ChangingRanksAreToldWithBodiesAndConstraints) {
    Sample sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({4, 5, 6, 7});
    sample.force->addDistance(3, 4, 0.5);
    sample.force->addDistance(0, 7, 0.5);
    const ConstraintSet set = sample.collect();
    const ConstraintProblem problem = changingRank(set, {0, 1}, 1, 2);
    EXPECT_EQ(problem.kind, "singular");
    EXPECT_EQ(problem.constraints, (std::vector<int>{0, 1}));
    EXPECT_EQ(problem.particles, (std::vector<int>{3, 4, 0, 7}));
    EXPECT_EQ(problem.value, 1);
    EXPECT_EQ(problem.bound, 2);
    expectAll(problem.message, {"rigid bodies 0 and 1 of the ConstraintForce with index 0", "1 is independent",
                                "2 after a small move", "distance 0", "distance 1"});
}

TEST(DeclaredJoints, ForcesThatDoNotWorkWithBodiesAreRefusedOnce) {
    for (Force* other :
         {(Force*) new AndersenThermostat(300, 1), (Force*) new MonteCarloFlexibleBarostat(1, 300, 25, false)}) {
        Sample sample;
        sample.addBody({0, 1, 2, 3});
        sample.addBody({3, 4, 5, 6});
        sample.system.addForce(other);
        RattleIntegrator integrator(0.001);
        const auto problems = diagnose(sample.system, integrator).problems;
        ASSERT_EQ(problems.size(), 1u) << other->getName();
        EXPECT_EQ(problems[0].kind, "combination");
        EXPECT_EQ(problems[0].particles, (std::vector<int>{0, 1, 2, 3})) << problems[0].message;
    }
}

TEST(DeclaredJoints, DiagnoseCountsJoinedBodiesAndJoints) {
    Sample sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5, 6});
    sample.addBody({7, 8});
    sample.force->addDistance(0, 3, 1.01 * length(sample.x[0] - sample.x[3]));
    RattleIntegrator integrator(0.001);
    const Diagnosis found = diagnose(sample.system, integrator);
    EXPECT_TRUE(found.problems.empty());
    EXPECT_EQ(found.joinedBodies, 2);
    EXPECT_EQ(found.joints, 1);
    EXPECT_EQ(found.numIndependent, 3 * 9 - 9 - 5);
    ASSERT_EQ(found.groups.size(), 3u) << "joints are no redundant constraints";
    for (const ConstraintGroup& group : found.groups)
        EXPECT_EQ(group.kind, ConstraintGroup::Rigid);
    EXPECT_EQ(found.groups[0].constraints, std::vector<int>{0});
    EXPECT_TRUE(found.groups[1].constraints.empty());
    EXPECT_EQ(found.groups[1].particles, range(3, 6));
    EXPECT_EQ(found.groups[1].count, 6);
    ASSERT_EQ(found.clusters.size(), 2u);
    EXPECT_EQ(found.clusters[0].constraints, 3 * 7 - 9);
    EXPECT_EQ(found.clusters[0].particles, 7);
    EXPECT_EQ(found.clusters[0].equations, 3);
    EXPECT_EQ(found.clusters[0].rigidBodies, 2);
    EXPECT_EQ(found.clusters[1].solver, "rigid body");
    EXPECT_EQ(found.clusters[1].constraints, 1);
    EXPECT_EQ(found.clusters[1].rigidBodies, 1);
    EXPECT_EQ(found.clusters[1].equations, 0);
}

TEST(DeclaredJoints, TheRankOfAClosedLoopNeedsPositions) {
    // A square of four bodies on ball joints, with a diagonal, and more.
    for (const std::string loop : {"chain", "ring", "diagonal", "twoDistances", "surface", "anchors"}) {
        Sample sample;
        sample.addBody({0, 1});
        sample.addBody({1, 2});
        sample.addBody({2, 3});
        sample.system.setParticleMass(9, 0);
        sample.force->addDistance(3, 9, length(sample.x[3] - sample.x[9]));
        sample.force->addDistance(2, 4, length(sample.x[2] - sample.x[4]));
        if (loop == "ring")
            sample.addBody({3, 0});
        if (loop == "diagonal")
            sample.force->addDistance(0, 2, length(sample.x[0] - sample.x[2]));
        if (loop == "twoDistances")
            sample.force->addAngle(2, 4, 5, 1);
        if (loop == "surface") {
            auto* plane = new CustomConstraintForce(1, "z1");
            plane->addConstraint({0}, {});
            sample.system.addForce(plane);
        }
        if (loop == "anchors") {
            sample.system.setParticleMass(8, 0);
            sample.force->addDistance(0, 8, length(sample.x[0] - sample.x[8]));
        }
        EXPECT_EQ(areJointsIndependent(sample.collect()), loop == "chain") << loop;
        EXPECT_TRUE(sample.problems.empty()) << loop;
        RattleIntegrator integrator(0.001);
        EXPECT_EQ(diagnose(sample.system, integrator).isRankKnown, loop == "chain") << loop;
    }
}

TEST(DeclaredJoints, DiagnoseTakesTheRankAtTheStart) {
    // Four bodies on hinges in a ring: as many degrees of freedom as the axes leave.
    for (bool parallel : {true, false}) {
        System system;
        auto* force = new ConstraintForce();
        system.addForce(force);
        Start start;
        const Vectors corners = {{0, 0, 0}, {0.5, 0, 0}, {0.6, 0.5, 0}, {0.05, 0.4, 0}};
        for (int i = 0; i < 4; i++) {
            const Vec3 axis = parallel ? Vec3(0, 0, 0.1) : Vec3(0.02 * i, 0.03 * i * i, 0.1);
            for (const Vec3& r : {corners[i], corners[i] + axis}) {
                system.addParticle(10);
                start.positions.push_back(r);
            }
        }
        for (int i = 0; i < 4; i++) {
            const std::vector<int> ends = {2 * i, 2 * i + 1, (2 * i + 2) % 8, (2 * i + 3) % 8};
            Vectors positions;
            for (int p : ends)
                positions.push_back(start.positions[p]);
            force->addRigidBody(ends, positions);
        }
        system.getDefaultPeriodicBoxVectors(start.box[0], start.box[1], start.box[2]);
        RattleIntegrator integrator(0.001);
        const Diagnosis found = diagnose(system, integrator, &start);
        EXPECT_TRUE(found.problems.empty());
        EXPECT_TRUE(found.isRankKnown);
        EXPECT_EQ(found.numIndependent, 24 - (parallel ? 7 : 6));
        EXPECT_EQ(found.joints, 8);
        EXPECT_EQ(found.groups.size(), 4u) << "no redundant constraints of the user";
        EXPECT_FALSE(diagnose(system, integrator).isRankKnown);
    }
}

} // namespace
