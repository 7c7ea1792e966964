// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "LeastNorm.h"
#include "OrthonormalBasis.h"
#include <map>

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

/** The same if most of a group's rows depend on the others: lambda' = Q Q^T lambda, where Q is an orthonormal basis of
 * the span of J's columns, by the Gram-Schmidt method. */
void projectOntoColumns(const ConstraintSet& set, const std::vector<int>& group, const Real3* positions, const Box& box,
                        double time, std::vector<double>& multipliers) {
    Jacobian J(set, group);
    J.setStart(positions, box, time);
    const std::size_t K = group.size();
    std::map<int, std::vector<double>> columns; // three of each movable particle
    for (std::size_t row = 0; row < K; row++)
        for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++)
            if (J.inverseMass[s] > 0) {
                std::vector<double>& three = columns[J.particle[s]];
                three.resize(3 * K);
                three[row] += J.start[s].x;
                three[K + row] += J.start[s].y;
                three[2 * K + row] += J.start[s].z;
            }
    OrthonormalBasis Q(K);
    for (auto& [particle, three] : columns)
        for (double* column = three.data(); column != three.data() + 3 * K; column += K)
            Q.add(column, rankThreshold * Q.inner(column, column));
    std::vector<double> given(K), result(K);
    for (std::size_t k = 0; k < K; k++)
        given[k] = multipliers[group[k]];
    Q.forEach([&](const double* q) {
        const double along = Q.inner(q, given.data());
        for (std::size_t k = 0; k < K; k++)
            result[k] += along * q[k];
    });
    for (std::size_t k = 0; k < K; k++)
        multipliers[group[k]] = result[k];
}

/** Groups with more dependent rows than this are projected onto their columns. */
constexpr std::size_t manyDependent = 16;

} // namespace

ForceMultipliers leastNorm(ConstraintSolver& solver, ForceMultipliers multipliers, const Real3* positions,
                           const Box& box, int maxIterations) {
    std::vector<std::vector<int>> dependent = solver.dependentByGroup();
    if (dependent.empty())
        return multipliers;
    const std::vector<std::vector<int>> groups = solver.groups();
    std::size_t rounds = 0;
    const auto isRead = [&](int k) { return solver.getSet().constraints[k].joint[0] < 0; };
    for (std::size_t g = 0; g < groups.size(); g++) {
        if (std::none_of(groups[g].begin(), groups[g].end(), isRead)) // joints alone
            dependent[g].clear();
        if (dependent[g].size() > manyDependent) {
            projectOntoColumns(solver.getSet(), groups[g], positions, box, solver.getTime(), multipliers.values);
            dependent[g].clear();
        }
        rounds = std::max(rounds, dependent[g].size());
    }

    // Groups share no particles, so one dependent row of each group is resolved at a time.
    std::vector<std::vector<double>> null(rounds);
    for (std::size_t round = 0; round < rounds; round++) {
        std::vector<int> rows;
        for (const auto& members : dependent)
            if (round < members.size())
                rows.push_back(members[round]);
        null[round] = solver.dependence(rows, positions, box, maxIterations);
    }
    for (std::size_t g = 0; g < groups.size(); g++)
        if (!dependent[g].empty())
            project({null.begin(), null.begin() + dependent[g].size()}, groups[g], multipliers.values);
    return multipliers;
}

bool sharesForce(ConstraintSolver& solver, int constraint, const Real3* positions, const Box& box, int maxIterations) {
    constexpr double rounding = 1e-6;
    const std::vector<std::vector<int>> groups = solver.groups(), dependent = solver.dependentByGroup();
    bool mayShare = false;
    for (std::size_t g = 0; g < dependent.size(); g++)
        mayShare = mayShare || (!dependent[g].empty() &&
                                std::find(groups[g].begin(), groups[g].end(), constraint) != groups[g].end());
    if (!mayShare)
        return false;
    ForceMultipliers unit{std::vector<double>(solver.getSet().constraints.size())};
    unit.values[constraint] = 1;
    return std::abs(leastNorm(solver, unit, positions, box, maxIterations).values[constraint] - 1) > rounding;
}

} // namespace ConstraintPlugin
