// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Conditioning.h"
#include "Jacobian.h"
#include "support/Dense.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;

namespace {

/** A hub over a ring of six, bonded to all of it and each to the next; unequal masses. */
struct Fan {
    ConstraintSet set;
    std::vector<Real3> positions;
    std::vector<int> all;

    explicit Fan(double height) : positions{{0, 0, height}} {
        for (int i = 0; i < 6; i++)
            positions.push_back({0.1 * std::cos(i * M_PI / 3), 0.1 * std::sin(i * M_PI / 3), 0});
        for (int i = 0; i < 7; i++)
            set.inverseMass.push_back(1.0 / (i + 1));
        for (int i = 1; i < 7; i++)
            for (int j : {0, i % 6 + 1}) {
                Constraint c;
                c.particles = {i, j};
                c.target = std::sqrt(dot(positions[i] - positions[j], positions[i] - positions[j]));
                all.push_back((int) set.constraints.size());
                set.constraints.push_back(c);
            }
    }
    double denseCondition() const {
        Jacobian J(set, all);
        J.setStart(positions.data(), Box());
        const int n = (int) all.size();
        ConstraintTests::Matrix rows = ConstraintTests::Matrix::Zero(n, 21);
        for (int k = 0; k < n; k++)
            for (int s = J.slotStart[k]; s < J.slotStart[k + 1]; s++) {
                const double w = std::sqrt(J.inverseMass[s]);
                rows.block<1, 3>(k, 3 * J.particle[s]) << w * J.start[s].x, w * J.start[s].y, w * J.start[s].z;
            }
        rows.rowwise().normalize();
        const ConstraintTests::Vector values = ConstraintTests::singularValues(rows);
        return std::pow(values[0] / values[n - 1], 2); // of rows rows^T
    }
};

} // namespace

TEST(Conditioning, IsThatOfTheDenseMatrix) {
    for (double height : {1e-2, 1e-3, 1e-4}) {
        const Fan fan(height);
        const double exact = fan.denseCondition();
        const auto found = findIllConditioned(fan.set, fan.all, fan.positions.data(), Box(), 0.5 * exact);
        ASSERT_EQ(found.size(), 1u);
        EXPECT_NEAR(found[0].condition, exact, 0.05 * exact);
        EXPECT_EQ(found[0].constraints, fan.all);
        EXPECT_TRUE(findIllConditioned(fan.set, fan.all, fan.positions.data(), Box(), 2 * exact).empty());
    }
}

TEST(Conditioning, LeavesTreesAndClearRingsOut) {
    ConstraintSet set;
    set.inverseMass.assign(5, 1.0);
    const std::vector<Real3> positions = {{}, {0.1, 0, 0}, {0, 0.1, 0}, {0.2, 0, 0}, {0.3, 0, 0}};
    for (auto [p, q] : {std::pair(0, 1), {1, 2}, {2, 0}, {1, 3}, {3, 4}}) {
        Constraint c;
        c.particles = {p, q};
        set.constraints.push_back(c);
    }
    EXPECT_TRUE(findIllConditioned(set, {0, 1, 2, 3, 4}, positions.data(), Box(), 1.0).empty());
}
