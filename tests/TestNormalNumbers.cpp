// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "NormalNumbers.h"
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

using namespace ConstraintPlugin;

TEST(NormalNumbers, PhiloxGivesItsKnownAnswers) {
    // kat_vectors of Random123 (Salmon et al. 2011): zeros, ones, and digits of pi
    using Four = std::array<std::uint32_t, 4>;
    const std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}), (Four{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(NormalNumbers, HaveTheMomentsAndTheDistributionOfANormalOne) {
    const int particles = 1000, steps = 200;
    const double n = 3.0 * particles * steps;
    double moment[7] = {};
    std::vector<int> below(9); // -2, -1.5, ..., 2
    for (int step = 0; step < steps; step++)
        for (int i = 0; i < particles; i++) {
            const Real3 R = normalNumbers({7, 0}, step, i);
            for (double x : {R.x, R.y, R.z}) {
                double power = 1;
                for (int k = 1; k <= 6; k++)
                    moment[k] += (power *= x) / n;
                for (std::size_t b = 0; b < below.size(); b++)
                    below[b] += x < -2 + 0.5 * (double) b;
            }
        }
    // variances of x^k: 1, 2, 15, 96, 945, 10170
    const double expected[] = {0, 0, 1, 0, 3, 0, 15}, variance[] = {0, 1, 2, 15, 96, 945, 10170};
    for (int k = 1; k <= 6; k++)
        EXPECT_NEAR(moment[k], expected[k], 5 * std::sqrt(variance[k] / n)) << k;
    for (std::size_t b = 0; b < below.size(); b++) {
        const double p = 0.5 * std::erfc((2 - 0.5 * (double) b) / std::sqrt(2.0));
        EXPECT_NEAR(below[b] / n, p, 5 * std::sqrt(p * (1 - p) / n)) << b;
    }
}

TEST(NormalNumbers, DoNotDependOnEachOther) {
    const int n = 100'000;
    const std::uint64_t late = 1ull << 32; // steps are counted by 64 bits
    const auto components = [](const Real3& r) { return std::vector<double>{r.x, r.y, r.z}; };
    const std::pair<const char*, Real3 (*)(int)> others[] = {{"itself",
                                                              [](int i) {
                                                                  return normalNumbers({7, 0}, 5, i);
                                                              }},
                                                             {"next particle",
                                                              [](int i) {
                                                                  return normalNumbers({7, 0}, 5, i + 1);
                                                              }},
                                                             {"next step",
                                                              [](int i) {
                                                                  return normalNumbers({7, 0}, 6, i);
                                                              }},
                                                             {"late step",
                                                              [](int i) {
                                                                  return normalNumbers({7, 0}, 5 + late, i);
                                                              }},
                                                             {"next seed",
                                                              [](int i) {
                                                                  return normalNumbers({8, 0}, 5, i);
                                                              }},
                                                             {"next child", [](int i) {
                                                                  return normalNumbers({7, 1}, 5, i);
                                                              }}};
    for (const auto& [name, other] : others) {
        double product[3][3] = {}, ofSquares[3][3] = {};
        for (int i = 0; i < n; i++) {
            const auto a = components(normalNumbers({7, 0}, 5, i)), b = components(other(i));
            for (int k = 0; k < 3; k++)
                for (int l = 0; l < 3; l++) {
                    product[k][l] += a[k] * b[l] / n;
                    ofSquares[k][l] += (a[k] * a[k] - 1) * (b[l] * b[l] - 1) / n;
                }
        }
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++) {
                if (std::string(name) == "itself" && k == l)
                    continue;
                EXPECT_NEAR(product[k][l], 0, 5 / std::sqrt(n)) << name << " " << k << l;
                EXPECT_NEAR(ofSquares[k][l], 0, 10 / std::sqrt(n)) << name << " " << k << l;
            }
    }
}
