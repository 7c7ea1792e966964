// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Kinetic energies of projected velocities. Devices compute them where a step has left the state, and the host
// otherwise: in a new Context, from which no step was taken.
#include "support/Messages.h"
#include "support/Mixture.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class KineticEnergies : public testing::TestWithParam<Setup> {
protected:
    std::string platform() const {
        return std::get<0>(GetParam());
    }
    /** Every kind of constraint, some moving and some redundant, in a triclinic box; with a cutoff devices sort atoms.
     */
    Simulation start(double tolerance, Solver solver = ConstraintIntegrator::MatrixInversion) const {
        Mixture mixture = drawMixture(2, true);
        const int n = mixture.system->getNumParticles();
        auto* nonbonded = new NonbondedForce();
        nonbonded->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
        nonbonded->setCutoffDistance(0.5);
        for (int i = 0; i < n; i++)
            nonbonded->addParticle(0, 0.1, 0);
        mixture.system->addForce(nonbonded);
        auto* slope = new CustomExternalForce("20*sin(3*x)+15*y");
        for (int i = 0; i < n; i++)
            slope->addParticle(i, {});
        mixture.system->addForce(slope);
        IntegratorPointer integrator = makeIntegrator(GetParam(), 0.0005, tolerance);
        integrator->setSolver(solver);
        Simulation s(std::move(mixture.system), std::move(integrator), platform());
        s.context->setPositions(mixture.positions);
        s.context->setVelocities(mixture.velocities);
        return s;
    }
    static double energy(const Context& context) {
        return context.getState(State::Energy).getKineticEnergy();
    }
    double inNewContext(const Simulation& s) const {
        const auto integrator = makeIntegrator(GetParam(), 0.0005, s.integrator->getConstraintTolerance());
        integrator->setSolver(s.integrator->getSolver());
        const auto context = makeContext(*s.system, *integrator, platform());
        Vec3 box[3];
        s.context->getState(0).getPeriodicBoxVectors(box[0], box[1], box[2]);
        context->setPeriodicBoxVectors(box[0], box[1], box[2]);
        context->setTime(s.context->getTime());
        context->setPositions(s.positions());
        context->setVelocities(s.velocities());
        return energy(*context);
    }
    void expectThatOfANewContext(const Simulation& s) const {
        const double expected = inNewContext(s);
        EXPECT_NEAR(energy(*s.context), expected, (1e-9 + 10 * precisionOf(platform()).velocity) * expected);
        EXPECT_GT(expected, 1);
    }
};

} // namespace

TEST_P(KineticEnergies, AreTheSameOnTheDeviceAndOnTheHost) {
    Simulation s = start(1e-10);
    expectThatOfANewContext(s);
    for (int steps : {1, 2, 260}) {
        SCOPED_TRACE(steps);
        s.integrator->step(steps);
        const Vectors x = s.positions(), v = s.velocities();
        expectThatOfANewContext(s);
        EXPECT_EQ(distance(s.positions(), x), 0);
        EXPECT_EQ(distance(s.velocities(), v), 0);
    }
    Vectors faster = s.velocities();
    for (Vec3& v : faster)
        v *= 1.5;
    s.context->setVelocities(faster);
    expectThatOfANewContext(s);
}

TEST_P(KineticEnergies, LeaveWhatUsersReadOfTheStep) {
    const auto read = [&](bool withEnergy) {
        Simulation s = start(1e-8);
        s.integrator->step(3);
        if (withEnergy)
            energy(*s.context);
        const SolverSummary summary = s.integrator->getSolverSummary();
        return std::tuple(s.integrator->getMultipliers(), s.integrator->getVelocityMultipliers(),
                          s.integrator->getConstraintForces(), summary.iterations, summary.maxError,
                          s.integrator->getConstraintWork());
    };
    EXPECT_EQ(read(true), read(false));
}

TEST_P(KineticEnergies, OfPositionsOffTheConstraintsAreThoseOfTheHost) {
    Simulation s = start(0.02, ConstraintIntegrator::Iterative);
    s.integrator->step(20);
    s.integrator->setConstraintTolerance(1e-6);
    const Vectors x = s.positions();
    expectThatOfANewContext(s);
    EXPECT_EQ(distance(s.positions(), x), 0);
    EXPECT_EQ(messageOf([&] { s.integrator->step(2); }), ""); // that the device could not was no failure of a step
}

/** Somebody who computes forces may have moved particles, so the next step measures them, and projects here. */
TEST_P(KineticEnergies, LeaveTheNextStepAsItIs) {
    const auto after = [&](bool withEnergy) {
        Simulation s = start(0.02, ConstraintIntegrator::Iterative);
        s.integrator->step(20);
        s.integrator->setConstraintTolerance(1e-6);
        s.context->getState(State::Forces);
        if (withEnergy)
            energy(*s.context);
        s.integrator->step(1);
        return std::pair(s.positions(), s.velocities());
    };
    const auto [x, v] = after(false);
    const auto [xAfter, vAfter] = after(true);
    EXPECT_EQ(distance(xAfter, x), 0);
    EXPECT_EQ(distance(vAfter, v), 0);
}

static std::vector<ConstraintTests::Setup> projectedSetups() {
    std::vector<ConstraintTests::Setup> setups;
    for (const std::string& platform : platformsUnderTest()) {
        setups.emplace_back(platform, ConstraintIntegrator::MatrixInversion, "Shake");
        setups.emplace_back(platform, ConstraintIntegrator::MatrixInversion, "RattleLangevin");
    }
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, KineticEnergies, testing::ValuesIn(projectedSetups()),
                         [](const auto& info) { return nameOf(info.param); });
