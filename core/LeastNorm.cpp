// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "LeastNorm.h"

namespace ConstraintPlugin {

namespace {

/** lambda' of the constraints of one group, from its null vectors. */
void project(const std::vector<std::vector<double>>& null, const std::vector<int>& group,
             std::vector<double>& multipliers) {
    const int m = (int) null.size();
    std::vector<double> A(m * m), c(m);
    for (int k : group)
        for (int i = 0; i < m; i++) {
            c[i] += null[i][k] * multipliers[k];
            for (int j = 0; j < m; j++)
                A[i * m + j] += null[i][k] * null[j][k];
        }
    solveDense(m, A.data(), c.data()); // each null vector has a 1 where all others have 0: never singular
    for (int k : group)
        for (int i = 0; i < m; i++)
            multipliers[k] -= c[i] * null[i][k];
}

} // namespace

std::vector<double> leastNorm(ConstraintSolver& solver, std::vector<double> multipliers, const Real3* positions,
                              const Box& box, int maxIterations) {
    const std::vector<std::vector<int>> dependent = solver.dependentByGroup();
    std::size_t rounds = 0;
    for (const auto& members : dependent)
        rounds = std::max(rounds, members.size());
    if (rounds == 0)
        return multipliers;

    // Groups do not touch each other: one dependent row of each is resolved at a time.
    std::vector<std::vector<double>> null(rounds);
    for (std::size_t round = 0; round < rounds; round++) {
        std::vector<int> rows;
        for (const auto& members : dependent)
            if (round < members.size())
                rows.push_back(members[round]);
        null[round] = solver.dependence(rows, positions, box, maxIterations);
    }
    const std::vector<std::vector<int>> groups = solver.groups();
    for (std::size_t g = 0; g < groups.size(); g++)
        if (!dependent[g].empty())
            project({null.begin(), null.begin() + dependent[g].size()}, groups[g], multipliers);
    return multipliers;
}

} // namespace ConstraintPlugin
