// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Thread blocks serve large clusters on GPUs. On a CPU single threads do, because OpenCL takes long to compile a
// block's barriers for it: few tests run the blocks there.
#include "support/Simulation.h"
#include <cstdlib>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** What single threads do, unless blocks are asked for. */
Simulation after20Steps(const Setup& setup, bool inBlocks) {
    if (inBlocks)
        setenv("OPENMM_CONSTRAINTS_BLOCKS", "1", 1);
    else
        unsetenv("OPENMM_CONSTRAINTS_BLOCKS");
    Simulation s = simulate(findSystem("chain"), Declared::InForce, setup, 0.002, 1e-9);
    s.integrator->step(20);
    unsetenv("OPENMM_CONSTRAINTS_BLOCKS");
    return s;
}

class ThreadGroups : public testing::TestWithParam<Setup> {};

} // namespace

TEST_P(ThreadGroups, DoAsSingleThreadsDo) {
    const double rounding = std::max(precisionOf(std::get<0>(GetParam())).position, 1e-12);
    Simulation inBlocks = after20Steps(GetParam(), true), alone = after20Steps(GetParam(), false);
    EXPECT_LT(distance(inBlocks.positions(), alone.positions()), 20 * rounding);
    EXPECT_LT(distance(inBlocks.velocities(), alone.velocities()), 2e4 * rounding);
    EXPECT_GT(distance(inBlocks.positions(), toVectors(findSystem("chain").positions)), 1e-3);
}

TEST_P(ThreadGroups, RepeatBitForBit) {
    const Simulation first = after20Steps(GetParam(), true), second = after20Steps(GetParam(), true);
    EXPECT_EQ(distance(first.positions(), second.positions()), 0);
    EXPECT_EQ(distance(first.velocities(), second.velocities()), 0);
    EXPECT_EQ(first.integrator->getMultipliers(), second.integrator->getMultipliers());
    EXPECT_EQ(first.integrator->getVelocityMultipliers(), second.integrator->getVelocityMultipliers());
}

/** Every solver with every integrator, in one of the precisions. */
static std::vector<Setup> someSetups() {
    const char* const platforms[] = {"OpenCLSingle", "OpenCLMixed", "OpenCLDouble"};
    int turn = 0;
    std::vector<Setup> setups;
    for (Solver solver : {ConstraintIntegrator::Iterative, ConstraintIntegrator::MatrixInversion})
        for (const char* integrator : {"Rattle", "Shake", "RattleLangevin", "ConstraintForce"})
            setups.emplace_back(platforms[turn++ % 3], solver, integrator);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, ThreadGroups, testing::ValuesIn(someSetups()),
                         [](const auto& info) { return nameOf(info.param); });
