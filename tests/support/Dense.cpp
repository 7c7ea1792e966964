// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Dense.h"
#include <Eigen/Dense>

namespace ConstraintTests {

Matrix product(const Matrix& A, const Matrix& B) {
    return A * B;
}

Vector apply(const Matrix& A, const Vector& x) {
    return A * x;
}

Vector solve(const Matrix& A, const Vector& b) {
    return A.partialPivLu().solve(b);
}

Vector solveSymmetric(const Matrix& A, const Vector& b) {
    return A.ldlt().solve(b);
}

Vector leastSquares(const Matrix& A, const Vector& b, double threshold, int* rank) {
    Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition;
    if (threshold > 0)
        decomposition.setThreshold(threshold);
    decomposition.compute(A);
    if (rank != nullptr)
        *rank = (int) decomposition.rank();
    return decomposition.solve(b);
}

Matrix inverse(const Matrix& A) {
    return A.inverse();
}

double determinant(const Matrix& A) {
    return A.determinant();
}

Vector singularValues(const Matrix& A) {
    return Eigen::JacobiSVD<Matrix>(A).singularValues();
}

} // namespace ConstraintTests
