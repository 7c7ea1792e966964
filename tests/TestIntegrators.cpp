// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

class Integrators : public testing::TestWithParam<Setup> {
protected:
    bool isRattle() const {
        return std::get<2>(GetParam()) == "Rattle";
    }
    std::string platform() const {
        return std::get<0>(GetParam());
    }
    const Precision precision = precisionOf(platform());
    /** Orders of convergence show in a few steps that are long enough for errors above rounding. */
    double shortStep() const {
        return precision.position > 1e-8 ? 0.002 : 0.0005;
    }
    Simulation start(const std::string& name, double dt, double tolerance = 1e-10,
                     Declared declared = Declared::InForce) const {
        return simulate(findSystem(name), declared, GetParam(), dt, tolerance);
    }
};

/** Those without random forces. */
class ConstantEnergyIntegrators : public Integrators {};

TEST_P(Integrators, HoldEverySystemOfTheTable) {
    const double tolerance = 1.01 * attainable(platform(), 1e-9);
    for (const char* box : {"rectangular", "triclinic"}) {
        const std::vector<TestSystem> parts = systemsInTheBoxOf(box);
        Simulation s = simulate(parts, Declared::InForce, GetParam(), 0.002, 1e-9);
        for (int block = 0; block < 5; block++) {
            const Vectors before = s.positions();
            s.integrator->step(2);
            const Vectors after = s.positions(), v = s.velocities();
            for (std::size_t i = 0; i < parts.size(); i++) {
                SCOPED_TRACE(parts[i].name);
                const ConstraintSet set = toConstraintSet(parts[i]);
                const auto verifier = [&](const Vectors& start) {
                    return Verifier(set, parts[i].box, toArrays(partOf(parts, i, start)));
                };
                EXPECT_TRUE(verifier(before).accepts(toArrays(partOf(parts, i, after)), tolerance));
                if (isRattle()) {
                    EXPECT_TRUE(verifier(after).holdsVelocities(toArrays(partOf(parts, i, v)), 0.002, tolerance));
                }
            }
        }
        for (std::size_t i = 0; i < parts.size(); i++)
            EXPECT_GT(distance(partOf(parts, i, s.positions()), toVectors(parts[i].positions)), 1e-3)
                << parts[i].name << ": nothing moved";
    }
}

TEST_P(ConstantEnergyIntegrators, DoTheSameForSystemConstraintsAsForForces) {
    for (const char* name : {"water", "chain", "disjoint"}) {
        Simulation a = start(name, 0.002), b = start(name, 0.002, 1e-10, Declared::InSystem);
        a.integrator->step(20);
        b.integrator->step(20);
        EXPECT_EQ(distance(a.positions(), b.positions()), 0) << name;
    }
}

/** Largest deviation of the energy from its start over a fixed time. A Langevin integrator reports the kinetic energy
 *  half a step before the positions: that at the positions is the mean with the next one, to second order. */
static double energyError(Simulation& s, double time, bool halfAStepBehind) {
    double initial = 0, largest = 0;
    const int steps = (int) std::lround(time / s.integrator->getStepSize());
    for (int i = 0; i <= steps; i++) {
        const State here = s.context->getState(State::Energy);
        s.integrator->step(1);
        double kinetic = here.getKineticEnergy();
        if (halfAStepBehind)
            kinetic = 0.5 * (kinetic + s.context->getState(State::Energy).getKineticEnergy());
        const double energy = kinetic + here.getPotentialEnergy();
        if (i == 0)
            initial = energy;
        largest = std::max(largest, std::abs(energy - initial));
    }
    return largest;
}

TEST_P(ConstantEnergyIntegrators, ConserveEnergyToSecondOrder) {
    for (const char* name : {"CH3", "chain"}) {
        Simulation coarse = start(name, 2 * shortStep(), 1e-12), fine = start(name, shortStep(), 1e-12);
        const double kinetic = coarse.context->getState(State::Energy).getKineticEnergy();
        const bool halfAStepBehind = std::get<2>(GetParam()) == "FrictionlessLangevin";
        const double coarseError = energyError(coarse, 0.3, halfAStepBehind);
        const double fineError = energyError(fine, 0.3, halfAStepBehind);
        EXPECT_LT(coarseError, 0.05 * kinetic) << name;
        EXPECT_NEAR(coarseError / fineError, 4, 1) << name;
        EXPECT_GT(std::abs(coarse.context->getState(State::Energy).getKineticEnergy() - kinetic), 10 * coarseError)
            << name << ": kinetic and potential energy have to exchange for this to mean anything";
    }
}

/** Where a trajectory of fixed initial conditions at t = 0 is after a time. */
static Vectors endOf(const TestSystem& system, Setup setup, double dt, double time) {
    Simulation s = simulate(system, Declared::InForce, setup, dt, 1e-13);
    if (std::get<2>(setup) != "Rattle") { // takes v(-dt/2); what this has along the gradients, lambda absorbs
        const State state = s.context->getState(State::Velocities | State::Forces);
        Vectors v = state.getVelocities();
        for (std::size_t i = 0; i < v.size(); i++)
            if (system.masses[i] > 0)
                v[i] -= state.getForces()[i] * (0.5 * dt / system.masses[i]);
        s.context->setVelocities(v);
    }
    s.integrator->step((int) std::lround(time / dt));
    return s.positions();
}

TEST_P(ConstantEnergyIntegrators, ConvergeAtSecondOrder) {
    for (const char* name : {"water", "chain", "anchor"}) {
        const TestSystem& system = findSystem(name);
        const double time = 0.064;
        const Vectors exact =
            endOf(system, {"Reference", ConstraintIntegrator::MatrixInversion, "Rattle"}, 6.25e-5, time);
        const double coarse = distance(endOf(system, GetParam(), 2 * shortStep(), time), exact);
        const double fine = distance(endOf(system, GetParam(), shortStep(), time), exact);
        EXPECT_GT(fine, 1e-8 + 10 * precision.position) << name << ": nothing to compare";
        EXPECT_NEAR(coarse / fine, 4, 0.35) << name;
    }
}

/** Sum of m v, and of m r x v. */
static std::pair<Vec3, Vec3> momenta(const Simulation& s) {
    const Vectors r = s.positions(), v = s.velocities();
    Vec3 linear, angular;
    for (std::size_t i = 0; i < r.size(); i++) {
        linear += v[i] * s.system->getParticleMass(i);
        angular += r[i].cross(v[i]) * s.system->getParticleMass(i);
    }
    return {linear, angular};
}

TEST_P(ConstantEnergyIntegrators, ConserveLinearAndAngularMomentum) {
    for (const char* name : {"water", "chain", "methane"}) {
        // Even with a loose tolerance: each impulse acts along its bond.
        Simulation s = start(name, 0.002, 1e-5);
        const auto [linear, angular] = momenta(s);
        s.integrator->step(100);
        const auto [linearAfter, angularAfter] = momenta(s);
        // Rounded velocities of a hundred steps; forces that OpenMM rounds are not quite opposite.
        const double rounding = 1e-9 + 100 * precision.velocity + 0.1 * precision.force;
        EXPECT_LT(distance({linear}, {linearAfter}), rounding) << name;
        EXPECT_LT(distance({angular}, {angularAfter}), rounding) << name;
        EXPECT_GT(std::sqrt(angular.dot(angular)), 1e-3) << name;
    }
}

TEST_P(ConstantEnergyIntegrators, TurnARigidRotorAsTheClosedFormDoes) {
    TestSystem rotor = findSystem("OH");
    const double d = rotor.bonds[0].length, m0 = rotor.masses[0], m1 = rotor.masses[1], omega = 20, dt = 0.001;
    rotor.positions = {{0, 0, 0}, {d, 0, 0}};
    auto system = toOpenMM(rotor, Declared::InForce);
    Simulation s(std::move(system), makeIntegrator(GetParam(), dt, 1e-13), platform());
    s.context->setPositions(toVectors(rotor.positions));
    const double v0 = -omega * d * m1 / (m0 + m1), v1 = omega * d * m0 / (m0 + m1);
    s.context->setVelocities({Vec3(0, v0, 0), Vec3(0, v1, 0)});
    const int steps = 100;
    s.integrator->step(steps);
    // Both methods turn by the same angle every step: sin(a) = omega dt in the first, since the new bond is the old one
    // shortened by the multiplier plus dt times the tangent velocity; after it the motion is periodic in that angle.
    const double angle = steps * std::asin(omega * dt);
    const Vectors r = s.positions();
    const Vec3 bond = r[1] - r[0];
    EXPECT_LT(distance({bond}, {Vec3(d * std::cos(angle), d * std::sin(angle), 0)}), 1e-10 + precision.position);
    EXPECT_NEAR(angle, omega * dt * steps, 2e-4);
}

TEST_P(ConstantEnergyIntegrators, TakeOtherStepSizesBetweenSteps) {
    Simulation s = start("chain", 0.002), fresh = start("chain", 0.001);
    s.integrator->step(5);
    s.integrator->setStepSize(0.001);
    fresh.context->setPositions(s.positions());
    fresh.context->setVelocities(s.velocities());
    s.integrator->step(5);
    fresh.integrator->step(5);
    EXPECT_LT(distance(s.positions(), fresh.positions()), 1e-9 + precision.position);
    EXPECT_NEAR(s.context->getState(0).getTime(), 5 * 0.002 + 5 * 0.001, 1e-12);
}

TEST_P(Integrators, DoNothingInZeroSteps) {
    Simulation s = start("chain", 0.002);
    s.integrator->step(3);
    const Vectors r = s.positions(), v = s.velocities();
    s.integrator->step(0);
    EXPECT_EQ(distance(s.positions(), r), 0);
    EXPECT_EQ(distance(s.velocities(), v), 0);
    EXPECT_EQ(s.context->getStepCount(), 3);
}

TEST_P(Integrators, DoNotMoveMasslessParticles) {
    Simulation s = start("anchor", 0.002);
    Vectors v = s.velocities();
    v[0] = Vec3(5, 5, 5); // means nothing
    s.context->setVelocities(v);
    const Vec3 anchor = s.positions()[0];
    s.integrator->step(50);
    EXPECT_EQ(distance({s.positions()[0]}, {anchor}), 0);
    EXPECT_GT(distance({s.positions()[1]}, {toVectors(findSystem("anchor").positions)[1]}), 1e-3);
}

TEST_P(Integrators, IgnoreSystemConstraintsBetweenMasslessParticles) {
    // As OpenMM's testConstrainedMasslessParticles asks: 0, 2 and 3 do not hold, and are a straight line by their
    // lengths, which would be taken for a rigid body.
    auto system = std::make_unique<System>();
    for (double mass : {0.0, 0.0, 0.0, 5.0, 9.0})
        system->addParticle(mass);
    system->addConstraint(0, 1, 0.4);
    system->addConstraint(3, 4, 0.1);
    system->addConstraint(1, 2, 0.2);
    system->addConstraint(0, 2, 0.2);
    auto* anchor = new ConstraintForce();
    anchor->addDistance(2, 3, 0.1);
    system->addForce(anchor);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.002), platform());
    s.context->setPositions({Vec3(1, 0, 0), Vec3(1, 1, 0), Vec3(), Vec3(0.1, 0, 0), Vec3(0.1, 0.1, 0)});
    s.context->setVelocitiesToTemperature(300, 1);
    const Vectors before = s.positions();
    s.integrator->applyConstraints();
    s.integrator->applyVelocityConstraints();
    s.integrator->step(10);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(s.positions()[i], before[i]);
        EXPECT_EQ(s.velocities()[i], Vec3());
    }
    EXPECT_EQ(s.integrator->getNumDegreesOfFreedom(), 4);
    EXPECT_EQ(s.integrator->getSolverSummary().worstConstraint % 3, 1);
    for (const std::vector<double>& multipliers :
         {s.integrator->getMultipliers(), s.integrator->computeMultipliers()}) {
        ASSERT_EQ(multipliers.size(), 5u);
        for (int k = 0; k < 5; k++)
            EXPECT_EQ(multipliers[k] != 0, k == 1 || k == 4) << k;
    }
}

TEST_P(Integrators, PlaceVirtualSites) {
    const TestSystem& water = findSystem("water");
    auto system = toOpenMM(water, Declared::InForce);
    const int site = system->addParticle(0);
    system->setVirtualSite(site, new ThreeParticleAverageSite(0, 1, 2, 0.6, 0.3, 0.1));
    auto* pull = new CustomExternalForce("-50*x+80*y");
    pull->addParticle(site, {});
    system->addForce(pull);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.002), platform());
    Vectors start = toVectors(water.positions);
    start.push_back(start[0] * 0.6 + start[1] * 0.3 + start[2] * 0.1);
    s.context->setPositions(start);
    s.integrator->step(10);
    const Vectors r = s.positions();
    EXPECT_LT(distance({r[3]}, {r[0] * 0.6 + r[1] * 0.3 + r[2] * 0.1}), 1e-12 + 0.01 * precision.force);
    EXPECT_GT(distance({r[3]}, {start[3]}), 1e-4) << "its force has to reach the atoms";
}

TEST_P(Integrators, MoveParticlesWithoutConstraintsAsWell) {
    TestSystem free = findSystem("disjoint");
    Simulation s = start("disjoint", 0.001);
    const Vec3 before = s.positions()[6];
    s.integrator->step(1);
    EXPECT_GT(distance({s.positions()[6]}, {before}), 1e-5);
    free.bonds.clear();
    Simulation none = simulate(free, Declared::InForce, GetParam(), 0.001);
    none.integrator->step(10);
    EXPECT_EQ(none.integrator->getSolverSummary().clusters, 0);
    EXPECT_EQ(none.context->getStepCount(), 10);
}

INSTANTIATE_TEST_SUITE_P(Platforms, Integrators, testing::ValuesIn(allSetups()),
                         [](const auto& info) { return nameOf(info.param); });
INSTANTIATE_TEST_SUITE_P(Platforms, ConstantEnergyIntegrators, testing::ValuesIn(constantEnergySetups()),
                         [](const auto& info) { return nameOf(info.param); });
