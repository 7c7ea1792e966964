// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SelfStress.h"
#include <numeric>

namespace ConstraintPlugin {

std::optional<std::vector<double>> solveByConjugateGradients(const UnitRows& rows, std::vector<double> right) {
    constexpr double rounding = 1e-13;
    constexpr int maxIterations = 3000;
    using Vector = std::vector<double>;
    const int n = rows.numRows();
    const auto product = [](const Vector& a, const Vector& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    Vector x(n), residual = std::move(right), direction = residual, moved(rows.numColumns()), image(n);
    double square = product(residual, residual);
    const double end = rounding * rounding * square;
    for (int iteration = 0; square > end; iteration++) {
        if (iteration == maxIterations)
            return {};
        std::fill(moved.begin(), moved.end(), 0.0);
        for (int row = 0; row < n; row++)
            rows.add(row, direction[row], moved.data());
        for (int row = 0; row < n; row++)
            image[row] = rows.dot(row, moved.data());
        const double step = square / product(direction, image);
        for (int row = 0; row < n; row++) {
            x[row] += step * direction[row];
            residual[row] -= step * image[row];
        }
        const double next = product(residual, residual);
        for (int row = 0; row < n; row++)
            direction[row] = residual[row] + (next / square) * direction[row];
        square = next;
    }
    return x;
}

std::optional<std::vector<int>> findStressedRows(const UnitRows& rows, SplitMix& random) {
    constexpr double zero = 1e-8, clear = 1e-5;
    const int n = rows.numRows();
    std::vector<double> stress(n), moved(rows.numColumns()), right(n);
    for (double& y : stress)
        y = 2 * random.uniform() - 1;
    for (int row = 0; row < n; row++)
        rows.add(row, stress[row], moved.data());
    for (int row = 0; row < n; row++)
        right[row] = rows.dot(row, moved.data());
    const auto regular = solveByConjugateGradients(rows, std::move(right));
    if (!regular)
        return {};
    for (int row = 0; row < n; row++)
        stress[row] -= (*regular)[row];
    std::vector<int> stressed;
    for (int row = 0; row < n; row++) {
        if (std::abs(stress[row]) > clear)
            stressed.push_back(row);
        else if (!(std::abs(stress[row]) <= zero))
            return {};
    }
    return stressed;
}

} // namespace ConstraintPlugin
