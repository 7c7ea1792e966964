// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Statistics.h"
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

namespace ConstraintTests {

Mean meanOf(const std::vector<double>& samples, int blocks) {
    const std::size_t length = samples.size() / blocks;
    std::vector<double> means;
    for (int b = 0; b < blocks; b++)
        means.push_back(std::accumulate(samples.begin() + b * length, samples.begin() + (b + 1) * length, 0.0) /
                        length);
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / blocks;
    double square = 0;
    for (double m : means)
        square += (m - mean) * (m - mean);
    return {mean, std::sqrt(square / (blocks * (blocks - 1.0)))};
}

void expectMean(const std::vector<double>& samples, double expected, double resolution) {
    const Mean mean = meanOf(samples);
    EXPECT_NEAR(mean.value, expected, 6 * mean.error);
    EXPECT_LT(6 * mean.error, resolution * expected) << "too few samples to tell";
}

void expectMeanOfSquares(const std::vector<double>& samples, double expected, double degreesOfFreedom,
                         double resolution) {
    const double error = expected * std::sqrt(2 / (degreesOfFreedom * samples.size()));
    EXPECT_NEAR(std::accumulate(samples.begin(), samples.end(), 0.0) / samples.size(), expected, 6 * error);
    EXPECT_LT(6 * error, resolution * expected) << "too few samples to tell";
}

} // namespace ConstraintTests
