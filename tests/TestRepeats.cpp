// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The same start and seed give the same run bit for bit, in another Context as well.
#include "support/Simulation.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** Small clusters and general ones, periodic or not, some with constraints that depend on others. */
Simulation after20Steps(const ConstraintTests::Setup& setup) {
    Simulation s = simulate(systemsInTheBoxOf("triclinic"), Declared::InForce, setup, 0.0005, 1e-8);
    s.integrator->step(20);
    return s;
}

class Runs : public testing::TestWithParam<ConstraintTests::Setup> {};

} // namespace

TEST_P(Runs, RepeatBitForBit) {
    const Simulation first = after20Steps(GetParam()), second = after20Steps(GetParam());
    EXPECT_EQ(distance(first.positions(), second.positions()), 0);
    EXPECT_EQ(distance(first.velocities(), second.velocities()), 0);
    EXPECT_EQ(first.integrator->getMultipliers(), second.integrator->getMultipliers());
    EXPECT_EQ(first.integrator->getVelocityMultipliers(), second.integrator->getVelocityMultipliers());
}

/** All on platforms whose forces repeat: those of OpenMM's CPU platform need not. */
static std::vector<Setup> repeatingSetups() {
    std::vector<Setup> setups;
    for (const Setup& setup : everySetup())
        if (std::get<0>(setup) != "CPU")
            setups.push_back(setup);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, Runs, testing::ValuesIn(repeatingSetups()),
                         [](const auto& info) { return nameOf(info.param); });
