// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The chain alone: the particles are represented by their kinetic energy.
#include "ThermostatChain.h"
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace ConstraintPlugin;

namespace {

constexpr double twiceKineticEnergy = 95, duration = 0.4;

HeatBath makeBath(int numSubsteps, int numWeights) {
    return {2.5, 10, 30, numSubsteps, yoshidaSuzukiWeights(numWeights)};
}

ThermostatChain someChain(int length = 3) {
    ThermostatChain chain(length);
    for (int j = 0; j < length; j++) {
        chain.positions[j] = 0.3 - 0.1 * j;
        chain.velocities[j] = 2 - 3 * j;
    }
    return chain;
}

/** Factor of the velocities, then the chain. */
std::vector<double> endOf(const HeatBath& bath) {
    ThermostatChain chain = someChain();
    std::vector<double> result = {propagate(chain, bath, twiceKineticEnergy, duration)};
    result.insert(result.end(), chain.positions.begin(), chain.positions.end());
    result.insert(result.end(), chain.velocities.begin(), chain.velocities.end());
    return result;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

} // namespace

TEST(ThermostatChain, ConvergesToOneMotionAtTheOrderOfItsWeights) {
    const std::vector<double> exact = endOf(makeBath(400, 7));
    for (const auto& [numWeights, order] : {std::pair(1, 2), std::pair(3, 4), std::pair(5, 4), std::pair(7, 6)}) {
        const std::vector<double> weights = yoshidaSuzukiWeights(numWeights);
        EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-14);
        const double error = distance(endOf(makeBath(64, numWeights)), exact);
        const double finer = distance(endOf(makeBath(128, numWeights)), exact);
        EXPECT_GT(finer, 1e-11) << "nothing to compare";
        EXPECT_NEAR(std::log2(error / finer), order, 0.1) << numWeights;
    }
}

TEST(ThermostatChain, MovesAsItsEquationsOfMotionSay) {
    const HeatBath bath = makeBath(1, 1);
    const double dt = 1e-6, w2 = bath.frequency * bath.frequency;
    ThermostatChain chain = someChain();
    const std::vector<double> v = chain.velocities;
    const double scale = propagate(chain, bath, twiceKineticEnergy, dt);
    const double ratio = twiceKineticEnergy / (bath.degreesOfFreedom * bath.kT);
    EXPECT_NEAR((scale - 1) / dt, -v[0], 1e-3);
    EXPECT_NEAR((chain.positions[2] - someChain().positions[2]) / dt, v[2], 1e-3);
    EXPECT_NEAR((chain.velocities[0] - v[0]) / dt, w2 * (ratio - 1) - v[0] * v[1], 1e-2);
    EXPECT_NEAR((chain.velocities[1] - v[1]) / dt, bath.degreesOfFreedom * v[0] * v[0] - w2 - v[1] * v[2], 1e-2);
    EXPECT_NEAR((chain.velocities[2] - v[2]) / dt, v[1] * v[1] - w2, 1e-2);
}

TEST(ThermostatChain, ExchangesItsEnergyWithTheParticles) {
    for (int length : {1, 2, 5}) {
        const HeatBath bath = makeBath(200, 7);
        ThermostatChain chain = someChain(length);
        const double before = energyOf(chain, bath) + 0.5 * twiceKineticEnergy;
        const double scale = propagate(chain, bath, twiceKineticEnergy, duration);
        EXPECT_NEAR(energyOf(chain, bath) + 0.5 * scale * scale * twiceKineticEnergy, before, 1e-8) << length;
        EXPECT_GT(std::abs(scale - 1), 0.02) << length;
    }
}

TEST(ThermostatChain, TakesMoreSubstepsWhereTheBathIsMuchColder) {
    for (const int degreesOfFreedom : {120, 20000})
        for (const double frequency : {5, 25, 100})
            for (int length : {1, 2, 3, 5}) {
                const HeatBath bath = {8e-4, frequency, degreesOfFreedom, 3, yoshidaSuzukiWeights(7)}; // 0.1 K
                const double start = degreesOfFreedom * 3.0;
                double twiceEnergy = start;
                ThermostatChain chain(length);
                for (int halfStep = 0; halfStep < 20; halfStep++) {
                    const double scale = propagate(chain, bath, twiceEnergy, 0.001);
                    ASSERT_GE(scale, 0) << length;
                    twiceEnergy *= scale * scale;
                    EXPECT_NEAR(energyOf(chain, bath) + 0.5 * twiceEnergy, 0.5 * start, 1e-3 * start)
                        << degreesOfFreedom << ", " << frequency << ", " << length << ", " << halfStep;
                }
            }
}

TEST(ThermostatChain, SaysWhereItCannotFollow) {
    HeatBath bath = makeBath(3, 7);
    bath.kT = 1e-30;
    bath.frequency = 1e6;
    ThermostatChain chain = someChain();
    EXPECT_LT(propagate(chain, bath, twiceKineticEnergy, 0.001), 0);
}

TEST(ThermostatChain, ReturnsTheWayItCame) {
    const HeatBath bath = makeBath(3, 7);
    ThermostatChain chain = someChain();
    const double scale = propagate(chain, bath, twiceKineticEnergy, 0.01);
    EXPECT_NEAR(scale * propagate(chain, bath, scale * scale * twiceKineticEnergy, -0.01), 1, 1e-14);
    EXPECT_LT(distance(chain.positions, someChain().positions), 1e-14);
    EXPECT_LT(distance(chain.velocities, someChain().velocities), 1e-13);
}

TEST(ThermostatChain, LeavesAloneWhatHasNoDegreesOfFreedom) {
    HeatBath bath = makeBath(1, 1);
    bath.degreesOfFreedom = 0;
    ThermostatChain chain = someChain();
    EXPECT_EQ(propagate(chain, bath, 0, duration), 1);
    EXPECT_EQ(chain.velocities, someChain().velocities);
    EXPECT_THROW(yoshidaSuzukiWeights(4), std::invalid_argument);
}
