// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// A failing step among many of one call of step(): on a device the later ones have been launched when it fails.
#include "support/Messages.h"
#include "support/ProbeForce.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

class Failures : public testing::TestWithParam<Setup> {
protected:
    /** A pair that runs down a slope which gets steeper without bound, beside other systems.
     *  @param change  adds what a test needs besides */
    Simulation runaway(const std::function<void(System&)>& change = {}, bool isWarm = false) const {
        const std::vector<TestSystem> parts = {findSystem("OH"), findSystem("water"), findSystem("chain")};
        auto system = toOpenMM(parts, Declared::InForce);
        addSprings(*system, parts);
        auto* slope = new CustomExternalForce("-2000*(x+0.2)^3");
        slope->addParticle(1, {});
        system->addForce(slope);
        if (change)
            change(*system);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.004, 1e-8), std::get<0>(GetParam()));
        s.integrator->setWarmStart(isWarm);
        s.context->setPositions(positionsOf(parts));
        s.context->setVelocities(tangentVelocities(parts, 0.3, 5));
        return s;
    }
    /** Go on until a step fails. @return the message */
    static std::string fail(Simulation& s, int stepsAtOnce) {
        std::string message;
        for (int i = 0; i < 1000 && message.empty(); i++)
            message = messageOf([&] { s.integrator->step(stepsAtOnce); });
        return message;
    }
    /** A cutoff makes devices sort atoms now and then.
     *  @param numExcluded  particles from the first on that do not feel each other: parts may lie in one another */
    static void addNonbonded(System& system, int numExcluded) {
        auto* force = new NonbondedForce();
        force->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
        force->setCutoffDistance(0.5);
        for (int i = 0; i < system.getNumParticles(); i++)
            force->addParticle(0.01 * (1 - i % 3), 0.01, 0);
        for (int i = 0; i < numExcluded; i++)
            for (int j = 0; j < i; j++)
                force->addException(i, j, 0, 1, 0);
        system.addForce(force);
    }
};

/** All that users read of a step. */
struct Readings {
    std::vector<double> multipliers, velocityMultipliers;
    Vectors forces, virial;
    explicit Readings(Simulation& s)
        : multipliers(s.integrator->getMultipliers()), velocityMultipliers(s.integrator->getVelocityMultipliers()),
          forces(s.integrator->getConstraintForces()), virial(s.integrator->getConstraintVirial()) {
    }
    bool operator==(const Readings& other) const {
        return multipliers == other.multipliers && velocityMultipliers == other.velocityMultipliers &&
               forces == other.forces && virial == other.virial;
    }
};

TEST_P(Failures, ReadingsAreOfTheLastGoodStep) {
    for (bool isWarm : {false, true}) {
        SCOPED_TRACE(isWarm);
        Simulation alone = runaway({}, isWarm);
        EXPECT_NE(fail(alone, 1), "");
        const int good = (int) alone.context->getStepCount();
        EXPECT_GT(good, 2);
        Simulation many = runaway({}, isWarm);
        many.integrator->step(1); // so that what steps do in turns begins with the other one
        EXPECT_NE(fail(many, 1000), "");
        EXPECT_EQ(many.context->getStepCount(), good);
        EXPECT_FALSE(many.integrator->getSolverSummary().converged);
        Simulation until = runaway({}, isWarm);
        until.integrator->step(1);
        until.integrator->step(good - 1);
        const Readings expected(until);
        EXPECT_GT(std::abs(expected.multipliers[0]), 0);
        EXPECT_TRUE(Readings(alone) == expected);
        EXPECT_TRUE(Readings(many) == expected);
        EXPECT_EQ(distance(many.positions(), until.positions()), 0);
    }
}

TEST_P(Failures, ABarostatAfterwardsLeavesTheBox) {
    const auto addBarostat = [](System& system) {
        system.setDefaultPeriodicBoxVectors(Vec3(4, 0, 0), Vec3(0, 4, 0), Vec3(0, 0, 4));
        addNonbonded(system, system.getNumParticles());
        auto* barostat = new MonteCarloBarostat(1, 300, 1);
        barostat->setRandomNumberSeed(4);
        system.addForce(barostat);
    };
    Simulation alone = runaway(addBarostat);
    const double before = alone.context->getState(0).getPeriodicBoxVolume();
    EXPECT_NE(fail(alone, 1), "");
    const State expected = alone.context->getState(State::Positions | State::Velocities);
    EXPECT_NE(expected.getPeriodicBoxVolume(), before);
    Simulation many = runaway(addBarostat);
    EXPECT_NE(fail(many, 100), "");
    const State state = many.context->getState(State::Positions | State::Velocities);
    EXPECT_EQ(state.getTime(), expected.getTime());
    EXPECT_EQ(state.getPeriodicBoxVolume(), expected.getPeriodicBoxVolume());
    EXPECT_EQ(distance(state.getPositions(), expected.getPositions()), 0);
    EXPECT_EQ(distance(state.getVelocities(), expected.getVelocities()), 0);
}

TEST_P(Failures, AtomsThatAreSortedAfterwardsReturnToTheirPlaces) {
    // A pair runs into a wall that only one of the two feels. All others fly to one place: a device's list of
    // neighbours grows, and it sorts the atoms every 26 steps, after the one that fails as well.
    Vectors x = {Vec3(9.05, 9, 9), Vec3(9.15, 9, 9)}, v(2, Vec3(0, 10, 0));
    Random random(3);
    for (int i = 0; i < 1000; i++) {
        x.emplace_back(random.uniform(0, 10), random.uniform(0, 10), random.uniform(0, 10));
        v.push_back((Vec3(5, 5, 5) - x.back()) / 0.07);
        x.back()[i % 3] += 10 * random.below(3); // in another copy of the box
    }
    const auto start = [&] {
        auto system = std::make_unique<System>();
        system->setDefaultPeriodicBoxVectors(Vec3(10, 0, 0), Vec3(0, 10, 0), Vec3(0, 0, 10));
        for (std::size_t i = 0; i < x.size(); i++)
            system->addParticle(12);
        auto* constraints = new ConstraintForce();
        constraints->addDistance(0, 1, 0.1);
        system->addForce(constraints);
        auto* wall = new CustomExternalForce("-1e8*step(y-9.42)*(y-9.42)");
        wall->addParticle(1, {});
        system->addForce(wall);
        addNonbonded(*system, 2);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-8), std::get<0>(GetParam()));
        s.context->setPositions(x);
        s.context->setVelocities(v);
        return s;
    };
    Simulation s = start();
    expectAll(messageOf([&] { s.integrator->step(60); }), {"particles 0 and 1"});
    const int good = (int) s.context->getStepCount();
    EXPECT_GT(good, 30);
    EXPECT_LT(good, 53);
    Simulation until = start();
    until.integrator->step(good);
    EXPECT_EQ(distance(s.positions(), until.positions()), 0);
    EXPECT_EQ(distance(s.velocities(), until.velocities()), 0);
}

TEST_P(Failures, ALongRunEndsWhereItFails) {
    for (bool hasCutoff : {false, true}) {
        Probe probe;
        Simulation s = runaway([&](System& system) {
            if (hasCutoff)
                addNonbonded(system, system.getNumParticles());
            system.addForce(new ProbeForce(probe));
        });
        EXPECT_NE(fail(s, 100000), "");
        EXPECT_LT(s.context->getStepCount(), 100);
        // Devices look when they sort atoms, every 250 steps; without a cutoff they do not sort.
        EXPECT_LT(probe.forceEvaluations, hasCutoff ? 600 : 21000);
    }
}

TEST_P(Failures, RatesThatContradictEachOtherAreNamedAsRates) {
    // A distance is at rest by one constraint and accelerates by another: a step later the lengths are within the
    // tolerance still, and the rates are not.
    auto system = std::make_unique<System>();
    for (double mass : {12.0, 16.0})
        system->addParticle(mass);
    auto* fixed = new ConstraintForce();
    fixed->addDistance(0, 1, 1.0);
    auto* moving = new CustomConstraintForce(2, "pointdistance(x1,y1,z1,x2,y2,z2) - 1 - 25*t^2");
    moving->addConstraint({0, 1});
    system->addForce(fixed);
    system->addForce(moving);
    ConstraintTests::Setup setup = GetParam();
    std::get<2>(setup) = "Rattle";
    Simulation s(std::move(system), makeIntegrator(setup, 0.002, 1e-4), std::get<0>(setup));
    s.context->setPositions({Vec3(0, 0, 0), Vec3(1, 0, 0)});
    expectAll(messageOf([&] { s.integrator->step(1); }), {"velocity stage", "particles 0 and 1", "rate of change"});
    EXPECT_EQ(s.context->getStepCount(), 0);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Failures, testing::ValuesIn(oneSetupOfEach(allSetups())),
                         [](const auto& info) { return nameOf(info.param); });
