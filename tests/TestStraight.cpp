// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Angles of exactly 180 degrees: the particle in the middle stays on the line, whether bonds are free or not.
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class Straight : public testing::TestWithParam<std::tuple<Setup, bool>> {
protected:
    const ConstraintTests::Setup setup = std::get<0>(GetParam());
    const bool fixedBonds = std::get<1>(GetParam());
    const std::string platform = std::get<0>(setup);
    const Precision precision = precisionOf(platform);
    /** How far from 180 degrees an angle of two bonds of some 0.1 nm may be. */
    const double bent = 3 * attainable(platform, 1e-11, 0.1);
    /** Three particles of unequal masses on a line, a spring to a fourth that shakes them, bonds free or fixed. */
    Simulation start(double stepSize, double angle = M_PI) const {
        auto system = std::make_unique<System>();
        for (double mass : {16.0, 12.0, 1.0, 30.0})
            system->addParticle(mass);
        auto* springs = new HarmonicBondForce();
        springs->addBond(0, 1, 0.11, 30000);
        springs->addBond(1, 2, 0.13, 20000);
        springs->addBond(2, 3, 0.2, 2000);
        springs->addBond(1, 3, 0.2, 3000);
        auto* constraints = new ConstraintForce();
        if (fixedBonds) {
            constraints->addDistance(0, 1, 0.12);
            constraints->addDistance(1, 2, 0.12);
        }
        constraints->addAngle(0, 1, 2, angle);
        system->addForce(springs);
        system->addForce(constraints);
        Simulation simulation(std::move(system), makeIntegrator(setup, stepSize, 1e-11), std::get<0>(setup));
        simulation.context->setPositions({{0.12, 0, 0}, {0, 0, 0}, {-0.12, 0, 0}, {0, 0.2, 0.05}});
        simulation.context->setVelocities({{0.3, 0.5, 0}, {-0.1, -0.2, 0.1}, {0.5, -0.4, 0.6}, {0, 0.1, -0.2}});
        simulation.integrator->applyVelocityConstraints();
        return simulation;
    }
};

double bend(const Vectors& x) {
    const Vec3 a = x[0] - x[1], b = x[1] - x[2], n = a.cross(b);
    return std::atan2(std::sqrt(n.dot(n)), a.dot(b));
}

TEST_P(Straight, StaysStraightAndConservesEnergyAndMomenta) {
    const int stepsPerBlock = isDevice(platform) ? 50 : 250;
    Simulation simulation = start(0.0002);
    EXPECT_EQ(simulation.integrator->getNumDegreesOfFreedom(), fixedBonds ? 8 : 10);
    const double energy = simulation.energy();
    const double kinetic = simulation.context->getState(State::Energy).getKineticEnergy();
    for (int block = 0; block < 20; block++) {
        simulation.integrator->step(stepsPerBlock);
        EXPECT_LT(bend(simulation.positions()), bent);
        // The Langevin form reports the kinetic energy half a step behind the positions.
        EXPECT_NEAR(simulation.energy(), energy,
                    (std::get<2>(setup) == "FrictionlessLangevin" ? 0.05 : 5e-3) * kinetic);
    }
    Vec3 momentum;
    const double masses[] = {16, 12, 1, 30};
    for (int i = 0; i < 4; i++)
        momentum += simulation.velocities()[i] * masses[i];
    const Vec3 expected = Vec3(0.3, 0.5, 0) * 16 + Vec3(-0.1, -0.2, 0.1) * 12 + Vec3(0.5, -0.4, 0.6) + Vec3(0, 3, -6);
    // Rounded velocities of masses of some 10 amu; forces that OpenMM rounds are not quite opposite.
    EXPECT_LT(distance({momentum}, {expected}), 1e-4 + 20 * stepsPerBlock * 10 * precision.velocity);
}

TEST_P(Straight, HasOneMultiplierAndItsForceIsPerpendicular) {
    Simulation simulation = start(0.0005);
    simulation.integrator->step(10);
    const std::vector<double> multipliers = simulation.integrator->getMultipliers();
    ASSERT_EQ(multipliers.size(), fixedBonds ? 3u : 1u);
    EXPECT_GT(multipliers.back(), 0);
    if (fixedBonds)
        return;
    // One multiplier lambda stands for a torque: |f_0| = lambda/|b_0|, perpendicular to the line.
    const Vectors forces = simulation.integrator->getConstraintForces();
    EXPECT_LT(distance({forces[0] + forces[1] + forces[2], forces[3]}, {Vec3(), Vec3()}), 1e-9);
    EXPECT_NEAR(std::sqrt(forces[0].dot(forces[0])), multipliers[0] / 0.12, 0.1 * multipliers[0] / 0.12);
}

TEST_P(Straight, ABentStartIsProjected) {
    Simulation simulation = start(0.0005);
    Vectors x = simulation.positions();
    x[1] += Vec3(0, 0.02, -0.015);
    simulation.context->setPositions(x);
    simulation.integrator->step(1);
    EXPECT_LT(bend(simulation.positions()), bent);
}

TEST_P(Straight, RoundedPiIsPi) {
    Simulation exact = start(0.0005), rounded = start(0.0005, 3.1416);
    exact.integrator->step(50);
    rounded.integrator->step(50);
    EXPECT_LT(distance(exact.positions(), rounded.positions()), 1e-15);
}

INSTANTIATE_TEST_SUITE_P(All, Straight,
                         testing::Combine(testing::ValuesIn(oneSetupOfEach(constantEnergySetups())), testing::Bool()),
                         [](const auto& info) {
                             return nameOf(std::get<0>(info.param)) + (std::get<1>(info.param) ? "_Fixed" : "_Free");
                         });

class StraightAngles : public testing::TestWithParam<std::string> {};

TEST_P(StraightAngles, AFoldedAngleIsNoStraightOne) {
    System system;
    for (int i = 0; i < 3; i++)
        system.addParticle(1);
    auto* constraints = new ConstraintForce();
    constraints->addAngle(0, 1, 2, M_PI);
    system.addForce(constraints);
    RattleIntegrator integrator(0.001);
    auto context = makeContext(system, integrator, GetParam());
    context->setPositions({{0.1, 0, 0}, {0, 0, 0}, {0.2, 0, 0}});
    EXPECT_THROW(integrator.step(1), OpenMMException);
}

INSTANTIATE_TEST_SUITE_P(Platforms, StraightAngles, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
