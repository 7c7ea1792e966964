// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BorderSolver.h"

namespace ConstraintPlugin {

BorderSolver::BorderSolver(const ConstraintSet& set, const ConstraintGraph& graph, const Jacobian& J)
    : graph(graph), border(graph.border), J(J), first(graph.borderBegin()), neighbours(size()), atNodes(set.numNodes()),
      atStart(border.factor), now(border.factor) {
    for (int node = 0; node < set.numNodes(); node++)
        mass.push_back(1 / set.inverseMassOf(node));
    for (int b = 0; b < size(); b++) {
        response.emplace_back(border.rows[b].reach.size());
        int rows = 0;
        forEachRow(b, [&](int, int) { rows++; });
        ofMultipliers.emplace_back(rows);
        neighbours[b].push_back({b, -1});
    }
    const SymbolicFactor& factor = border.factor;
    for (int b = 0; b < size(); b++)
        for (int entry = factor.columnStart[b]; entry < factor.columnStart[b + 1]; entry++) { // fill, too
            neighbours[b].push_back({factor.entryRow[entry], entry});
            neighbours[factor.entryRow[entry]].push_back({b, entry});
        }
}

void BorderSolver::addImpulse(int b, double scale, const Field& x) const {
    for (int s = J.slotStart[rowOf(b)]; s < J.slotStart[rowOf(b) + 1]; s++)
        x.at(J.particle[s]) += (scale * J.inverseMass[s]) * J.start[s];
}

void BorderSolver::setResponse(int b, const Field& field, const std::vector<double>& multipliers) {
    const std::vector<int>& reach = border.rows[b].reach;
    for (std::size_t i = 0; i < reach.size(); i++)
        response[b][i] = field.at(reach[i]);
    forEachRow(b, [&](int i, int row) { ofMultipliers[b][i] = multipliers[row]; });
}

void BorderSolver::addResponse(int b, double scale, const Field& x) const {
    const std::vector<int>& reach = border.rows[b].reach;
    for (std::size_t i = 0; i < reach.size(); i++)
        x.at(reach[i]) += scale * response[b][i];
}

void BorderSolver::addMultipliers(int b, double scale, std::vector<double>& multipliers) const {
    multipliers[rowOf(b)] += scale;
    forEachRow(b, [&](int i, int row) { multipliers[row] += scale * ofMultipliers[b][i]; });
}

double BorderSolver::projectedRate(int b, const Field& x) const {
    const std::vector<int>& reach = border.rows[b].reach;
    double sum = 0;
    for (std::size_t i = 0; i < reach.size(); i++)
        sum += mass[reach[i]] * dot(response[b][i], x.at(reach[i]));
    return sum;
}

template <bool symmetric>
int BorderSolver::factorize(SparseMatrix& S, const Real3* gradients) {
    S.setZero();
    for (int b = 0; b < size(); b++) { // the column
        const std::vector<int>& reach = border.rows[b].reach;
        for (std::size_t i = 0; i < reach.size(); i++)
            atNodes[reach[i]] = response[b][i];
        for (const auto& [a, entry] : neighbours[b]) {
            if (symmetric && a < b)
                continue;
            double sum = 0;
            for (int s = J.slotStart[rowOf(a)]; s < J.slotStart[rowOf(a) + 1]; s++)
                sum += dot(gradients[s], atNodes[J.particle[s]]);
            (a == b ? S.diagonal[b] : a > b ? S.lower[entry] : S.upper[entry]) = sum;
        }
        for (int node : reach)
            atNodes[node] = Real3();
    }
    for (int b = 0; b < size(); b++) // what the clusters leave of D
        if (!(std::abs(S.diagonal[b]) > pivotThreshold * J.diagonal(rowOf(b), J.start.data())))
            return b;
    return symmetric ? S.factorizeLDLT() : S.factorizeLU();
}
template int BorderSolver::factorize<true>(SparseMatrix& S, const Real3* gradients);
template int BorderSolver::factorize<false>(SparseMatrix& S, const Real3* gradients);

} // namespace ConstraintPlugin
