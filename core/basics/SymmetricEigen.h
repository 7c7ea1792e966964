// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SYMMETRIC_EIGEN_H_
#define CONSTRAINTS_CORE_SYMMETRIC_EIGEN_H_

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace ConstraintPlugin {

/** Eigenvalues, ascending, and eigenvectors of a small symmetric matrix. */
struct SymmetricEigen {
    std::vector<double> values;               ///< [n]
    std::vector<std::vector<double>> vectors; ///< [n][n] vectors[k] belongs to values[k]
};

/** Jacobi's method, in cycles over all pairs. @param A row-major n*n, symmetric */
inline SymmetricEigen solveSymmetricEigen(int n, std::vector<double> A) {
    std::vector<double> V(n * n);
    for (int i = 0; i < n; i++)
        V[i * n + i] = 1;
    const double size = std::sqrt(std::inner_product(A.begin(), A.end(), A.begin(), 0.0));
    for (int cycle = 0; cycle < 30; cycle++) {
        double off = 0;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                off = std::max(off, std::abs(A[p * n + q]));
        if (!(off > 1e-17 * size))
            break;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (A[p * n + q] == 0)
                    continue;
                const double theta = (A[q * n + q] - A[p * n + p]) / (2 * A[p * n + q]);
                const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
                const double c = 1 / std::sqrt(t * t + 1), s = t * c;
                auto rotate = [&](double& x, double& y) {
                    const double old = x;
                    x = c * old - s * y;
                    y = s * old + c * y;
                };
                for (int k = 0; k < n; k++)
                    rotate(A[k * n + p], A[k * n + q]);
                for (int k = 0; k < n; k++)
                    rotate(A[p * n + k], A[q * n + k]);
                for (int k = 0; k < n; k++)
                    rotate(V[p * n + k], V[q * n + k]);
            }
    }
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int i, int j) { return A[i * n + i] < A[j * n + j]; });
    SymmetricEigen eigen;
    for (int k : order) {
        eigen.values.push_back(A[k * n + k]);
        eigen.vectors.emplace_back(V.begin() + k * n, V.begin() + (k + 1) * n);
    }
    return eigen;
}

} // namespace ConstraintPlugin

#endif
