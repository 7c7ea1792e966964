// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "LeastSquares.h"
#include <cmath>
#include <numeric>

namespace ConstraintPlugin {

namespace {

double squareOf(const std::vector<double>& v) {
    return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
}

/** One pass from zero. @param end  of |A^T (A x - b)|^2, at which it stops */
std::vector<double> descend(const SparseColumns& A, std::vector<double> residual, double end, int maxIterations) {
    std::vector<double> x(A.numColumns()), gradient = A.transposed(residual), direction = gradient;
    double square = squareOf(gradient);
    for (int iteration = 0; square > end && iteration < maxIterations; iteration++) {
        std::vector<double> image(A.numRows());
        A.addProduct(direction, image);
        const double step = square / squareOf(image);
        for (std::size_t k = 0; k < x.size(); k++)
            x[k] += step * direction[k];
        for (std::size_t i = 0; i < residual.size(); i++)
            residual[i] -= step * image[i];
        gradient = A.transposed(residual);
        const double next = squareOf(gradient);
        for (std::size_t k = 0; k < x.size(); k++)
            direction[k] = gradient[k] + (next / square) * direction[k];
        square = next;
    }
    return x;
}

} // namespace

void SparseColumns::addProduct(const std::vector<double>& x, std::vector<double>& result) const {
    std::size_t i = 0;
    for (std::size_t column = 0; column < ends.size(); column++)
        for (; i < ends[column]; i++) {
            double* const three = &result[3 * particles[i]];
            three[0] += x[column] * values[i].x;
            three[1] += x[column] * values[i].y;
            three[2] += x[column] * values[i].z;
        }
}

std::vector<double> SparseColumns::transposed(const std::vector<double>& y) const {
    std::vector<double> result(ends.size());
    std::size_t i = 0;
    for (std::size_t column = 0; column < ends.size(); column++)
        for (; i < ends[column]; i++) {
            const double* const three = &y[3 * particles[i]];
            result[column] += dot(values[i], {three[0], three[1], three[2]});
        }
    return result;
}

std::vector<double> solveLeastNorm(const SparseColumns& A, const std::vector<double>& b) {
    constexpr double reduction = 1e-14; // of A^T (A x - b) in each pass
    constexpr double rounding = 1e-13;  // of A x - b
    constexpr int maxPasses = 3;        // the later ones take out what rounding left in the residual
    const int maxIterations = 1000 + 4 * (int) std::min<std::size_t>(A.numRows(), 2000);
    std::vector<double> x(A.numColumns());
    const double end = reduction * reduction * squareOf(A.transposed(b));
    for (int pass = 0; pass < maxPasses; pass++) {
        std::vector<double> residual(b.size());
        A.addProduct(x, residual);
        for (std::size_t i = 0; i < b.size(); i++)
            residual[i] = b[i] - residual[i];
        if (squareOf(residual) <= rounding * rounding * squareOf(b))
            break;
        const std::vector<double> correction = descend(A, std::move(residual), end, maxIterations);
        for (std::size_t k = 0; k < x.size(); k++)
            x[k] += correction[k];
    }
    return x;
}

} // namespace ConstraintPlugin
