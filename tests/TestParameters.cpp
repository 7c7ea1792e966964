// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Context parameters that constraints depend on: after a change, asking for energies and forces throws until the
// positions are projected.
#include "support/Messages.h"
#include "support/Simulation.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class Parameters : public testing::TestWithParam<Setup> {
protected:
    const std::string platform = std::get<0>(GetParam());
    double within(double tolerance) const {
        return 1.01 * attainable(platform, tolerance);
    }
    /** Two particles: one on a sphere of radius "r", one on a plane that depends on nothing. */
    Simulation start() const {
        auto system = std::make_unique<System>();
        for (double mass : {12.0, 16.0})
            system->addParticle(mass);
        auto* sphere = new CustomConstraintForce(1, "sqrt(x1^2 + y1^2 + z1^2) - r");
        sphere->addGlobalParameter("r", 0.5);
        sphere->addConstraint({0});
        auto* plane = new CustomConstraintForce(1, "z1");
        plane->addConstraint({1});
        auto* spring = new HarmonicBondForce();
        spring->addBond(0, 1, 0.3, 100);
        for (Force* force : std::initializer_list<Force*>{sphere, plane, spring})
            system->addForce(force);
        Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001), platform);
        s.context->setPositions(places(0.5));
        s.context->setVelocities({Vec3(0, 1, 0), Vec3(1, 0, 0)});
        return s;
    }
    static Vectors places(double r) {
        return {Vec3(0, 0.6 * r, 0.8 * r), Vec3(0.2, 0, 0)};
    }
    static double radius(const Simulation& s) {
        const Vec3 x = s.positions()[0];
        return std::sqrt(x.dot(x));
    }
    /** Everything that is computed from forces or energies. */
    static std::vector<std::string> messages(Simulation& s) {
        std::vector<std::string> all;
        for (int groups : {-1, 1 << 7}) // not that of any Force
            for (int types : {(int) State::Energy, (int) State::Forces})
                all.push_back(messageOf([&] { s.context->getState(types, false, groups); }));
        all.push_back(messageOf([&] { s.integrator->computeMultipliers(); }));
        all.push_back(messageOf([&] { s.integrator->computeSystemTemperature(); }));
        return all;
    }
    static void expectRefused(Simulation& s) {
        const Vectors before = s.positions(); // may be read
        for (const std::string& message : messages(s))
            expectAll(message, {"\"r\" is ", "constraint 0 of the CustomConstraintForce with index 0", "particle 0",
                                "integrator.applyConstraints()"});
        EXPECT_EQ(distance(s.positions(), before), 0);
    }
    static void expectAllowed(Simulation& s) {
        for (const std::string& message : messages(s))
            EXPECT_EQ(message, "");
    }
};

} // namespace

TEST_P(Parameters, ThatChangedWantAProjectionBeforeEnergies) {
    Simulation s = start();
    expectAllowed(s);
    s.integrator->step(3);
    expectAllowed(s);
    s.context->setParameter("r", 0.51);
    expectRefused(s);
    s.integrator->applyConstraints();
    EXPECT_NEAR(radius(s), 0.51, within(1e-10));
    expectAllowed(s);
    s.context->setParameter("r", 0.52);
    expectRefused(s);
    s.integrator->step(1); // projects
    EXPECT_NEAR(radius(s), 0.52, within(1e-10));
    expectAllowed(s);
}

TEST_P(Parameters, ThatThePositionsMeetAreAllowed) {
    Simulation s = start();
    s.integrator->step(3);
    s.context->setParameter("r", 0.51);
    s.context->setParameter("r", 0.5); // set back
    expectAllowed(s);
    s.context->setParameter("r", 0.51);
    expectRefused(s);
    s.context->setParameter("r", 0.5);
    expectAllowed(s);
    s.context->setParameter("r", 0.51);
    s.context->setPositions(places(0.51));
    expectAllowed(s);
    s.context->setParameter("r", 0.5); // the positions satisfied this value before, but not now
    expectRefused(s);
    s.integrator->applyConstraints();
    const State meeting = s.context->getState(State::Positions | State::Parameters);
    s.context->setParameter("r", 0.51);
    expectRefused(s);
    s.context->setState(meeting);
    expectAllowed(s);
}

TEST_P(Parameters, OfACheckpointAreThoseOfItsPositions) {
    Simulation s = start();
    s.context->setParameter("r", 0.51);
    s.integrator->step(3);
    std::stringstream checkpoint;
    s.context->createCheckpoint(checkpoint);
    s.context->setParameter("r", 0.53);
    s.integrator->step(1);
    s.context->loadCheckpoint(checkpoint);
    expectAllowed(s);
    const double then = radius(s);
    EXPECT_NEAR(then, 0.51, within(1e-10));
    s.context->setParameter("r", 0.52); // the state of the checkpoint does not meet this one
    expectRefused(s);
    s.integrator->setStepSize(0); // only the projection is left
    s.integrator->step(1);
    EXPECT_NEAR(radius(s), 0.52, within(1e-10));
}

TEST_P(Parameters, AreMetBeforeABarostatComputesEnergies) {
    auto system = std::make_unique<System>();
    system->setDefaultPeriodicBoxVectors(Vec3(3, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 3));
    auto* nonbonded = new NonbondedForce();
    nonbonded->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    nonbonded->setCutoffDistance(1);
    Vectors x;
    for (int i = 0; i < 6; i++) {
        system->addParticle(20);
        nonbonded->addParticle(0, 0.3, i % 2 == 0 ? 0.5 : 0);
        x.emplace_back(0.2 * (i % 2), 0.5 * (i / 2), 0.1 * i);
        if (i % 2 == 1)
            nonbonded->addException(i - 1, i, 0, 1, 0);
    }
    auto* pulled = new CustomConstraintForce(2, "distance(p1, p2) - length");
    pulled->setUsesPeriodicBoundaryConditions(true);
    const double first = std::sqrt(0.05);
    pulled->addGlobalParameter("length", first);
    for (int i = 0; i < 6; i += 2)
        pulled->addConstraint({i, i + 1});
    auto* barostat = new MonteCarloBarostat(1, 300, 1);
    barostat->setRandomNumberSeed(3);
    for (Force* force : std::initializer_list<Force*>{nonbonded, pulled, barostat})
        system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001), platform);
    s.context->setPositions(x);
    for (int i = 0; i < 5; i++) {
        const double length = first + 0.002 * i;
        s.context->setParameter("length", length);
        s.integrator->step(1);
        const Vectors now = s.positions();
        for (int p = 0; p < 6; p += 2) {
            const Vec3 d = now[p + 1] - now[p];
            EXPECT_NEAR(std::sqrt(d.dot(d)), length, within(1e-10));
        }
    }
    // Where the projection fails, nothing has changed.
    const Vectors before = s.positions();
    s.context->setParameter("length", std::nan(""));
    EXPECT_NE(messageOf([&] { s.integrator->step(1); }), "");
    EXPECT_EQ(distance(s.positions(), before), 0);
}

TEST_P(Parameters, AreTheBusinessOfTheIntegratorAtWork) {
    auto system = std::make_unique<System>();
    system->addParticle(12);
    auto* sphere = new CustomConstraintForce(1, "sqrt(x1^2 + y1^2 + z1^2) - r");
    sphere->addGlobalParameter("r", 0.5);
    sphere->addConstraint({0});
    system->addForce(sphere);
    CompoundIntegrator compound;
    compound.addIntegrator(makeIntegrator(GetParam(), 0.001).release());
    compound.addIntegrator(makeIntegrator(GetParam(), 0.001).release());
    const auto context = makeContext(*system, compound, platform);
    const auto energy = [&] { return messageOf([&] { context->getState(State::Energy); }); };
    context->setPositions({Vec3(0, 0.3, 0.4)});
    compound.step(1);
    context->setParameter("r", 0.52);
    EXPECT_NE(energy(), "");
    dynamic_cast<ConstraintIntegrator&>(compound.getIntegrator(0)).applyConstraints();
    EXPECT_EQ(energy(), "");
    compound.setCurrentIntegrator(1); // knows the old value, and sees that the positions meet the new one
    EXPECT_EQ(energy(), "");
    context->setParameter("r", 0.5);
    EXPECT_NE(energy(), "");
    compound.step(1);
    EXPECT_EQ(energy(), "");
}

INSTANTIATE_TEST_SUITE_P(Platforms, Parameters, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });
