// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SparseMatrix.h"
#include "SmallMatrix.h"
#include <algorithm>
#include <limits>

namespace ConstraintPlugin {

void SparseMatrix::setZero() {
    std::fill(diagonal.begin(), diagonal.end(), 0.0);
    std::fill(lower.begin(), lower.end(), 0.0);
    std::fill(upper.begin(), upper.end(), 0.0);
}

/** A(i,j) -= L(i,k) U(k,j) for all later rows i, j that meet in column k. */
template <bool symmetric>
void SparseMatrix::eliminateColumn(int k, const int*& target) {
    const int first = symbolic.columnStart[k], last = symbolic.columnStart[k + 1];
    for (int e = first; e < last; e++) {
        if (symmetric)
            upper[e] = lower[e];
        lower[e] /= diagonal[k];
    }
    for (int a = first; a < last; a++) {
        diagonal[symbolic.entryRow[a]] -= lower[a] * upper[a];
        for (int b = a + 1; b < last; b++, target++) {
            lower[*target] -= lower[b] * upper[a];
            if (!symmetric)
                upper[*target] -= lower[a] * upper[b];
        }
    }
}

template <bool symmetric>
int SparseMatrix::factorize() {
    const std::vector<double> original = diagonal;
    const int* target = symbolic.updateTarget.data();
    for (int k = 0; k < symbolic.size(); k++) {
        // Also catches NaN: the comparison is then false.
        if (!(std::abs(diagonal[k]) > pivotThreshold * std::abs(original[k])))
            return k;
        eliminateColumn<symmetric>(k, target);
    }
    return -1;
}
template int SparseMatrix::factorize<true>();
template int SparseMatrix::factorize<false>();

void SparseMatrix::factorizeRankRevealing(double threshold, std::vector<double>& pivots) {
    const int* target = symbolic.updateTarget.data();
    pivots.resize(symbolic.size());
    for (int k = 0; k < symbolic.size(); k++) {
        pivots[k] = diagonal[k];
        if (pivots[k] > threshold)
            eliminateColumn<true>(k, target);
        else {
            const int first = symbolic.columnStart[k], last = symbolic.columnStart[k + 1];
            diagonal[k] = std::numeric_limits<double>::infinity(); // solve() leaves it out
            std::fill(lower.begin() + first, lower.begin() + last, 0.0);
            target += (last - first) * (last - first - 1) / 2;
        }
    }
}

void SparseMatrix::solve(double* x) const {
    const int n = symbolic.size();
    for (int k = 0; k < n; k++)
        for (int e = symbolic.columnStart[k]; e < symbolic.columnStart[k + 1]; e++)
            x[symbolic.entryRow[e]] -= lower[e] * x[k];
    for (int k = n - 1; k >= 0; k--) {
        for (int e = symbolic.columnStart[k]; e < symbolic.columnStart[k + 1]; e++)
            x[k] -= upper[e] * x[symbolic.entryRow[e]];
        x[k] /= diagonal[k];
    }
}

std::vector<double> SparseMatrix::dependence(int k) const {
    // L^T n = e_k, rows up to k
    std::vector<double> n(symbolic.size());
    n[k] = 1;
    for (int j = k - 1; j >= 0; j--)
        for (int e = symbolic.columnStart[j]; e < symbolic.columnStart[j + 1] && symbolic.entryRow[e] <= k; e++)
            n[j] -= lower[e] * n[symbolic.entryRow[e]];
    return n;
}

} // namespace ConstraintPlugin
