// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What declared rigid bodies that share particles become: one body, a ball joint, a hinge, or a refusal by name.
#include "ConstraintErrors.h"
#include "JointErrors.h"
#include "support/Bodies.h"
#include "support/Messages.h"
#include "support/SharedBodies.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Expect the distances of particles in a body. */
void expectShape(const RigidBody& body, const Vectors& x, double tolerance = 1e-12) {
    for (int i = 0; i < body.size(); i++)
        for (int j = 0; j < i; j++) {
            const Real3 r = body.shape[i] - body.shape[j];
            EXPECT_NEAR(std::sqrt(dot(r, r)), lengthOf(x[body.particles[i]] - x[body.particles[j]]), tolerance)
                << body.particles[i] << " " << body.particles[j];
        }
}

// ---- one body -------------------------------------------------------------------------------------------------------

TEST(DeclaredJoints, ThreeSharedParticlesMakeOneBody) {
    SharedBodies sample;
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
    SharedBodies sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({6, 7, 8, 0}); // by one particle to the first, by two to the last
    sample.addBody({4, 1, 2, 3});
    sample.addBody({5, 4, 0, 7}); // by two to the first, once it has 4
    sample.addBody({9, 5, 7, 8});
    const ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    std::vector<std::vector<int>> particles;
    for (const RigidBody& body : set.bodies) {
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
        SharedBodies sample;
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
    SharedBodies sample;
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
    SharedBodies sample;
    sample.addBody({0});
    sample.addBody({2});
    sample.force->addDistance(0, 1, lengthOf(sample.x[0] - sample.x[1]));
    const ConstraintSet set = sample.collect();
    ASSERT_EQ(set.bodies.size(), 1u);
    EXPECT_EQ(set.bodies[0].particles, std::vector<int>{2});
    EXPECT_FALSE(set.isJoined(set.constraints[0]));
}

// ---- joints ---------------------------------------------------------------------------------------------------------

TEST(DeclaredJoints, OneSharedParticleIsABallJointAndTwoAreAHinge) {
    SharedBodies sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5, 6});
    sample.addBody({5, 6, 7, 8});
    sample.system.setParticleMass(9, 0);
    const ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 3u);
    EXPECT_EQ(set.numCopies, 3);
    EXPECT_EQ(set.constraints.size(), 3u + 5u);
    for (const RigidBody& body : set.bodies)
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
    SharedBodies sample;
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
    for (const RigidBody& body : set.bodies) {
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
    SharedBodies other;
    other.x = sample.x;
    other.addBody({0, 1, 2, 3, 4, 5});
    other.addBody({6, 7, 3, 1, 2, 0});
    EXPECT_EQ(other.collect().bodies.size(), 1u);
}

TEST(DeclaredJoints, BothBodiesOfAHingeHaveTheSameAxis) {
    SharedBodies sample;
    sample.addBody({0, 1, 2, 3});
    const double first = lengthOf(sample.x[2] - sample.x[3]);
    sample.x[2] += (sample.x[2] - sample.x[3]) * 1e-6;
    sample.addBody({5, 3, 2, 4});
    const ConstraintSet set = sample.collect(1e-5);
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 2u);
    const auto axisOf = [](const RigidBody& body, int one, int other) {
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
    SharedBodies sample;
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
    SharedBodies sample;
    auto* second = new ConstraintForce();
    second->setUsesPeriodicBoundaryConditions(true);
    sample.system.addForce(second);
    sample.addBody({0, 1, 2, 3}, second);
    sample.addBody({3, 4, 5, 6});
    sample.addBody({6, 7, 8});
    ConstraintSet set = sample.collect();
    EXPECT_TRUE(sample.problems.empty());
    ASSERT_EQ(set.bodies.size(), 3u);
    for (const RigidBody& body : set.bodies)
        EXPECT_TRUE(body.periodic);
    sample.addBody({0, 1, 2, 9}); // one with the first
    set = sample.collect();
    ASSERT_EQ(set.bodies.size(), 3u);
    EXPECT_TRUE(set.bodies[0].periodic);
    sample.system.setDefaultPeriodicBoxVectors({0.9, 0, 0}, {0, 0.9, 0}, {0, 0, 0.9});
    sample.force->setRigidBodyParameters(1, {6, 7, 8}, {Vec3(), Vec3(0.5, 0, 0), Vec3(-0.5, 0.1, 0)});
    set = sample.collect();
    ASSERT_EQ(sample.problems.size(), 1u);
    EXPECT_EQ(sample.problems[0].kind, "box");
    expectAll(sample.problems[0].message, {"rigid body 1 of the ConstraintForce with index 0", "its radius 0.5"});
}

TEST(DeclaredJoints, OfMasslessParticlesNeedNoConstraints) {
    SharedBodies sample;
    sample.system.setParticleMass(3, 0);
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5, 6});
    const ConstraintSet set = sample.collect();
    ASSERT_EQ(set.bodies.size(), 2u);
    EXPECT_TRUE(set.constraints.empty());
    for (const RigidBody& body : set.bodies) {
        EXPECT_FALSE(body.isJoined);
        EXPECT_EQ(body.degreesOfFreedom(), 3);
    }
}

// ---- what contradicts -----------------------------------------------------------------------------------------------

TEST(DeclaredJoints, ABodyThatContradictsMergedOnesIsRefusedByName) {
    SharedBodies sample;
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

TEST(DeclaredJoints, TheSameBodyTwiceIsRefusedByName) {
    for (const std::vector<int>& particles : {std::vector<int>{0, 1, 2, 3}, {4, 5}, {5}}) {
        SharedBodies sample;
        sample.addBody(particles);
        sample.addBody({1, 2, 3});
        sample.addBody({particles.rbegin(), particles.rend()});
        const ConstraintSet set = sample.collect();
        ASSERT_EQ(sample.problems.size(), 1u);
        EXPECT_EQ(sample.problems[0].kind, "particles");
        EXPECT_EQ(sample.problems[0].particles, std::vector<int>(particles.rbegin(), particles.rend()));
        expectAll(sample.problems[0].message,
                  {"rigid body 2 of the ConstraintForce with index 0: its particles are those of rigid body 0 of the "
                   "ConstraintForce with index 0: particle " +
                   std::to_string(particles.back())});
    }
}

TEST(DeclaredJoints, ParticlesOfTwoBodiesAtOnePlaceAreRefusedByName) {
    SharedBodies sample;
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
        SharedBodies sample;
        sample.addBody({0, 1, 2, 3});
        sample.addBody({1, 2, 3, 4});
        sample.force->addDistance(0, 4, (fits ? 1.01 : 1.03) * lengthOf(sample.x[0] - sample.x[4]));
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
    SharedBodies sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({2, 3, 4, 5});
    sample.force->addDistance(2, 3, lengthOf(sample.x[2] - sample.x[3]));
    sample.force->addDistance(0, 5, lengthOf(sample.x[0] - sample.x[5]));
    sample.system.addConstraint(1, 9, lengthOf(sample.x[1] - sample.x[9]));
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
            SharedBodies sample;
            sample.addBody({0, 1, 2, 3});
            if (hinged) {
                sample.addBody({2, 3, 5});
                const auto over = [&](int p) {
                    return lengthOf(sample.x[0] - sample.x[p]) + lengthOf(sample.x[5] - sample.x[p]);
                };
                sample.force->addDistance(0, 5, (fits ? 0.99 : 1.01) * std::min(over(2), over(3)));
            } else
                for (int end : {0, 1})
                    sample.force->addDistance(end, 9, (fits ? 0.51 : 0.49) * lengthOf(sample.x[0] - sample.x[1]));
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
        SharedBodies sample;
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

} // namespace
