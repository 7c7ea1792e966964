// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The explicit constraint force: closed forms, the equation of the stabilized step, order, drift and its bound.
#include "support/Messages.h"
#include "support/Simulation.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

constexpr int everything = State::Positions | State::Velocities | State::Forces | State::Energy;

class ExplicitForce : public testing::TestWithParam<Setup> {
protected:
    const double masses[3] = {16.0, 12.0, 1.5};
    const double length[2] = {0.12, 0.1};
    /** Two bonds 1-2-3 with unequal masses and a spring between the ends. */
    Simulation start(double stepSize, const ConstraintTests::Setup& setup, bool removesMotion = false) const {
        auto system = std::make_unique<System>();
        for (double mass : masses)
            system->addParticle(mass);
        auto* spring = new HarmonicBondForce();
        spring->addBond(0, 2, 0.2, 3000);
        auto* constraints = new ConstraintForce();
        constraints->addDistance(0, 1, length[0]);
        constraints->addDistance(1, 2, length[1]);
        system->addForce(spring);
        system->addForce(constraints);
        if (removesMotion)
            system->addForce(new CMMotionRemover());
        Simulation simulation(std::move(system), makeIntegrator(setup, stepSize, 1e-13), std::get<0>(setup));
        simulation.context->setPositions({{length[0], 0, 0}, {0, 0, 0}, {-0.06, 0.08, 0}});
        simulation.context->setVelocities({{0.3, 0.5, 0.2}, {-0.1, -0.2, 0.1}, {0.5, -0.4, 0.6}});
        simulation.integrator->applyVelocityConstraints();
        return simulation;
    }
    Simulation start(double stepSize) const {
        return start(stepSize, GetParam());
    }
    const Precision precision = precisionOf(std::get<0>(GetParam()));
    /** Relative errors of multipliers and of what their forces add up to: an absolute one for forces of 1000. */
    double rounding(double inDouble) const {
        return inDouble + precision.force + 100 * precision.velocity;
    }
    static ConstraintForceIntegrator& own(Simulation& simulation) {
        return dynamic_cast<ConstraintForceIntegrator&>(*simulation.integrator);
    }
    /** J a + J-dot v + 2 alpha J v + beta^2 sigma of a bond, q = |x_ij|. */
    double violation(const State& state, const Vectors& constraintForces, int bond, double alpha, double beta) const {
        auto relative = [&](const Vectors& v) { return v[bond] - v[bond + 1]; };
        Vectors a;
        for (int i = 0; i < 3; i++)
            a.push_back((state.getForces()[i] + constraintForces[i]) / masses[i]);
        const Vec3 x = relative(state.getPositions()), v = relative(state.getVelocities());
        const double r = std::sqrt(x.dot(x)), rate = x.dot(v) / r;
        return x.dot(relative(a)) / r + (v.dot(v) - rate * rate) / r + 2 * alpha * rate +
               beta * beta * (r - length[bond]);
    }
    Vectors forcesOf(const Vectors& x, const std::vector<double>& multipliers) const {
        Vectors f(3);
        for (int bond : {0, 1}) {
            const Vec3 r = x[bond] - x[bond + 1], u = r / std::sqrt(r.dot(r));
            f[bond] += u * multipliers[bond];
            f[bond + 1] -= u * multipliers[bond];
        }
        return f;
    }
};

TEST_P(ExplicitForce, MultipliersAreTheClosedFormOfTwoBondsWithTheSymmetricMatrix) {
    Simulation simulation = start(0.001);
    const State state = simulation.context->getState(everything);
    const Vectors x = state.getPositions(), v = state.getVelocities(), F = state.getForces();
    const Vec3 x12 = x[0] - x[1], x23 = x[1] - x[2], v12 = v[0] - v[1], v23 = v[1] - v[2];
    const double *m = masses, off = -x12.dot(x23) / m[1];
    const double A = (1 / m[0] + 1 / m[1]) * x12.dot(x12), D = (1 / m[1] + 1 / m[2]) * x23.dot(x23);
    const double b1 = -(x12.dot(F[0] / m[0] - F[1] / m[1]) + v12.dot(v12));
    const double b2 = -(x23.dot(F[1] / m[1] - F[2] / m[2]) + v23.dot(v23));
    const double det = A * D - off * off;
    // lambda of |x| is |x| times lambda of |x|^2/2
    const double expected[2] = {length[0] * (D * b1 - off * b2) / det, length[1] * (A * b2 - off * b1) / det};
    for (int step : {0, 1}) {
        const std::vector<double> multipliers =
            step == 0 ? simulation.integrator->computeMultipliers()
                      : (simulation.integrator->step(1), simulation.integrator->getMultipliers());
        for (int bond : {0, 1})
            EXPECT_NEAR(multipliers[bond], expected[bond], rounding(1e-8) * std::abs(expected[bond]));
    }
    // Some published derivations have a plus sign in the lower left element, which is another matrix.
    const double wrong = length[0] * (D * b1 - off * b2) / (A * D + off * off);
    EXPECT_GT(std::abs(wrong - expected[0]), 0.01 * std::abs(expected[0]));
}

TEST_P(ExplicitForce, OneBondIsTheClosedForm) {
    System system;
    system.addParticle(3);
    system.addParticle(5);
    auto* field = new CustomExternalForce("7*x+3*x*y-2*z");
    field->addParticle(0, {});
    field->addParticle(1, {});
    system.addForce(field);
    system.addConstraint(0, 1, 0.3);
    auto integrator = makeIntegrator(GetParam(), 0.001, 1e-13);
    auto context = makeContext(system, *integrator, std::get<0>(GetParam()));
    context->setPositions({{0.1, 0.2, 0.3}, {0.1, 0.2, 0.6}});
    context->setVelocities({{1, 2, 0.5}, {-1, 0.3, 0.5}});
    const State state = context->getState(everything);
    const Vectors x = state.getPositions(), v = state.getVelocities(), F = state.getForces();
    const Vec3 r = x[0] - x[1], w = v[0] - v[1];
    const double expected = -3 * 5 / (8 * 0.09) * (r.dot(F[0] / 3 - F[1] / 5) + w.dot(w)) * 0.3;
    EXPECT_NEAR(integrator->computeMultipliers()[0], expected, rounding(1e-9) * std::abs(expected));
}

TEST_P(ExplicitForce, StabilizedStepSolvesItsEquationToRounding) {
    for (double feedback : {0.0, 30.0, 400.0}) {
        Simulation simulation = start(0.002);
        own(simulation).setStabilization(feedback, 0.7 * feedback);
        own(simulation).setMaxDrift(0.1);
        simulation.integrator->step(30); // until something has drifted
        for (int i = 0; i < 5; i++) {
            const State state = simulation.context->getState(everything);
            simulation.integrator->step(1);
            const Vectors forces = simulation.integrator->getConstraintForces();
            for (int bond : {0, 1}) {
                const double size = 1000; // of the terms
                EXPECT_NEAR(violation(state, forces, bond, feedback, 0.7 * feedback), 0, rounding(1e-9) * size);
                if (feedback > 0) {
                    EXPECT_GT(std::abs(violation(state, forces, bond, 0, 0)), 1e-7);
                }
            }
        }
    }
}

TEST_P(ExplicitForce, InstantaneousMultipliersKeepTheConstraintsToRounding) {
    for (const char* integrator : {"Rattle", "ConstraintForce"}) {
        ConstraintTests::Setup setup = GetParam();
        std::get<2>(setup) = integrator;
        Simulation simulation = start(0.001, setup);
        simulation.integrator->step(20);
        simulation.integrator->applyConstraints();
        simulation.integrator->applyVelocityConstraints();
        const State state = simulation.context->getState(everything);
        const Vectors forces = forcesOf(state.getPositions(), simulation.integrator->computeMultipliers());
        for (int bond : {0, 1})
            EXPECT_NEAR(violation(state, forces, bond, 0, 0), 0, 1000 * rounding(1e-11));
    }
}

TEST_P(ExplicitForce, IsOfSecondOrderAndGoesWhereRattleGoes) {
    const double time = 0.2;
    Simulation reference = start(0.00002, {"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"});
    reference.integrator->step((int) std::lround(time / 0.00002));
    double error[2];
    for (int i : {0, 1}) {
        const double coarse = precision.position > 1e-8 ? 0.004 : 0.001, stepSize = i == 0 ? coarse : coarse / 2;
        Simulation simulation = start(stepSize);
        simulation.integrator->step((int) std::lround(time / stepSize));
        error[i] = distance(simulation.positions(), reference.positions());
    }
    EXPECT_GT(error[0], 1e-7);
    EXPECT_LT(error[1], 0.3 * error[0]);
}

TEST_P(ExplicitForce, FeedbackKeepsTheDriftSmall) {
    double drift[2];
    for (int i : {0, 1}) {
        Simulation simulation = start(0.001);
        own(simulation).setMaxDrift(0.5);
        if (i == 0)
            own(simulation).setStabilization(0, 0);
        simulation.integrator->step(2000);
        drift[i] = simulation.integrator->getSolverSummary().maxError;
    }
    EXPECT_LT(drift[1], 1e-3);
    EXPECT_GT(drift[0], 10 * drift[1]);
}

TEST_P(ExplicitForce, VelocitiesDriftBesideACMMotionRemoverToo) {
    Vectors bonds[2];
    for (bool removesMotion : {false, true}) {
        Simulation simulation = start(0.001, GetParam(), removesMotion);
        simulation.integrator->step(20);
        const Vectors x = simulation.context->getState(State::Positions).getPositions();
        bonds[removesMotion] = {x[0] - x[1], x[1] - x[2]};
    }
    for (int bond : {0, 1})
        for (int axis : {0, 1, 2})
            EXPECT_NEAR(bonds[1][bond][axis], bonds[0][bond][axis],
                        1e-12 + 100 * precision.position + 1e-3 * precision.force);
}

TEST_P(ExplicitForce, MayBeReadBesideAnAndersenThermostat) {
    auto system = std::make_unique<System>();
    for (double mass : masses)
        system->addParticle(mass);
    system->addConstraint(0, 1, length[0]);
    system->addConstraint(1, 2, length[1]);
    auto* thermostat = new AndersenThermostat(300, 200);
    thermostat->setRandomNumberSeed(3);
    system->addForce(thermostat);
    Simulation simulation(std::move(system), makeIntegrator(GetParam(), 0.001), std::get<0>(GetParam()));
    simulation.context->setPositions({{length[0], 0, 0}, {0, 0, 0}, {-0.06, 0.08, 0}});
    for (int step = 0; step < 50; step++) {
        simulation.integrator->step(1);
        simulation.context->getState(everything);
    }
    EXPECT_EQ(simulation.context->getStepCount(), 50);
}

TEST_P(ExplicitForce, ADriftBeyondTheBoundThrowsAndLeavesTheLastGoodState) {
    Simulation simulation = start(0.001);
    own(simulation).setStabilization(0, 0);
    own(simulation).setMaxDrift(1e-5);
    expectAll(messageOf([&] { simulation.integrator->step(100000); }),
              {"drifted", "1e-05", "of the ConstraintForce", "setStabilization"});
    const State state = simulation.context->getState(everything);
    EXPECT_NEAR(state.getTime(), state.getStepCount() * 0.001, 1e-9);
    const Vec3 r = state.getPositions()[0] - state.getPositions()[1];
    EXPECT_LT(std::abs(std::sqrt(r.dot(r)) / length[0] - 1), 1.01e-5);
}

TEST_P(ExplicitForce, ContinuesADriftedStateBitForBitFromACheckpoint) {
    if (std::get<0>(GetParam()) == "CPU")
        return; // its forces are not the same from run to run
    Simulation whole = start(0.001), first = start(0.001), second = start(0.001), third = start(0.001);
    whole.integrator->step(200);
    first.integrator->step(100);
    std::stringstream checkpoint, ofLoaded;
    first.context->createCheckpoint(checkpoint);
    second.context->loadCheckpoint(checkpoint);
    second.context->createCheckpoint(ofLoaded); // as reinitialize(true) does
    third.context->loadCheckpoint(ofLoaded);
    for (Simulation* loaded : {&second, &third}) {
        loaded->integrator->step(100);
        EXPECT_EQ(distance(whole.positions(), loaded->positions()), 0);
        EXPECT_EQ(distance(whole.velocities(), loaded->velocities()), 0);
    }
}

TEST_P(ExplicitForce, ContinuesADriftedStateWithMovingConstraintsAndParametersBitForBitFromACheckpoint) {
    if (std::get<0>(GetParam()) == "CPU")
        return; // its forces are not the same from run to run
    auto simulate = [&] {
        auto system = std::make_unique<System>();
        for (double mass : masses)
            system->addParticle(mass);
        auto* constraints = new ConstraintForce();
        constraints->addGlobalParameter("lambda", 0);
        constraints->addDistance(0, 1, length[0], 0.1);
        constraints->addDistance(1, 2, length[1]);
        constraints->setDistanceInterpolation(1, "lambda", 0.11);
        system->addForce(constraints);
        Simulation simulation(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-13), std::get<0>(GetParam()));
        simulation.context->setPositions({{length[0], 0, 0}, {0, 0, 0}, {-0.06, 0.08, 0}});
        simulation.context->setVelocities({{0.3, 0.5, 0.2}, {-0.1, -0.2, 0.1}, {0.5, -0.4, 0.6}});
        return simulation;
    };
    Simulation whole = simulate(), second = simulate();
    whole.context->setParameter("lambda", 0.5);
    whole.integrator->step(100);
    std::stringstream checkpoint;
    whole.context->createCheckpoint(checkpoint);
    second.context->loadCheckpoint(checkpoint);
    whole.integrator->step(100);
    second.integrator->step(100);
    EXPECT_EQ(distance(whole.positions(), second.positions()), 0);
    EXPECT_EQ(distance(whole.velocities(), second.velocities()), 0);
}

TEST_P(ExplicitForce, ContinuesFromACheckpointBitForBitBesideACMMotionRemover) {
    if (std::get<0>(GetParam()) == "CPU")
        return; // its forces are not the same from run to run
    Simulation simulation = start(0.001, GetParam(), true);
    own(simulation).setStabilization(0, 0); // it drifts by more than the tolerance
    for (int steps : {3, 20, 50}) {
        simulation.integrator->step(steps);
        std::stringstream checkpoint;
        simulation.context->createCheckpoint(checkpoint);
        simulation.integrator->step(10);
        const Vectors x = simulation.positions();
        simulation.context->loadCheckpoint(checkpoint);
        simulation.integrator->step(10);
        EXPECT_EQ(distance(simulation.positions(), x), 0);
    }
}

TEST_P(ExplicitForce, ConservesMomentaAndEnergyAsItsOrderAllows) {
    Simulation simulation = start(0.0005);
    const double energy = simulation.energy();
    simulation.integrator->step(2000);
    EXPECT_NEAR(simulation.energy(), energy, 0.02);
}

TEST_P(ExplicitForce, DoesNotDependOnTheVelocityOfAMasslessParticle) {
    const auto run = [this](const Vec3& meaningless) {
        Simulation s = simulate(findSystem("anchor"), Declared::InForce, GetParam(), 0.0005);
        Vectors v = s.velocities();
        v[0] = meaningless;
        s.context->setVelocities(v);
        s.integrator->step(10);
        return std::make_pair(s.positions(), s.integrator->getVelocityMultipliers());
    };
    const auto atRest = run(Vec3()), given = run(Vec3(5, 5, 5));
    EXPECT_EQ(distance(atRest.first, given.first), 0);
    EXPECT_EQ(atRest.second, given.second);
}

TEST_P(ExplicitForce, RefusesBadSettings) {
    ConstraintForceIntegrator integrator(0.001);
    EXPECT_THROW(integrator.setStabilization(-1, 0), OpenMMException);
    EXPECT_THROW(integrator.setStabilization(0, NAN), OpenMMException);
    EXPECT_THROW(integrator.setMaxDrift(0), OpenMMException);
    double alpha, beta;
    integrator.getStabilization(alpha, beta);
    EXPECT_EQ(alpha, 100);
    EXPECT_EQ(beta, 100);
}

INSTANTIATE_TEST_SUITE_P(All, ExplicitForce, testing::ValuesIn(setupsOf("ConstraintForce")),
                         [](const auto& info) { return nameOf(info.param); });

} // namespace
