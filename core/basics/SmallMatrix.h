// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SMALL_MATRIX_H_
#define CONSTRAINTS_CORE_SMALL_MATRIX_H_

#include "Inline.h"
#include <cmath>
#include <utility>

namespace ConstraintPlugin {

/** A matrix counts as singular if a pivot is below this fraction of its row's diagonal element. */
constexpr double pivotThreshold = 1e-12;

/** Solve A x = b by Cramer's rule, for one matrix or several in lanes. @param A row-major N*N. @param b in: right-hand
 * side, out: x, not finite if the determinant is 0.
 *  @return the determinant */
template <int N, class Number>
CONSTRAINTS_INLINE Number cramer(const Number* A, Number* b) {
    if constexpr (N == 1) {
        b[0] /= A[0];
        return A[0];
    } else if constexpr (N == 2) {
        const Number det = A[0] * A[3] - A[1] * A[2], inverse = 1 / det;
        const Number x = inverse * (A[3] * b[0] - A[1] * b[1]);
        b[1] = inverse * (A[0] * b[1] - A[2] * b[0]);
        b[0] = x;
        return det;
    } else {
        static_assert(N == 3);
        const Number c00 = A[4] * A[8] - A[5] * A[7], c01 = A[5] * A[6] - A[3] * A[8], c02 = A[3] * A[7] - A[4] * A[6];
        const Number det = A[0] * c00 + A[1] * c01 + A[2] * c02, inverse = 1 / det;
        const Number x = c00 * b[0] + (A[2] * A[7] - A[1] * A[8]) * b[1] + (A[1] * A[5] - A[2] * A[4]) * b[2];
        const Number y = c01 * b[0] + (A[0] * A[8] - A[2] * A[6]) * b[1] + (A[2] * A[3] - A[0] * A[5]) * b[2];
        const Number z = c02 * b[0] + (A[1] * A[6] - A[0] * A[7]) * b[1] + (A[0] * A[4] - A[1] * A[3]) * b[2];
        b[0] = inverse * x;
        b[1] = inverse * y;
        b[2] = inverse * z;
        return det;
    }
}

/** The same for one matrix. @return false if A is singular */
template <int N>
bool solveClosedForm(const double* A, double* b) {
    const double det = cramer<N>(A, b);
    double whole = 1;
    for (int i = 0; i < N; i++)
        whole *= A[i * N + i];
    return N == 1 ? det > 0 : std::abs(det) > pivotThreshold * std::abs(whole);
}

/** Row of a singular matrix whose diagonal element is smallest relative to its other elements. */
inline int weakestRow(int n, const double* A) {
    int weakest = 0;
    double smallest = 2;
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += std::abs(A[i * n + j]);
        const double share = sum > 0 ? A[i * n + i] / sum : 0;
        if (share < smallest) {
            smallest = share;
            weakest = i;
        }
    }
    return weakest;
}

/** Solve A x = b by LU with partial pivoting. @param A row-major n*n, overwritten. @param b in/out as above.
 *  @return -1, or the column whose pivot vanished */
inline int solveDense(int n, double* A, double* b) {
    for (int k = 0; k < n; k++) {
        int p = k;
        double largest = 0;
        for (int i = k; i < n; i++)
            if (std::abs(A[i * n + k]) > std::abs(A[p * n + k]))
                p = i;
        for (int j = 0; j < n; j++)
            largest = std::max(largest, std::abs(A[p * n + j]));
        // Also catches NaN: the comparison is then false.
        if (!(std::abs(A[p * n + k]) > pivotThreshold * largest))
            return k;
        if (p != k) {
            for (int j = 0; j < n; j++)
                std::swap(A[k * n + j], A[p * n + j]);
            std::swap(b[k], b[p]);
        }
        for (int i = k + 1; i < n; i++) {
            const double l = A[i * n + k] / A[k * n + k];
            for (int j = k + 1; j < n; j++)
                A[i * n + j] -= l * A[k * n + j];
            b[i] -= l * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            b[k] -= A[k * n + j] * b[j];
        b[k] /= A[k * n + k];
    }
    return -1;
}

} // namespace ConstraintPlugin

#endif
