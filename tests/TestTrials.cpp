// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// tryStart(): projection of a start and a few steps in a Context of its own.
#include "support/Messages.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Eight particles, and a Force for their constraints. */
struct Eight {
    System system;
    ConstraintForce* force = new ConstraintForce();

    Eight() {
        for (int i = 0; i < 8; i++)
            system.addParticle(12);
        system.addForce(force);
    }
};

} // namespace

class Trials : public testing::Test {
protected:
    Trial trying(const System& system, const Vectors& x, double dt = 0.001) {
        RattleIntegrator integrator(dt);
        return tryStart(system, integrator, {x, {}, {Vec3(3, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 3)}, 0},
                        Platform::getPlatformByName("Reference"), 3);
    }
};

TEST_F(Trials, TakeStepsFromAGoodStart) {
    const TestSystem& water = findSystem("water");
    const Trial trial = trying(*toOpenMM(water, Declared::InSystem), toVectors(water.positions));
    EXPECT_TRUE(trial.problems.empty());
    EXPECT_EQ(trial.steps, 3);
    EXPECT_LT(trial.shift, 1e-4);
}

TEST_F(Trials, ReportWhatTheStepsRaise) {
    Eight far;
    for (int i = 0; i < 5; i++)
        far.force->addDistance(i, i + 1, 0.15);
    far.force->addDihedral(0, 1, 2, 3, 0.5);
    Vectors x;
    for (int i = 0; i < 8; i++)
        x.emplace_back(0.12 * i, 0.09 * (i % 2), 0.001 * i);
    const Trial trial = trying(far.system, x);
    ASSERT_EQ(trial.problems.size(), 1u);
    EXPECT_EQ(trial.problems[0].kind, "far-off");
    EXPECT_EQ(trial.problems[0].bound, 0.05);
    EXPECT_GT(trial.problems[0].value, 0.05);
    EXPECT_GT(trial.shift, 0.05) << "applyConstraints() gets there";
    EXPECT_EQ(trial.steps, 0);
}

TEST_F(Trials, ReportForcesThatAreNotFinite) {
    Eight infinite;
    infinite.force->addDistance(0, 1, 0.1);
    auto* field = new CustomExternalForce("1/x");
    field->addParticle(5, {});
    infinite.system.addForce(field);
    Vectors x(8);
    x[1][0] = 0.1;
    const Trial trial = trying(infinite.system, x);
    ASSERT_EQ(trial.problems.size(), 1u);
    EXPECT_EQ(trial.problems[0].kind, "not-finite");
    EXPECT_EQ(trial.problems[0].particles, std::vector<int>{5});
    EXPECT_LT(trial.shift, 1e-12);
}

TEST_F(Trials, KeepLargeClustersFromOpenMMsOwnSolverAndNameThemAsTheSystems) {
    System system;
    Vectors x;
    for (int i = 0; i < 1200; i++) {
        system.addParticle(12);
        x.emplace_back(0.1 * i, 0.05 * (i % 2), 0);
        if (i > 0)
            system.addConstraint(i - 1, i, std::sqrt(0.0125));
    }
    auto* force = new ConstraintForce();
    force->addAngle(0, 1, 2, 2 * std::atan2(0.1, 0.05));
    system.addForce(force);
    system.addConstraint(0, 1, std::sqrt(0.0125)); // OpenMM would refuse it
    const Trial trial = trying(system, x);
    EXPECT_EQ(trial.steps, 3);
    x[700][1] += 0.3;
    const Trial failing = trying(system, x);
    ASSERT_GE(failing.problems.size(), 1u);
    EXPECT_EQ(failing.problems[0].constraints, std::vector<int>{700});
    expectAll(failing.problems[0].message, {"System constraint 700"});
    EXPECT_EQ(system.getNumConstraints(), 1200);
    EXPECT_EQ(system.getNumForces(), 1);
}

TEST_F(Trials, TryEveryChildOfACompoundIntegrator) {
    Eight turning;
    turning.force->addDistance(0, 1, 0.1);
    CompoundIntegrator compound;
    compound.addIntegrator(new RattleIntegrator(0.001));
    compound.addIntegrator(new RattleIntegrator(0.1));
    Start start{Vectors(8), Vectors(8), {Vec3(3, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 3)}, 0};
    start.positions[1][0] = 0.1;
    start.velocities[1][1] = 5; // 5 rad in a step of the second
    const Trial trial = tryStart(turning.system, compound, start, Platform::getPlatformByName("Reference"), 2);
    ASSERT_EQ(trial.problems.size(), 1u);
    EXPECT_EQ(trial.problems[0].kind, "too-fast");
    EXPECT_EQ(trial.problems[0].constraints, std::vector<int>{0});
    EXPECT_GT(trial.problems[0].value, trial.problems[0].bound);
}
