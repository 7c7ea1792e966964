// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Devices keep the multipliers from which a warm start begins, until something that they depend on changes.
#include "support/Messages.h"
#include "support/Simulation.h"
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

class WarmStart : public testing::TestWithParam<Setup> {};

/** Where steps of two sizes lead, some in one call, with one that fails, and velocities that a user sets between.
 *  @param isReloaded  whether all is fetched from the device and returned after every call */
Vectors go(const Setup& setup, bool isReloaded) {
    const std::vector<TestSystem> parts = systemsInTheBoxOf("chain");
    Simulation s = simulate(parts, Declared::InForce, setup, 0.001, 1e-7);
    s.integrator->setWarmStart(true);
    for (int i = 0; i < 12; i++) {
        if (i == 4 || i == 7)
            s.integrator->setStepSize(i == 4 ? 0.0005 : 0.001);
        if (i == 10)
            s.context->setVelocities(tangentVelocities(parts, 0.1, 3));
        s.integrator->step(1 + i % 3);
        if (i == 8) {
            s.integrator->setMaxIterations(1);
            EXPECT_NE(messageOf([&] { s.integrator->step(1); }), "");
            s.integrator->setMaxIterations(1000);
        }
        if (isReloaded) {
            std::stringstream stream;
            s.context->createCheckpoint(stream);
            s.context->loadCheckpoint(stream);
        }
    }
    return s.positions();
}

} // namespace

TEST_P(WarmStart, GoesOnAsIfTheMultipliersHadBeenFetchedAndReturned) {
    EXPECT_EQ(distance(go(GetParam(), false), go(GetParam(), true)), 0);
}

/** Heavy chains hardly move, so that multipliers are those of the last step, unless another chain's are taken. */
TEST_P(WarmStart, FollowsChainsThatDevicesSort) {
    const double edge = 4, length = 0.1;
    const int numChains = 100, size = 5;
    Random random(3);
    auto system = std::make_unique<System>();
    system->setDefaultPeriodicBoxVectors(Vec3(edge, 0, 0), Vec3(0, edge, 0), Vec3(0, 0, edge));
    auto* constraints = new ConstraintForce();
    auto* tension = new CustomExternalForce("q*x^3"); // another one in each chain
    tension->addPerParticleParameter("q");
    auto* cutoff = new NonbondedForce(); // for which devices sort
    cutoff->setNonbondedMethod(NonbondedForce::CutoffPeriodic);
    cutoff->setCutoffDistance(0.5);
    Vectors positions;
    for (int i = 0; i < numChains * size; i++) {
        const int place = i % size;
        system->addParticle(1000);
        cutoff->addParticle(0, 0.1, 0);
        tension->addParticle(i, {place == 0 ? 1000.0 : place == size - 1 ? -1000.0 : 0.0});
        const Real3 x = random.inCube(0.4 * edge);
        positions.push_back(place == 0 ? Vec3(x.x + 2, x.y + 2, x.z + 2) : positions.back() + Vec3(length, 0, 0));
        if (place > 0)
            constraints->addDistance(i - 1, i, length);
    }
    for (Force* force : std::initializer_list<Force*>{constraints, tension, cutoff})
        system->addForce(force);
    Simulation s(std::move(system), makeIntegrator(GetParam(), 0.001, 1e-9), std::get<0>(GetParam()));
    s.integrator->setWarmStart(true);
    s.context->setPositions(positions);
    s.integrator->step(240);
    const int usual = s.integrator->getSolverSummary().iterations;
    int most = 0;
    for (int i = 0; i < 20; i++) {
        s.integrator->step(1);
        most = std::max(most, s.integrator->getSolverSummary().iterations);
    }
    EXPECT_LE(most, usual + 1);
}

static std::vector<ConstraintTests::Setup> iterativeSetups() {
    std::vector<ConstraintTests::Setup> setups;
    for (const std::string& platform : platformsUnderTest())
        for (const char* integrator : {"Rattle", "Shake"})
            setups.emplace_back(platform, ConstraintIntegrator::Iterative, integrator);
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, WarmStart, testing::ValuesIn(iterativeSetups()),
                         [](const auto& info) { return nameOf(info.param); });
