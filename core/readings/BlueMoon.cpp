// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BlueMoon.h"
#include <stdexcept>

namespace ConstraintPlugin {

namespace {

using Vectors = std::vector<Real3>;

Vectors combine(const Vectors& a, double factor, const Vectors& b) {
    Vectors sum = a;
    for (std::size_t i = 0; i < sum.size(); i++)
        sum[i] += factor * b[i];
    return sum;
}

} // namespace

BlueMoon computeBlueMoon(ConstraintSolver& solver, const std::vector<int>& coordinates, const Real3* positions,
                         const Box& box, int maxIterations) {
    const int n = (int) coordinates.size();
    std::vector<std::vector<double>> Y(n); // by constraint
    std::vector<Vectors> b(n, Vectors(solver.getSet().numParticles()));
    for (int i = 0; i < n; i++)
        if (!solver.solveUnitColumn(coordinates[i], positions, box, b[i].data(), Y[i], maxIterations))
            throw NoCoordinate(coordinates[i]);
    // h[j][k][r] = b_j^T H_r b_k, by polarization
    auto bilinear = [&](int j, int k) {
        std::vector<double> h = solver.curvatures(positions, box, combine(b[j], 1, b[k]).data());
        const std::vector<double> minus = solver.curvatures(positions, box, combine(b[j], -1, b[k]).data());
        for (std::size_t r = 0; r < h.size(); r++)
            h[r] = 0.25 * (h[r] - minus[r]);
        return h;
    };
    auto inner = [](const std::vector<double>& a, const std::vector<double>& c) {
        double sum = 0;
        for (std::size_t r = 0; r < a.size(); r++)
            sum += a[r] * c[r];
        return sum;
    };
    std::vector<double> C(n * n), inverse(n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            C[i * n + j] = Y[j][coordinates[i]];
    BlueMoon result;
    for (int j = 0; j < n; j++) { // columns of C^-1, and ln|C| by the pivots of its factor
        std::vector<double> A = C, x(n);
        x[j] = 1;
        if (solveDense(n, A.data(), x.data()) >= 0)
            throw std::runtime_error("the reaction coordinates depend on each other here.");
        for (int i = 0; i < n; i++)
            inverse[i * n + j] = x[i];
        if (j == 0)
            for (int i = 0; i < n; i++)
                result.logZ -= std::log(std::abs(A[i * n + i]));
    }
    for (int k = 0; k < n; k++) {
        double derivative = 0;
        for (int j = 0; j < n; j++) {
            const std::vector<double> h = bilinear(j, k);
            // tr(C^-1 (S + S^T)), S_ij = sum_r Y_ri h_r(b_j, b_k), over the constraints that rigid bodies stand for,
            // too
            for (int i = 0; i < n; i++)
                derivative += (inverse[j * n + i] + inverse[i * n + j]) *
                              (inner(Y[i], h) - solver.gyration(positions, box, b[i].data(), b[j].data(), b[k].data()));
        }
        result.corrections.push_back(0.5 * derivative);
    }
    return result;
}

} // namespace ConstraintPlugin
