// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// g-BAOAB: RattleLangevinIntegrator with setNumGeodesicSteps(). What is random is drawn from a fixed seed, and compared
// within six standard errors.
#include "support/Langevin.h"
#include "support/Messages.h"
#include "support/Statistics.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class Geodesic : public Langevin {};

/** A bond that turns freely: its particles and how far it turns in a time. */
struct Rotor {
    const double d = 0.1, m0 = 16, m1 = 2, omega = 30;
    /** Of the bond after turning steps times, whose angle (rad) and speed of its ends against each other are returned.
     */
    std::pair<double, double> turn(const ConstraintTests::Setup& setup, double dt, int numGeodesicSteps,
                                   int steps) const {
        auto system = std::make_unique<System>();
        auto* bond = new ConstraintForce();
        bond->addDistance(system->addParticle(m0), system->addParticle(m1), d);
        system->addForce(bond);
        Simulation s(std::move(system), makeIntegrator(setup, dt, 1e-13), std::get<0>(setup));
        langevin(s).setFriction(0);
        langevin(s).setNumGeodesicSteps(numGeodesicSteps);
        s.context->setPositions({Vec3(0, 0, 0), Vec3(d, 0, 0)});
        const double speed = omega * d;
        s.context->setVelocities({Vec3(0, -speed * m1 / (m0 + m1), 0), Vec3(0, speed * m0 / (m0 + m1), 0)});
        s.integrator->step(steps);
        const Vec3 r = s.positions()[1] - s.positions()[0], v = s.velocities()[1] - s.velocities()[0];
        return {std::atan2(r[1], r[0]), std::sqrt(v.dot(v))};
    }
};

} // namespace

TEST_P(Geodesic, KeepsToTheConstraintsAndTheirTangents) {
    std::vector<TestSystem> parts;
    for (const char* name : {"water", "CH3", "methane", "chain", "ring", "anchor"})
        parts.push_back(findSystem(name));
    Simulation s = simulate(parts, Declared::InForce, GetParam(), 0.002, 1e-9);
    langevin(s).setFriction(50);
    expectTangentMotion(s, parts, 10);
}

TEST_P(Geodesic, WithoutAForceFollowsGeodesicsToSecondOrderInTheirSteps) {
    if (precision.position > 1e-10)
        return; // the differences are too small to be seen; what is done is the same text
    const Rotor rotor;
    const double dt = 0.004;
    double error[2];
    for (int i : {0, 1}) {
        const auto [angle, speed] = rotor.turn(GetParam(), dt, 1 + i, 5);
        error[i] = std::abs(angle - rotor.omega * 5 * dt);
        EXPECT_NEAR(speed, rotor.omega * rotor.d, 1e-9);
    }
    EXPECT_GT(error[0], 1e-5);
    EXPECT_NEAR(error[0] / error[1], 4, 0.1);
}

TEST_P(Geodesic, WithoutFrictionKeepsTheEnergyToSecondOrder) {
    double change[2];
    for (int i : {0, 1}) {
        const double dt = i == 0 ? 0.002 : 0.001;
        Simulation s = start("chain", dt, 0, 1e-11);
        const double before = s.energy();
        change[i] = 0;
        for (int n = 0; n < 20; n++) {
            s.integrator->step(i == 0 ? 2 : 4);
            change[i] = std::max(change[i], std::abs(s.energy() - before));
        }
        EXPECT_NEAR(langevin(s).getHeat(), 0, 1e-9 + 100 * precision.velocity);
    }
    EXPECT_GT(change[0], 1e-3);
    EXPECT_LT(change[1], 0.35 * change[0] + 20 * precision.force);
}

TEST_P(Geodesic, HasTheTemperatureOfTheBathByRank) {
    std::vector<TestSystem> parts;
    int dof = 0;
    for (const auto& [name, dofOfOne] :
         std::initializer_list<std::pair<const char*, int>>{{"water", 6}, {"methane", 6}, {"chain", 63}, {"anchor", 4}})
        for (int copy = 0; copy < 126 / dofOfOne; copy++, dof += dofOfOne)
            parts.push_back(findSystem(name));
    Simulation s = simulate(parts, Declared::InForce, GetParam(), 0.001, 1e-5);
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), dof);
    langevin(s).setFriction(400);
    s.integrator->step(50);
    std::vector<double> temperatures;
    for (int i = 0; i < 20; i++) {
        s.integrator->step(10);
        temperatures.push_back(s.integrator->computeSystemTemperature());
    }
    expectMeanOfSquares(temperatures, 300, dof, 0.1);
}

TEST_P(Geodesic, SamplesTheHarmonicOscillatorAtAnyStepSize) {
    // omega dt = 1: positions exactly; velocities, at the time of the positions, a quarter too little.
    const int n = 1500;
    const auto [kinetic, potential] = sampleOscillators(n);
    expectMeanOfSquares(kinetic, 0.75 * 1.5 * n * kT, 3 * n, 0.03);
    expectMeanOfSquares(potential, 1.5 * n * kT, 3 * n, 0.03);
}

TEST_P(Geodesic, ReadsTheWholeCentripetalForce) {
    // A stretched bond that turns freely in the bath: k (d - b) - 2 kT/d, whatever the friction.
    const int n = 120;
    const double d = 0.1, stretch = 0.02, k = 5000, dt = 0.002, friction = 100;
    Simulation s = stretchedDimers(n, d, stretch, k, dt);

    langevin(s).setTemperature(300);
    langevin(s).setFriction(friction);
    s.integrator->step(200);
    expectMean(centripetalForces(s, k * stretch, 500, 5), 2 * kT / d, 0.05);
    EXPECT_EQ(s.integrator->getVelocityMultipliers(), std::vector<double>(n, 0.0));
}

TEST_P(Geodesic, MovesAConstraintWithItsTargetAndCountsTheWork) {
    // Two ends of a spring are pulled apart: the work is its energy.
    const double d = 0.1, rate = 0.5, k = 5000, dt = 0.0005;
    auto system = std::make_unique<System>();
    auto* bond = new ConstraintForce();
    auto* spring = new HarmonicBondForce();
    bond->addDistance(system->addParticle(16), system->addParticle(2), d, rate);
    spring->addBond(0, 1, d, k);
    system->addForce(bond);
    system->addForce(spring);
    Simulation s(std::move(system), makeIntegrator(GetParam(), dt, 1e-10), platform());
    langevin(s).setFriction(0);
    expectWorkOfPull(s, d, rate, k, 80);
}

TEST_P(Geodesic, ChangesTheNumberOfItsStepsButNotItsKindUntilReinitialized) {
    Simulation s = start("chain", 0.002, 5);
    s.integrator->step(2);
    langevin(s).setNumGeodesicSteps(3);
    s.integrator->step(2);
    langevin(s).setNumGeodesicSteps(0);
    EXPECT_NE(messageOf([&] { s.integrator->step(1); }).find("Call Context.reinitialize(True)"), std::string::npos);
    EXPECT_EQ(s.context->getStepCount(), 4);
    const Vectors before = s.positions();
    s.context->reinitialize(true);
    EXPECT_EQ(distance(s.positions(), before), 0);
    EXPECT_NE(langevin(s).getHeat(), 0);
    s.integrator->step(1);
    langevin(s).setNumGeodesicSteps(1);
    EXPECT_NE(messageOf([&] { s.integrator->getMultipliers(); }).find("setNumGeodesicSteps"), std::string::npos);
    langevin(s).setNumGeodesicSteps(0); // as it was
    s.integrator->step(1);
    for (int wrong : {-1, 1001})
        EXPECT_NE(messageOf([&] { langevin(s).setNumGeodesicSteps(wrong); }).find(std::to_string(wrong)),
                  std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Geodesic, testing::ValuesIn(setupsOf("GeodesicLangevin")),
                         [](const auto& info) { return nameOf(info.param); });

/** getHeat() of all discretizations. */
class Heat : public Langevin {};

TEST_P(Heat, AccountsForTheEnergy) {
    // A hot start in a cold bath: most of the energy goes, and what went is known but for the error of the time step.
    Simulation s = start("chain", 0.0005, 20);
    EXPECT_EQ(langevin(s).getHeat(), 0);
    s.context->setVelocitiesToTemperature(900, 3);
    langevin(s).setTemperature(30);
    s.integrator->step(1);
    const double before = s.energy(), heat = langevin(s).getHeat();
    s.integrator->step(250);
    const double change = s.energy() - before;
    EXPECT_LT(change, -100);
    EXPECT_NEAR(langevin(s).getHeat() - heat, change, 0.02 * std::abs(change));
}

TEST_P(Heat, ContinuesFromACheckpointAndForgetsAStepThatFails) {
    Simulation s = start("chain", 0.002, 20), restored = start("chain", 0.002, 20);
    s.integrator->step(7);
    std::stringstream checkpoint;
    s.context->createCheckpoint(checkpoint);
    const double heat = langevin(s).getHeat();
    EXPECT_GT(std::abs(heat), 1e-3);
    s.integrator->step(3);
    restored.context->loadCheckpoint(checkpoint);
    EXPECT_EQ(langevin(restored).getHeat(), heat);
    restored.integrator->step(3);
    EXPECT_NEAR(langevin(restored).getHeat(), langevin(s).getHeat(), 1e-9 + precision.velocity);

    const double last = langevin(s).getHeat();
    langevin(s).setTemperature(1e12);
    EXPECT_THROW(s.integrator->step(5), OpenMMException);
    EXPECT_EQ(langevin(s).getHeat(), last);
    langevin(s).setTemperature(300);
    s.integrator->step(1);
    EXPECT_NE(langevin(s).getHeat(), last);
    EXPECT_LT(std::abs(langevin(s).getHeat() - last), 1000);
}

static std::vector<ConstraintTests::Setup> allDiscretizations() {
    std::vector<ConstraintTests::Setup> setups = setupsOf("RattleLangevin");
    for (const char* integrator : {"GeodesicLangevin", "RattleMTSLangevin"})
        for (const ConstraintTests::Setup& setup : setupsOf(integrator))
            setups.push_back(setup);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, Heat, testing::ValuesIn(allDiscretizations()),
                         [](const auto& info) { return nameOf(info.param); });
