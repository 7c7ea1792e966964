// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What is said of rigid bodies that are joined: degrees of freedom, clusters, problems.
#include "ConstraintErrors.h"
#include "JointLoops.h"
#include "support/Bodies.h"
#include "support/Messages.h"
#include "support/SharedBodies.h"
#include <functional>
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

TEST(JointReports, StretchedToALineAreRefusedByName) {
    // A chain of three bodies on ball joints whose ends are as far from each other as they can be, and less.
    for (bool stretched : {false, true}) {
        SharedBodies sample;
        for (int p = 0; p < 4; p++)
            sample.x[p] = Vec3(0.1 * p, stretched ? 0 : 0.03 * p * p, 0);
        Vectors start = sample.x;
        for (int p = 0; p < 3; p++)
            sample.addBody({p, p + 1});
        sample.force->addDistance(3, 0, lengthOf(sample.x[3] - sample.x[0]));
        RattleIntegrator integrator(0.001);
        Context context(sample.system, integrator, requirePlatform("Reference"));
        context.setPositions(start);
        if (!stretched) {
            EXPECT_NO_THROW(integrator.step(1));
            EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 3 * 10 - 4);
            continue;
        }
        try {
            integrator.step(1);
            FAIL() << "accepted";
        } catch (const ConstraintException& error) {
            EXPECT_EQ(error.getProblem().kind, "singular");
            EXPECT_EQ(error.getProblem().constraints, std::vector<int>{0});
            EXPECT_EQ(sorted(error.getProblem().particles), (std::vector<int>{0, 1, 2, 3}));
            expectAll(error.what(), {"rigid bodies 0, 1 and 2 of the ConstraintForce with index 0", "singular",
                                     "distance 0 of", "the joint of rigid body 0 and rigid body 1", "addRigidBody"});
        }
    }
}

TEST(JointReports, FailedJointsAreToldWithTheirPlace) {
    SharedBodies sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5, 6});
    const ConstraintSet set = sample.collect();
    SolveReport report;
    report.outcome = Outcome::NotConverged;
    report.constraint = 1;
    report.value = -0.002;
    report.maxError = 0.01;
    SolveContext context{Stage::Positions, "step 7", 1e-8, 0.001, 0, 0.001, "Iterative", true, ""};
    for (bool isPlaceKnown : {false, true}) {
        if (isPlaceKnown)
            report.places.assign(2, Real3{0.5, 0.25, 0});
        const std::string message = messageOf([&] { throwSolveError(set, report, context); });
        expectAll(message, {"step 7", "the joint of rigid body 0 and rigid body 1 of", "0.002 nm apart", "0.01"});
        const std::string place = "particle 3 at (0.5, 0.25, 0) nm";
        EXPECT_EQ(message.find(place) != std::string::npos, isPlaceKnown);
        EXPECT_EQ(message.find(place), message.rfind(place)) << "once, though both bodies have it";
    }
    report.places.clear();
    report.outcome = Outcome::NotFinite;
    context.stage = Stage::Velocities;
    expectAll(messageOf([&] { throwSolveError(set, report, context); }), {"the joint of rigid body 0", "NaN"});
}

TEST(JointReports, ForcesThatDoNotWorkWithBodiesAreRefusedOnce) {
    for (Force* other :
         {(Force*) new AndersenThermostat(300, 1), (Force*) new MonteCarloFlexibleBarostat(1, 300, 25, false)}) {
        SharedBodies sample;
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

TEST(JointReports, DiagnoseCountsJoinedBodiesAndJoints) {
    SharedBodies sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5, 6});
    sample.addBody({7, 8});
    sample.force->addDistance(0, 3, 1.01 * lengthOf(sample.x[0] - sample.x[3]));
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

TEST(JointReports, TheRankOfAClosedLoopNeedsPositions) {
    // A chain of three bodies on ball joints that hangs from an anchor and holds a free particle, and more.
    using Change = std::function<void(SharedBodies&)>;
    const auto distance = [](int p, int q) -> Change {
        return [=](SharedBodies& s) { s.force->addDistance(p, q, lengthOf(s.x[p] - s.x[q])); };
    };
    const auto expression = [](const std::string& text, const std::vector<int>& particles) -> Change {
        return [=](SharedBodies& s) {
            auto* force = new CustomConstraintForce((int) particles.size(), text);
            force->addConstraint(particles, {});
            s.system.addForce(force);
        };
    };
    const std::vector<std::tuple<const char*, bool, std::vector<Change>>> cases = {
        {"chain", true, {}},
        {"longer chain", true, {distance(4, 5)}},
        {"ring beside it", true, {distance(5, 6), distance(6, 7), distance(7, 5)}},
        {"ring of bodies", false, {[](SharedBodies& s) {
             s.addBody({3, 0});
         }}},
        {"diagonal", false, {distance(0, 2)}},
        {"ring of particles", false, {distance(4, 5), distance(5, 6), distance(6, 4)}},
        {"angle", false, {[](SharedBodies& s) { s.force->addAngle(2, 4, 5, 1); }}},
        {"surface", false, {expression("z1", {0})}},
        {"surface for two", false, {expression("z1+z2", {0, 5})}},
        {"second anchor", false, {[](SharedBodies& s) { s.system.setParticleMass(8, 0); }, distance(0, 8)}},
        {"anchor in a body", false, {[](SharedBodies& s) { s.system.setParticleMass(0, 0); }}}};
    for (const auto& [name, isKnown, changes] : cases) {
        SharedBodies sample;
        for (int p : {0, 1, 2})
            sample.addBody({p, p + 1});
        sample.system.setParticleMass(9, 0);
        distance(3, 9)(sample);
        distance(2, 4)(sample);
        for (const Change& change : changes)
            change(sample);
        EXPECT_EQ(areJointsIndependent(sample.collect()), isKnown) << name;
        EXPECT_TRUE(sample.problems.empty()) << name;
        RattleIntegrator integrator(0.001);
        EXPECT_EQ(diagnose(sample.system, integrator).isRankKnown, isKnown) << name;
    }
}

TEST(JointReports, DiagnoseTakesTheRankAtTheStart) {
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
