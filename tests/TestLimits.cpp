// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Very many constraints, and factors that are too large: exceptions, the choice of the slower solver, and messages.
#include "support/Messages.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Light particles at 0.3 nm from a heavy one, on a spiral: all rows are coupled. */
struct Star {
    System system;
    Vectors positions = {Vec3()};
    explicit Star(int n) {
        auto* force = new ConstraintForce();
        force->setParticleNames({"A:HUB1:X"});
        system.addParticle(1000);
        for (int i = 0; i < n; i++) {
            const double z = (2.0 * i + 1) / n - 1, r = std::sqrt(1 - z * z), angle = 2.4 * i;
            positions.push_back(Vec3(r * std::cos(angle), r * std::sin(angle), z) * 0.3);
            system.addParticle(1);
            force->addDistance(0, i + 1, 0.3);
        }
        system.addForce(force);
    }
};

} // namespace

class Limits : public testing::TestWithParam<std::string> {};

TEST_P(Limits, MatrixInversionRefusesAFactorThatIsTooLargeAndSaysHowLarge) {
    Star star(1000);
    RattleIntegrator integrator(0.001);
    integrator.setSolver(ConstraintIntegrator::MatrixInversion);
    expectAll(messageOf([&] { makeContext(star.system, integrator, GetParam()); }),
              {"1000 constraints", "1001 particles", "particle 0 (A:HUB1:X)", "5e+05 entries", "1.7e+08 updates",
               "0.67 GB", "setSolver(Automatic)"});
}

TEST_P(Limits, AutomaticSaysThatItTookTheSlowerSolver) {
    Star star(1000);
    RattleIntegrator integrator(0.001);
    integrator.setMaxIterations(5000);
    const auto context = makeContext(star.system, integrator, GetParam());
    context->setPositions(star.positions);
    context->setVelocitiesToTemperature(10, 1);
    integrator.step(2);
    const SolverSummary summary = integrator.getSolverSummary();
    EXPECT_TRUE(summary.converged);
    expectAll(summary.note, {"1000 constraints", "Iterative, which is slower", "1.7e+08 updates"});
    expectAll(summary.str(), {summary.note});
    const std::vector<ClusterInfo> clusters = integrator.getClusters(star.system);
    ASSERT_EQ(clusters.size(), 1u);
    expectAll(clusters[0].note, {"Iterative, which is slower", "1.7e+08 updates"});
    // There is no note if no cluster is too large,
    RattleIntegrator other(0.001);
    Star small(8);
    const auto second = makeContext(small.system, other, GetParam());
    EXPECT_EQ(other.getSolverSummary().note, "");
    EXPECT_EQ(other.getClusters(small.system)[0].note, "");
    // nor if the user selected Iterative.
    other.setSolver(ConstraintIntegrator::Iterative);
    EXPECT_EQ(other.getClusters(star.system)[0].note, "");
}

TEST_P(Limits, WhatDoesNotConvergeIsNotSentToASolverThatCannotServeIt) {
    Star star(1000);
    RattleIntegrator integrator(0.001);
    integrator.setMaxIterations(1);
    integrator.setConstraintTolerance(1e-10);
    const auto context = makeContext(star.system, integrator, GetParam());
    for (Vec3& x : star.positions)
        x *= 1.01;
    context->setPositions(star.positions);
    const std::string message = messageOf([&] { integrator.step(1); });
    expectAll(message, {"no convergence", "couple fewer constraints", "1.7e+08 updates"});
    EXPECT_EQ(message.find("setSolver(MatrixInversion)"), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Platforms, Limits, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

TEST(Million, OneImpossibleLengthIsRefusedByName) {
    const int n = 1'000'000;
    System system;
    for (int i = 0; i <= n; i++)
        system.addParticle(12);
    for (int i = 0; i < n; i++)
        system.addConstraint(i, i + 1, 0.15);
    ConstraintForce& force = *moveConstraints(system);
    std::vector<std::string> names(n + 1);
    names[n - 4] = "Z:END1:C";
    force.setParticleNames(names);
    const auto creating = [&] {
        RattleIntegrator integrator(0.001);
        return messageOf([&] { makeContext(system, integrator, "Reference"); });
    };
    force.addDistance(n - 4, n - 1, 0.5); // three bonds reach 0.45 nm
    expectAll(creating(), {"particles 999996 and 999999: Z:END1:C and 999999", "0.15, 0.15, 0.15 and 0.5 nm", "all 4",
                           "Correct or remove"});
    force.setDistanceParameters(n, n - 4, n - 3, 0.16);
    expectAll(creating(), {"distance 999996", "distance 1000000", "0.15 and 0.16", "Remove"});
    force.setDistanceParameters(n, n - 4, n + 1, 0.16);
    expectAll(creating(), {"distance 1000000", "particle index 1000001", "out of range"});
}

TEST(Million, DistanceOfTwoLargeGroupsIsHeld) {
    const int n = 300'000; // takes seconds; it would take minutes if each particle were compared with all others
    System system;
    Vectors positions;
    std::vector<int> groups[2];
    for (int i = 0; i < n; i++) {
        system.addParticle(1);
        groups[i % 2].push_back(i);
        positions.push_back(Vec3(i % 2, 0, 0));
    }
    auto* force = new ConstraintForce();
    force->addCentroidDistance(groups[0], groups[1], 1);
    system.addForce(force);
    RattleIntegrator integrator(0.001);
    const auto context = makeContext(system, integrator, "Reference");
    context->setPositions(positions);
    integrator.step(1);
    EXPECT_LE(integrator.getSolverSummary().maxError, 1e-5);
}

TEST(Million, ExpressionsWithParametersOfTheirOwnAreHeld) {
    const int n = 300'000; // takes seconds; it would take minutes if each copied the parameters of all that follow
    System system;
    Vectors positions;
    auto* force = new CustomConstraintForce(1, "z1-a");
    force->addPerConstraintParameter("a");
    for (int i = 0; i < n; i++) {
        system.addParticle(1);
        positions.push_back(Vec3(0, 0, 1e-6 * i));
        force->addConstraint({i}, {1e-6 * i});
    }
    system.addForce(force);
    RattleIntegrator integrator(0.001);
    const auto context = makeContext(system, integrator, "Reference");
    context->setPositions(positions);
    integrator.step(1);
    EXPECT_LE(integrator.getSolverSummary().maxError, 1e-5);
}

TEST(Million, AParticleTwiceInAnExpressionOfManyIsNamed) {
    System system;
    std::string sum = "x1";
    std::vector<int> particles = {0};
    for (int i = 1; i < 20; i++) {
        sum += "+x" + std::to_string(i + 1);
        particles.push_back(i);
    }
    for (int i = 0; i < 20; i++)
        system.addParticle(1);
    particles[19] = 3;
    auto* force = new CustomConstraintForce(20, sum);
    force->addConstraint(particles, {});
    system.addForce(force);
    RattleIntegrator integrator(0.001);
    expectAll(messageOf([&] { makeContext(system, integrator, "Reference"); }), {"join particle 3 to itself"});
}

TEST(MoveConstraints, KeepsOrderMeaningAndWhatIsThere) {
    System system;
    EXPECT_EQ(moveConstraints(system), nullptr);
    EXPECT_EQ(system.getNumForces(), 0);
    for (int i = 0; i < 4; i++)
        system.addParticle(1);
    system.setDefaultPeriodicBoxVectors(Vec3(1, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 3));
    auto* there = new ConstraintForce();
    there->addDistance(1, 3, 0.2);
    system.addForce(there);
    auto* bonds = new HarmonicBondForce();
    bonds->setUsesPeriodicBoundaryConditions(true);
    system.addForce(bonds);
    for (const auto& [i, length] : {std::pair(0, 0.1), std::pair(1, 0.6), std::pair(2, 0.5)})
        system.addConstraint(i, i + 1, length);
    ConstraintForce* periodic = moveConstraints(system);
    EXPECT_EQ(system.getNumConstraints(), 0);
    ASSERT_EQ(system.getNumForces(), 4);
    EXPECT_EQ(periodic, &system.getForce(2));
    EXPECT_TRUE(periodic->usesPeriodicBoundaryConditions());
    const auto expectDistance = [](const ConstraintForce& force, int index, int i, double length) {
        int p1, p2;
        double distance;
        force.getDistanceParameters(index, p1, p2, distance);
        EXPECT_EQ(std::tie(p1, distance), std::tie(i, length));
    };
    ASSERT_EQ(periodic->getNumDistances(), 2);
    expectDistance(*periodic, 0, 0, 0.1);
    expectDistance(*periodic, 1, 2, 0.5); // half the box
    ASSERT_EQ(there->getNumDistances(), 1);
    expectDistance(*there, 0, 1, 0.2);
    const auto& without = dynamic_cast<const ConstraintForce&>(system.getForce(3));
    ASSERT_EQ(without.getNumDistances(), 1);
    expectDistance(without, 0, 1, 0.6); // has no minimum image
}

TEST(MoveConstraints, AppendsToItsOwnForceOnly) {
    System system;
    for (int i = 0; i < 4; i++)
        system.addParticle(1);
    system.addConstraint(0, 1, 0.1);
    ConstraintForce* first = moveConstraints(system);
    system.addConstraint(1, 2, 0.1);
    EXPECT_EQ(moveConstraints(system), first);
    EXPECT_EQ(first->getNumDistances(), 2);
    EXPECT_EQ(system.getNumForces(), 1);
    first->addAngle(0, 1, 2, 1); // its place in getMultipliers() stays
    system.addConstraint(2, 3, 0.1);
    EXPECT_NE(moveConstraints(system), first);
    EXPECT_EQ(first->getNumDistances(), 2);
    EXPECT_EQ(system.getNumForces(), 2);
}
