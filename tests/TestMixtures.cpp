// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Random Systems with every kind of constraint at once.
#include "support/Mixture.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** On every platform, without a box and wrapped into one. */
class Mixtures : public testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(Mixtures, HoldEveryConstraint) {
    const auto [platform, periodic] = GetParam();
    const char* const integrators[] = {"Rattle", "Shake", "RattleLangevin", "GeodesicLangevin"};
    const std::vector<std::string> platforms = platformsUnderTest();
    const unsigned place = std::find(platforms.begin(), platforms.end(), platform) - platforms.begin(),
                   number = isDevice(platform) ? 1 : 40; // on devices another one in each precision
    for (unsigned seed = place; seed < place + number; seed++) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Mixture mixture = drawMixture(seed, periodic);
        ASSERT_TRUE(mixture.holds(mixture.positions, 0, 1e-12));
        const Solver solver = seed % 2 ? ConstraintIntegrator::MatrixInversion : ConstraintIntegrator::Automatic;
        const double stepSize = 0.0005;
        try {
            Simulation simulation(std::move(mixture.system),
                                  makeIntegrator({platform, solver, integrators[seed / 2 % 4]}, stepSize, 1e-10),
                                  platform);
            simulation.context->setPositions(mixture.positions);
            simulation.context->setVelocities(mixture.velocities);
            simulation.integrator->step(5);
            const Vectors x = simulation.positions();
            EXPECT_GT(distance(x, mixture.positions), 1e-4);
            // In the box coordinates reach 8 nm, which floats round by 2.4e-7 nm.
            const double length = periodic ? 0.05 : 0.1;
            EXPECT_TRUE(mixture.holds(x, simulation.context->getTime(), attainable(platform, 1e-8, length)));
        } catch (const OpenMMException& e) {
            ADD_FAILURE() << e.what();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Platforms, Mixtures,
                         testing::Combine(testing::ValuesIn(platformsUnderTest()), testing::Bool()),
                         [](const auto& info) {
                             return std::get<0>(info.param) + (std::get<1>(info.param) ? "_Periodic" : "_Open");
                         });

TEST(MixturesAtTheirStart, AreJudgedByChecksThatSeeEachViolation) {
    const Mixture mixture = drawMixture(1, false);
    for (const Mixture::Check& check : mixture.checks) {
        Vectors x = mixture.positions;
        for (int p : check.particles) // whatever direction matters
            x[p] += Vec3(0.003 * std::cos(p), 0.002 * std::sin(3 * p), 0.0025 * std::cos(5 * p));
        EXPECT_GT(check.error(x, 0), 1e-6) << check.name;
        EXPECT_FALSE(mixture.holds(x, 0, 1e-6));
    }
}

} // namespace
