// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Forces that others ask for, as OpenMM's minimizer, which ignores constraints of Forces: where positions are far from
// these, computing forces throws, and nothing else does.
#include "openmm/LocalEnergyMinimizer.h"
#include "support/ForeignRun.h"
#include "support/Messages.h"
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Two bonds of 0.1 nm and a force that stretches them: of a Force, unless they are of the System. */
std::unique_ptr<System> stretched(bool isReplacing = false, bool inSystem = false) {
    auto system = std::make_unique<System>();
    for (double mass : {16.0, 1.0, 1.0})
        system->addParticle(mass);
    auto* force = new ConstraintForce();
    force->setReplacesSolver(isReplacing);
    for (int i : {1, 2})
        if (inSystem)
            system->addConstraint(0, i, 0.1);
        else
            force->addDistance(0, i, 0.1);
    system->addForce(force);
    auto* pull = new CustomExternalForce("100*((x-side)^2+y*y+z*z)");
    pull->addPerParticleParameter("side");
    for (int i = 0; i < 3; i++)
        pull->addParticle(i, {i == 0 ? 0.0 : i == 1 ? 1.0 : -1.0});
    system->addForce(pull);
    return system;
}

Vectors at(double length) {
    return {Vec3(), Vec3(length, 0, 0), Vec3(-length, 0, 0)};
}

class ForcesOfOthers : public testing::TestWithParam<Setup> {
protected:
    Simulation start(bool inSystem = false) const {
        Simulation s(stretched(false, inSystem), makeIntegrator(GetParam(), 0.001, 1e-6), std::get<0>(GetParam()));
        s.context->setPositions(at(0.1));
        return s;
    }
};

void expectMinimizeFirst(const std::string& message) {
    expectAll(message, {"0.1 nm", "openmmconstraints.minimize(context)", "applyConstraints()"});
    EXPECT_LT(message.find("minimize(context)"), message.find("applyConstraints()")) << message;
}

} // namespace

TEST_P(ForcesOfOthers, StopOpenMMsMinimizer) {
    Simulation s = start();
    expectMinimizeFirst(messageOf([&] { LocalEnergyMinimizer::minimize(*s.context); }));
    s.context->setPositions(at(0.1));
    s.integrator->step(2); // nothing is left of it
    EXPECT_LT(distance(s.positions(), at(0.1)), 1e-3);
}

TEST_P(ForcesOfOthers, ThrowWherePositionsAreFarEnergiesDoNot) {
    Simulation s = start();
    s.context->setPositions(at(0.13)); // both ends move by less than 0.05 nm
    s.context->getState(State::Forces);
    s.context->setPositions(at(0.3));
    s.context->getState(State::Energy);
    expectMinimizeFirst(messageOf([&] { s.context->getState(State::Forces); }));
    expectMinimizeFirst(messageOf([&] { s.context->getState(State::Forces); })); // again
    s.integrator->setMaxProjection(0.5);
    s.context->getState(State::Forces);
    EXPECT_GT(s.integrator->applyConstraints(), 0.1);
    s.integrator->setMaxProjection(0.05);
    s.context->getState(State::Forces);
}

TEST_P(ForcesOfOthers, AreComputedWhereverConstraintsOfTheSystemAre) {
    Simulation s = start(true);
    s.context->setPositions(at(0.3));
    s.context->getState(State::Forces);
}

/** Whoever reads forces before a step changes nothing in it. */
TEST_P(ForcesOfOthers, LeaveStepsAsTheyAre) {
    const auto after = [&](bool readsForces) {
        Simulation s = start();
        for (int n = 0; n < 3; n++) {
            s.context->setPositions(at(0.1 + 0.01 * n));
            if (readsForces)
                s.context->getState(State::Forces);
            s.integrator->step(3);
        }
        return std::pair(s.positions(), s.integrator->getMultipliers());
    };
    const auto read = after(true), unread = after(false);
    EXPECT_EQ(distance(read.first, unread.first), 0);
    EXPECT_EQ(read.second, unread.second);
}

INSTANTIATE_TEST_SUITE_P(Platforms, ForcesOfOthers, testing::ValuesIn(oneSetupOfEach(constantEnergySetups())),
                         [](const auto& info) { return nameOf(info.param); });

class ForcesUnderReplacedSolver : public testing::TestWithParam<std::string> {};

TEST_P(ForcesUnderReplacedSolver, StopOpenMMsMinimizer) {
    ForeignRun run(stretched(true), makeForeign("LangevinMiddle", 0.001, 1e-6), GetParam());
    run.context->setPositions(at(0.1));
    run.context->getState(State::Forces);
    expectAll(messageOf([&] { LocalEnergyMinimizer::minimize(*run.context); }),
              {"0.1 nm", "openmmconstraints.minimize(context)"});
    run.context->setPositions(at(0.3));
    run.context->getState(State::Energy);
    EXPECT_EQ(kindOf([&] { run.context->getState(State::Forces); }), "far-off");
    run.context->setPositions(at(0.12));
    run.context->getState(State::Forces);
    run.integrator->step(3);
}

INSTANTIATE_TEST_SUITE_P(Hosts, ForcesUnderReplacedSolver, testing::Values("Reference", "CPU"),
                         [](const auto& info) { return info.param; });
