// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SPARSE_MATRIX_H_
#define CONSTRAINTS_CORE_SPARSE_MATRIX_H_

#include "Elimination.h"
#include <vector>

namespace ConstraintPlugin {

/** A sparse matrix with symmetric pattern and its factor, in place, in the order of a SymbolicFactor. There is no
 * pivoting, because the order is fixed; a vanishing pivot is reported.
 *
 *  A = L U for the position stage (values not symmetric), A = L D L^T for the velocity stage. */
class SparseMatrix {
public:
    explicit SparseMatrix(const SymbolicFactor& symbolic)
        : symbolic(symbolic), diagonal(symbolic.size()), lower(symbolic.entryRow.size()),
          upper(symbolic.entryRow.size()) {
    }
    void setZero();
    /** Factor in place. @return -1, or the column whose pivot vanished */
    int factorizeLU() {
        return factorize<false>();
    }
    /** Factor a symmetric matrix in place, from its lower triangle. @return as above */
    int factorizeLDLT() {
        return factorize<true>();
    }
    /** Factor a symmetric positive semidefinite matrix of unit diagonal in place, without rows that depend on earlier
     * ones: those whose pivot, the squared distance from the span of the earlier rows, is at most the threshold.
     * solve() then solves the equations of the other rows and returns 0 for these.
     *  @param[out] pivots [n] */
    void factorizeRankRevealing(double threshold, std::vector<double>& pivots);
    /** Solve A x = b with the factor. @param x in: b, out: x; [n], rows by position in the elimination */
    void solve(double* x) const;
    /** Coefficients n_i of the dependence sum_i n_i row_i = 0 that belongs to a small pivot in column k; n_k = 1. */
    std::vector<double> dependence(int k) const;

    const SymbolicFactor& symbolic;
    std::vector<double> diagonal; ///< [n] diagonal, then pivots
    std::vector<double> lower;    ///< [entries] A(row, column), then L
    std::vector<double> upper;    ///< [entries] A(column, row), then U

private:
    template <bool symmetric>
    int factorize();
    template <bool symmetric>
    void eliminateColumn(int k, const int*& target);
};

} // namespace ConstraintPlugin

#endif
