// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Constraints that move in time: they are where they should be, and the work that they do is the energy that comes in.
#include "support/BentChain.h"
#include "support/Messages.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** A bent chain of four particles held by springs, with a constraint that moves. */
struct Pulled {
    CoordinateKind kind;
    ConstraintForce* constraints = new ConstraintForce();
    const Vectors positions = bentChainPositions;
    double rate;
    std::unique_ptr<Simulation> simulation;

    Pulled(CoordinateKind kind, double rate, const Setup& setup, double stepSize, double time = 0, double startTime = 0)
        : kind(kind), rate(rate) {
        std::unique_ptr<System> system = makeBentChain();
        const double target = value(positions) - rate * (time - startTime);
        constrainBentChain(*constraints, kind, target, rate, startTime);
        constraints->addDistance(1, 2, std::sqrt(0.05 * 0.05 + 0.14 * 0.14)); // another that does not move
        system->addForce(constraints);
        simulation =
            std::make_unique<Simulation>(std::move(system), makeIntegrator(setup, stepSize, 1e-12), std::get<0>(setup));
        simulation->context->setTime(time);
        simulation->context->setPositions(positions);
        simulation->context->setVelocities(bentChainVelocities);
        simulation->integrator->applyVelocityConstraints();
    }
    double value(const Vectors& x) const {
        return valueInBentChain(kind, x);
    }
    double rateOf(const Vectors& x, const Vectors& v) const {
        Vectors up(4), down(4);
        const double h = 1e-6;
        for (int i = 0; i < 4; i++) {
            up[i] = x[i] + v[i] * h;
            down[i] = x[i] - v[i] * h;
        }
        return (value(up) - value(down)) / (2 * h);
    }
};

class Moving : public testing::TestWithParam<std::tuple<CoordinateKind, Setup>> {
protected:
    const CoordinateKind kind = std::get<0>(GetParam());
    const ConstraintTests::Setup setup = std::get<1>(GetParam());
    const double rate = kind == CoordinateKind::Distance ? 0.1 : 1.0;
    const std::string platform = std::get<0>(setup);
    const Precision precision = precisionOf(platform);
    /** How far a coordinate of bonds of some 0.15 nm may be from its target: angles rather than the length. */
    const double exact = attainable(platform, 1e-11, 0.1);
};

TEST_P(Moving, FollowsItsTargetAtTheContextsTime) {
    Pulled pulled(kind, rate, setup, 0.001, 0.5);
    const double start = pulled.value(pulled.positions);
    for (int block = 1; block <= 5; block++) {
        pulled.simulation->integrator->step(20);
        const double expected = start + rate * 0.02 * block;
        EXPECT_NEAR(pulled.value(pulled.simulation->positions()), expected, exact);
        if (std::get<2>(setup) == "Rattle") {
            EXPECT_NEAR(pulled.rateOf(pulled.simulation->positions(), pulled.simulation->velocities()), rate,
                        1e-7 + exact / 0.001); // solved relative to one step
        }
    }
}

TEST_P(Moving, FollowsItsTargetFromItsStartTimeOnAfterAMicrosecond) {
    // In single precision, neither the time of a step nor the target at time 0 would have a significant digit.
    const double microsecond = 1e6;
    Pulled late(kind, rate, setup, 0.001, microsecond, microsecond), early(kind, rate, setup, 0.001);
    const double start = late.value(late.positions);
    late.simulation->integrator->step(50);
    early.simulation->integrator->step(50);
    // Time is rounded to 1e-10 ps in every step.
    const double elapsed = late.simulation->context->getTime() - microsecond;
    EXPECT_NEAR(late.value(late.simulation->positions()), start + rate * elapsed, exact + rate * 1e-8);
    EXPECT_LT(distance(late.simulation->positions(), early.simulation->positions()), 1e-8 + 10 * precision.position);
    const double work = early.simulation->integrator->getConstraintWork();
    EXPECT_GT(std::abs(work), 0.05);
    EXPECT_NEAR(late.simulation->integrator->getConstraintWork(), work, (1e-5 + 10 * precision.force) * std::abs(work));
}

TEST_P(Moving, WorkIsTheEnergyThatComesIn) {
    // Where velocities are half a step behind, so are the work and the start: first order. There the work is compared
    // with that of velocity Verlet, which is of second order.
    const bool isRattle = std::get<2>(setup) == "Rattle";
    Pulled reference(kind, rate, {"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"}, 0.0001);
    reference.simulation->integrator->step(1000);
    const double referenceWork = reference.simulation->integrator->getConstraintWork();
    EXPECT_GT(std::abs(referenceWork), 0.5); // it does matter
    double error[2];
    for (int i : {0, 1}) {
        const double stepSize = i == 0 ? 0.0004 : 0.0002;
        Pulled pulled(kind, rate, setup, stepSize);
        const double before = pulled.simulation->energy();
        EXPECT_EQ(pulled.simulation->integrator->getConstraintWork(), 0);
        pulled.simulation->integrator->step((int) std::lround(0.1 / stepSize));
        const double expected = isRattle ? pulled.simulation->energy() - before : referenceWork;
        error[i] = std::abs(pulled.simulation->integrator->getConstraintWork() - expected);
    }
    EXPECT_LT(error[0], (isRattle ? 0.02 : 0.04) * std::abs(referenceWork));
    EXPECT_LT(error[1],
              (isRattle ? 0.3 : 0.6) * error[0] + 1e-7 + 10 * precision.force); // of energies of some 10 kJ/mol
}

/** What integrators have in common. */
class MovingStates : public Moving {};

TEST_P(MovingStates, WorkAndTargetsContinueFromACheckpoint) {
    Pulled whole(kind, rate, setup, 0.001), first(kind, rate, setup, 0.001), second(kind, rate, setup, 0.001);
    whole.simulation->integrator->step(20);
    first.simulation->integrator->step(10);
    std::stringstream checkpoint;
    first.simulation->context->createCheckpoint(checkpoint);
    second.simulation->context->loadCheckpoint(checkpoint);
    EXPECT_EQ(second.simulation->integrator->getConstraintWork(), first.simulation->integrator->getConstraintWork());
    second.simulation->integrator->step(10);
    EXPECT_EQ(distance(whole.simulation->positions(), second.simulation->positions()), 0);
    // On devices the sum of the work begins anew.
    const double work = whole.simulation->integrator->getConstraintWork();
    EXPECT_NEAR(second.simulation->integrator->getConstraintWork(), work, 10 * precision.constraint * std::abs(work));
}

TEST_P(MovingStates, ATimeThatIsSetMovesTheTargetAtTheNextStep) {
    Pulled pulled(kind, rate, setup, 0.001);
    const double start = pulled.value(pulled.positions);
    pulled.simulation->integrator->step(5);
    pulled.simulation->context->setTime(0.05);
    pulled.simulation->integrator->step(1);
    EXPECT_NEAR(pulled.value(pulled.simulation->positions()), start + rate * 0.051, exact);
}

auto casesOf(const std::vector<ConstraintTests::Setup>& setups) {
    return testing::Combine(testing::Values(CoordinateKind::Distance, CoordinateKind::Angle, CoordinateKind::Dihedral),
                            testing::ValuesIn(setups));
}

std::string caseName(const testing::TestParamInfo<Moving::ParamType>& info) {
    const char* const names[] = {"Distance_", "Angle_", "Dihedral_"};
    return names[(int) std::get<0>(info.param)] + nameOf(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(All, Moving, casesOf(mostlyRattleSetups()), caseName);
INSTANTIATE_TEST_SUITE_P(All, MovingStates, casesOf(oneSetupOfEach(constantEnergySetups())), caseName);

/** On every platform, by one setup. */
class MovingConstraints : public testing::TestWithParam<std::string> {
protected:
    const std::string platform = GetParam();
    const ConstraintTests::Setup setup = {platform, ConstraintIntegrator::Automatic, "Rattle"};
};

TEST_P(MovingConstraints, StopByNameInTheStepThatWouldLeaveTheirRange) {
    struct Case {
        CoordinateKind kind;
        double limit, steps; // where it would be after so many
        std::string name, setter;
    };
    const double now = 1000;
    for (const Case& c : {Case{CoordinateKind::Distance, 0, 2.5, "distance 0", "setDistanceRate(0"},
                          Case{CoordinateKind::Custom, 0, 2.5, "centroid distance 0", "setCentroidDistanceRate(0"},
                          Case{CoordinateKind::Angle, M_PI, 4.9, "angle 0", "setAngleRate(0"},
                          Case{CoordinateKind::Angle, 0, 4.9, "angle 0", "setAngleRate(0"}}) {
        const double start = valueInBentChain(c.kind, bentChainPositions), rate = (c.limit - start) / (0.001 * c.steps);
        Pulled pulled(c.kind, rate, setup, 0.001, now, now);
        Simulation& s = *pulled.simulation;
        // All in one call, and beyond: nothing else stops it before.
        expectAll(messageOf([&] { s.integrator->step(1000000); }), {c.name, c.setter, "startTime, 1000 ps"});
        const int taken = (int) s.context->getStepCount();
        EXPECT_EQ(taken, (int) c.steps) << c.name;
        const Vectors x = s.positions(), v = s.velocities();
        EXPECT_NEAR(pulled.value(x), start + rate * 0.001 * taken, attainable(platform, 1e-9, 0.1)) << c.name;
        EXPECT_NEAR(s.context->getTime(), now + 0.001 * taken, 1e-9);
        EXPECT_NE(messageOf([&] { s.integrator->step(1); }), "");
        EXPECT_EQ(distance(s.positions(), x), 0) << c.name;
        EXPECT_EQ(distance(s.velocities(), v), 0) << c.name;
        EXPECT_EQ(s.context->getStepCount(), taken);
    }
}

TEST_P(MovingConstraints, NameTheEndOfTheirRangeThatTheyNearInSmallSteps) {
    // Some steps before the limit, particles move by more than the remaining length or bend in one step, and no
    // multipliers can prevent it. A coupled constraint then fails too, and may be the one that is reported as worst.
    struct Case {
        CoordinateKind kind;
        double limit, distance; // distance: how close to the limit it gets at least
        std::string name, setter;
    };
    const double now = 1000;
    const int steps = 200;
    for (const Case& c : {Case{CoordinateKind::Distance, 0, 0.03, "distance 0", "setDistanceRate(0"},
                          Case{CoordinateKind::Custom, 0, 0.03, "centroid distance 0", "setCentroidDistanceRate(0"},
                          Case{CoordinateKind::Angle, M_PI, 0.3, "angle 0", "setAngleRate(0"},
                          Case{CoordinateKind::Angle, 0, 0.3, "angle 0", "setAngleRate(0"}}) {
        const double start = valueInBentChain(c.kind, bentChainPositions),
                     rate = (c.limit - start) / (0.001 * (steps + 0.5));
        Pulled pulled(c.kind, rate, setup, 0.001, now, now);
        Simulation& s = *pulled.simulation;
        for (int call = 0; call < 2; call++) {
            const std::string message = messageOf([&] { s.integrator->step(1000000); });
            expectAll(message, {c.name + " of the ConstraintForce with index 3 (particles 0", " would be ", c.setter,
                                "startTime, 1000 ps", "It has to stay ", "fewer steps"});
            EXPECT_LT(std::abs(pulled.value(s.positions()) - c.limit), c.distance) << message;
        }
        EXPECT_LE(s.context->getStepCount(), steps);
    }
}

TEST_P(MovingConstraints, AreRefusedWhereTheirTargetIsNoNumber) {
    for (CoordinateKind kind : {CoordinateKind::Distance, CoordinateKind::Dihedral}) {
        Pulled pulled(kind, 0.1, setup, 0.001);
        Simulation& s = *pulled.simulation;
        s.integrator->step(2);
        const Vectors x = s.positions();
        s.context->setTime(NAN);
        expectAll(messageOf([&] { s.integrator->step(1); }), {" 0 of the ConstraintForce", "nan"});
        expectAll(messageOf([&] { s.integrator->applyConstraints(); }), {" 0 of the ConstraintForce", "nan"});
        EXPECT_EQ(distance(s.positions(), x), 0);
        s.context->setTime(0.002);
        s.integrator->step(1);
    }
}

TEST_P(MovingConstraints, AreNotProjectedWhereTheirTargetIsNoLength) {
    Pulled pulled(CoordinateKind::Distance, -1, setup, 0.001);
    Simulation& s = *pulled.simulation;
    s.context->setTime(0.2);
    expectAll(messageOf([&] { s.integrator->applyConstraints(); }), {"distance 0", "stay positive"});
    expectAll(messageOf([&] { s.integrator->step(1); }), {"distance 0", "stay positive"});
    EXPECT_LT(distance(s.positions(), pulled.positions), 1e-7);
}

TEST_P(MovingConstraints, BeginInARunningContextWithoutAJump) {
    // A length that was held for a while is set in motion, twice.
    Pulled pulled(CoordinateKind::Distance, 0, setup, 0.001, 1000);
    Simulation& s = *pulled.simulation;
    const double start = pulled.value(pulled.positions);
    s.integrator->step(10);
    for (const double rate : {0.2, -0.1}) {
        const double before = pulled.value(s.positions()), now = s.context->getTime();
        const double energy = s.energy(), work = s.integrator->getConstraintWork();
        pulled.constraints->setDistanceParameters(0, 0, 1, before);
        pulled.constraints->setDistanceRate(0, rate, now);
        EXPECT_EQ(pulled.constraints->getDistanceStartTime(0), now);
        pulled.constraints->updateParametersInContext(*s.context);
        Vectors expected = s.positions();
        const Vectors v = s.velocities();
        for (std::size_t p = 0; p < v.size(); p++)
            expected[p] += v[p] * 0.001;
        s.integrator->step(1);
        EXPECT_LT(distance(s.positions(), expected), 3e-4) << "more than accelerations do in a step";
        EXPECT_NEAR(pulled.value(s.positions()), before + rate * 0.001, attainable(platform, 1e-9, 0.1));
        s.integrator->step(9);
        EXPECT_NEAR(pulled.value(s.positions()), before + rate * 0.01, attainable(platform, 1e-9, 0.1));
        EXPECT_LT(std::abs(s.integrator->getConstraintWork() - work), 5);
        EXPECT_LT(std::abs(s.energy() - energy), 5);
    }
    EXPECT_NEAR(pulled.value(s.positions()), start + 0.001, 1e-5);
}

TEST_P(MovingConstraints, RefusesARateThatIsNoNumber) {
    EXPECT_THROW(Pulled(CoordinateKind::Distance, NAN, setup, 0.001), OpenMMException);
    for (double startTime : {(double) NAN, (double) INFINITY})
        expectAll(messageOf([&] {
                      ConstraintForce* force = new ConstraintForce();
                      force->addDistance(0, 1, 0.1, 0, startTime);
                      System system;
                      system.addParticle(1);
                      system.addParticle(1);
                      system.addForce(force);
                      RattleIntegrator integrator(0.001);
                      makeContext(system, integrator, platform);
                  }),
                  {"distance 0", "start time"});
}

/** Pulled slowly, the work is the free energy difference: of a free dimer in a heat bath, the centrifugal one,
 *  -2 kT ln(d1/d0). */
TEST_P(MovingConstraints, SlowWorkIsTheFreeEnergyDifference) {
    System system;
    auto* force = new ConstraintForce();
    const double d0 = 0.1, d1 = 0.2, duration = 20, rate = (d1 - d0) / duration, temperature = 300, friction = 2;
    const int dimers = 200;
    Vectors positions;
    for (int i = 0; i < dimers; i++) {
        const int first = system.addParticle(10), second = system.addParticle(10);
        force->addDistance(first, second, d0, rate);
        positions.insert(positions.end(), {Vec3(), Vec3(0, 0, d0)});
    }
    system.addForce(force);
    RattleLangevinIntegrator integrator(temperature, friction, 0.008);
    integrator.setRandomNumberSeed(1);
    auto context = makeContext(system, integrator, platform);
    context->setPositions(positions);
    context->setVelocitiesToTemperature(temperature, 1);
    integrator.step((int) std::lround(duration / 0.008));
    // The force -m v^2/d of two squares of normal numbers has a mean of 2 kT/d, as its standard deviation is, and is
    // correlated over 1/(2 friction): so much does the work of one dimer vary, and half of that over kT is dissipated.
    const double kT = 0.00831446261815324 * temperature;
    const double variance = 4 * kT * kT * rate * (1 / d0 - 1 / d1) / friction;
    EXPECT_NEAR(integrator.getConstraintWork() / dimers, -2 * kT * std::log(d1 / d0) + variance / (2 * kT),
                5 * std::sqrt(variance / dimers));
}

INSTANTIATE_TEST_SUITE_P(Platforms, MovingConstraints, testing::ValuesIn(platformsUnderTest()),
                         [](const auto& info) { return info.param; });

} // namespace
