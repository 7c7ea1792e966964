// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SmallMatrix.h"
#include "SparseMatrix.h"
#include "support/Dense.h"
#include "support/SystemTable.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>; // as ours

/** Diagonally strong and far from symmetric. */
static RowMajor randomMatrix(int n, Random& random) {
    RowMajor A(n, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A(i, j) = random.uniform(-1, 1) + (i == j ? 1.2 * n : 0);
    return A;
}

static Vector randomVector(int n, Random& random) {
    Vector b(n);
    for (int i = 0; i < n; i++)
        b[i] = random.uniform(-1, 1);
    return b;
}

template <int N>
static void expectClosedFormSolves() {
    Random random(N);
    for (int trial = 0; trial < 50; trial++) {
        const RowMajor A = randomMatrix(N, random);
        const Vector b = randomVector(N, random), expected = solve(A, b);
        Vector x = b;
        ASSERT_TRUE(solveClosedForm<N>(A.data(), x.data()));
        EXPECT_LT((x - expected).norm(), 1e-11 * expected.norm());
    }
}

TEST(SmallMatrix, ClosedFormsAgreeWithEigen) {
    expectClosedFormSolves<1>();
    expectClosedFormSolves<2>();
    expectClosedFormSolves<3>();
}

TEST(SmallMatrix, ClosedFormsReportSingular) {
    double b[3] = {1, 2, 3};
    const double zero[1] = {0}, negative[1] = {-1};
    EXPECT_FALSE(solveClosedForm<1>(zero, b));
    EXPECT_FALSE(solveClosedForm<1>(negative, b));
    const double rankOne[4] = {1, 2, 2, 4};
    EXPECT_FALSE(solveClosedForm<2>(rankOne, b));
    const double rankTwo[9] = {1, 2, 3, 4, 5, 6, 5, 7, 9};
    EXPECT_FALSE(solveClosedForm<3>(rankTwo, b));
}

TEST(SmallMatrix, NothingIsSolvedWithNaN) {
    const double n = std::numeric_limits<double>::quiet_NaN();
    double b[3] = {1, 2, 3};
    const double one[1] = {n}, two[4] = {1, n, 0, 1}, three[9] = {1, 0, 0, 0, n, 0, 0, 0, 1};
    EXPECT_FALSE(solveClosedForm<1>(one, b));
    EXPECT_FALSE(solveClosedForm<2>(two, b));
    EXPECT_FALSE(solveClosedForm<3>(three, b));
    double dense[9] = {1, 0, 0, 0, n, 0, 0, 0, 1};
    EXPECT_EQ(solveDense(3, dense, b), 1);
}

TEST(SmallMatrix, DenseAgreesWithEigen) {
    Random random(9);
    for (int n = 1; n <= 12; n++)
        for (int trial = 0; trial < 10; trial++) {
            RowMajor A = randomMatrix(n, random);
            if (trial % 2) // needs its pivoting
                A.diagonal().setZero();
            if (n == 1)
                A(0, 0) = 3;
            const Vector b = randomVector(n, random), expected = solve(A, b);
            Vector x = b;
            RowMajor work = A;
            ASSERT_EQ(solveDense(n, work.data(), x.data()), -1);
            EXPECT_LT((x - expected).norm(), 1e-10 * expected.norm());
        }
}

TEST(SmallMatrix, DenseNamesTheColumnThatVanishes) {
    Random random(2);
    for (int bad = 0; bad < 6; bad++) {
        RowMajor A = randomMatrix(6, random);
        A.col(bad) = bad == 0 ? Vector::Zero(6) : Vector(2 * A.col(0));
        Vector b = randomVector(6, random);
        EXPECT_EQ(solveDense(6, A.data(), b.data()), bad);
    }
}

/** A matrix over a random sparse pattern, in the factor's order, and its SparseMatrix. */
struct SparseCase {
    SymbolicFactor symbolic;
    Matrix A;

    SparseCase(int n, int bonds, unsigned seed, bool symmetric) {
        Random random(seed);
        std::vector<std::vector<int>> neighbours(n);
        for (int b = 0; b < bonds; b++) {
            const int i = random.below(n), j = random.below(n);
            if (i == j || std::count(neighbours[i].begin(), neighbours[i].end(), j))
                continue;
            neighbours[i].push_back(j);
            neighbours[j].push_back(i);
        }
        for (auto& list : neighbours)
            std::sort(list.begin(), list.end());
        eliminate(neighbours, symbolic);
        std::vector<int> position(n);
        for (int p = 0; p < n; p++)
            position[symbolic.order[p]] = p;
        A = Matrix::Zero(n, n);
        for (int i = 0; i < n; i++) {
            A(i, i) = 8 + random.uniform(0, 1);
            for (int j : neighbours[symbolic.order[i]])
                A(i, position[j]) = random.uniform(-1, 1);
        }
        if (symmetric)
            A = Matrix(0.5 * (A + A.transpose()));
    }
    SparseMatrix matrix() const {
        SparseMatrix matrix(symbolic);
        matrix.setZero();
        matrix.diagonal.clear();
        for (int k = 0; k < A.rows(); k++) {
            matrix.diagonal.push_back(A(k, k));
            for (int e = symbolic.columnStart[k]; e < symbolic.columnStart[k + 1]; e++) {
                matrix.lower[e] = A(symbolic.entryRow[e], k);
                matrix.upper[e] = A(k, symbolic.entryRow[e]);
            }
        }
        return matrix;
    }
};

TEST(SparseMatrix, LUAgreesWithEigen) {
    for (unsigned seed = 0; seed < 10; seed++) {
        const SparseCase sparse(80, 60 + 30 * seed, seed, false);
        SparseMatrix matrix = sparse.matrix();
        ASSERT_EQ(matrix.factorizeLU(), -1);
        Random random(seed);
        const Vector b = randomVector(80, random), expected = solve(sparse.A, b);
        Vector x = b;
        matrix.solve(x.data());
        EXPECT_LT((x - expected).norm(), 1e-12 * expected.norm());
    }
}

TEST(SparseMatrix, LDLTAgreesWithEigenAndReadsTheLowerTriangleOnly) {
    for (unsigned seed = 0; seed < 10; seed++) {
        const SparseCase sparse(80, 60 + 30 * seed, seed, true);
        SparseMatrix matrix = sparse.matrix();
        std::fill(matrix.upper.begin(), matrix.upper.end(), 1e300);
        ASSERT_EQ(matrix.factorizeLDLT(), -1);
        Random random(seed);
        const Vector b = randomVector(80, random), expected = solveSymmetric(sparse.A, b);
        Vector x = b;
        matrix.solve(x.data());
        EXPECT_LT((x - expected).norm(), 1e-12 * expected.norm());
    }
}

TEST(SparseMatrix, NamesTheColumnWhosePivotVanishes) {
    SparseCase sparse(40, 60, 1, true);
    const int bad = 33;
    // The Schur complement of row 33 becomes zero.
    const Vector column = sparse.A.col(bad).head(bad);
    sparse.A(bad, bad) = column.dot(solveSymmetric(sparse.A.topLeftCorner(bad, bad), column));
    ASSERT_GT(sparse.A(bad, bad), 0) << "a row that nothing couples to";
    EXPECT_EQ(sparse.matrix().factorizeLDLT(), bad);
    EXPECT_EQ(sparse.matrix().factorizeLU(), bad);
    SparseMatrix matrix = sparse.matrix();
    matrix.diagonal[5] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(matrix.factorizeLU(), 5);
}

TEST(SparseMatrix, RankRevealingLeavesOutDependentRowsAndShowsTheDependence) {
    // Gram matrix of unit vectors in a complete pattern; the last two depend on the others.
    std::vector<std::vector<int>> neighbours(6);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            if (i != j)
                neighbours[i].push_back(j);
    SymbolicFactor symbolic;
    eliminate(neighbours, symbolic);
    Random random(4);
    Matrix rows(6, 8);
    for (int i = 0; i < 6; i++)
        rows.row(i) = randomVector(8, random).normalized();
    rows.row(4) = (rows.row(0) - 0.5 * rows.row(2)).normalized();
    rows.row(5) = (rows.row(1) + rows.row(3)).normalized();
    const Matrix gram = product(rows, rows.transpose());
    SparseMatrix matrix(symbolic);
    for (int k = 0; k < 6; k++) {
        matrix.diagonal[k] = 1;
        for (int e = symbolic.columnStart[k]; e < symbolic.columnStart[k + 1]; e++)
            matrix.lower[e] = gram(symbolic.entryRow[e], k);
    }
    std::vector<double> pivots;
    matrix.factorizeRankRevealing(1e-9, pivots);
    for (int k = 0; k < 6; k++)
        EXPECT_EQ(pivots[k] > 1e-9, k < 4) << k;
    // A pivot is the square of the distance from the span of the rows before.
    const Matrix before = rows.topRows(3).transpose();
    const Vector row = rows.row(3);
    EXPECT_NEAR(pivots[3], (row - apply(before, leastSquares(before, row))).squaredNorm(), 1e-12);
    for (int k : {4, 5}) {
        const std::vector<double> n = matrix.dependence(k);
        Vector sum = Vector::Zero(8);
        for (int i = 0; i < 6; i++)
            sum += n[i] * rows.row(i).transpose();
        EXPECT_DOUBLE_EQ(n[k], 1);
        EXPECT_LT(sum.norm(), 1e-7) << k;
    }
}
