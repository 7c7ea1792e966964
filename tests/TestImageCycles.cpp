// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ImageCycles.h"
#include "support/SystemTable.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

const Box box{{3, 0, 0}, {0.5, 3, 0}, {-0.4, 0.6, 3}};

/** A lattice of n^3 particles, numbered from a corner, with all bonds along some of its edges. */
struct Lattice {
    static constexpr int n = 4;
    ConstraintSet set;
    std::vector<Real3> positions;

    explicit Lattice(const std::vector<int>& edges, bool periodic = true) {
        std::vector<std::pair<int, int>> bonds;
        const auto number = [](int i, int j, int k) { return ((i % n) * n + j % n) * n + k % n; };
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++) {
                    positions.push_back((i / (double) n) * box.a + (j / (double) n) * box.b + (k / (double) n) * box.c);
                    for (int e : edges)
                        bonds.emplace_back(number(i, j, k), number(i + (e == 0), j + (e == 1), k + (e == 2)));
                }
        set = pattern(n * n * n, bonds);
        for (Constraint& c : set.constraints)
            c.periodic = periodic;
    }
    std::vector<ImageCycle> cycles() const {
        return findImageCycles(set, positions.data(), box);
    }
};

double determinant(const Real3& a, const Real3& b, const Real3& c) {
    return dot(a, cross(b, c));
}

} // namespace

TEST(ImageCycles, AreOneOfEachChain) {
    const Lattice chains({1});
    const std::vector<ImageCycle> cycles = chains.cycles();
    ASSERT_EQ(cycles.size(), 16u);
    for (const ImageCycle& cycle : cycles) {
        EXPECT_EQ(cycle.particles.size(), 4u);
        EXPECT_NEAR(std::abs(cycle.shift.y), box.b.y, 1e-12);
        EXPECT_NEAR(std::abs(cycle.shift.x), box.b.x, 1e-12);
        EXPECT_NEAR(cycle.shift.z, 0, 1e-12);
        EXPECT_EQ(chains.set.constraints[cycle.constraint].particles.size(), 2u);
    }
}

TEST(ImageCycles, AreIndependentOfWhereParticlesAreWrapped) {
    Lattice whole({0, 1, 2});
    for (std::size_t i = 0; i < whole.positions.size(); i++)
        whole.positions[i] += (double) (i % 3) * box.a + (double) (i % 5) * box.b + (double) (i % 7 - 3.0) * box.c;
    const std::vector<ImageCycle> cycles = whole.cycles();
    ASSERT_EQ(cycles.size(), 3u);
    EXPECT_EQ(cycles[0].particles.size(), 64u);
    EXPECT_NEAR(std::abs(determinant(cycles[0].shift, cycles[1].shift, cycles[2].shift)), 27, 1e-9);
}

TEST(ImageCycles, AreNoneWhereNothingSpansTheBox) {
    EXPECT_TRUE(Lattice({0, 1, 2}, false).cycles().empty()) << "without minimum images";
    Lattice open({0, 1, 2});
    auto& constraints = open.set.constraints;
    const auto crosses = [&](const Constraint& c) {
        const Real3 d = open.positions[c.particles[1]] - open.positions[c.particles[0]];
        return dot(d, d) > 1;
    };
    constraints.erase(std::remove_if(constraints.begin(), constraints.end(), crosses), constraints.end());
    EXPECT_TRUE(open.cycles().empty());
}
