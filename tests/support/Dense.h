// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_DENSE_H_
#define CONSTRAINTS_TESTS_DENSE_H_

#include <Eigen/Core>

namespace ConstraintTests {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

// Functions of Eigen for tests. Its templates take some ten seconds to compile, so they are compiled once, here.

Matrix product(const Matrix& A, const Matrix& B);
Vector apply(const Matrix& A, const Vector& x);
/** The solution of A x = b by LU with pivoting. */
Vector solve(const Matrix& A, const Vector& b);
/** The same by LDLT, of a symmetric matrix. */
Vector solveSymmetric(const Matrix& A, const Vector& b);
/** The shortest x of all with the smallest |A x - b|.
 *  @param threshold  pivots below it, relative to the largest, count as zero; 0: rounding alone decides
 *  @param rank       out, if given: the rank of A by that threshold */
Vector leastSquares(const Matrix& A, const Vector& b, double threshold = 0, int* rank = nullptr);
Matrix inverse(const Matrix& A);
double determinant(const Matrix& A);
/** In descending order. */
Vector singularValues(const Matrix& A);

} // namespace ConstraintTests

#endif
