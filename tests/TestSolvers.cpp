// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintSolver.h"
#include "GenericRank.h"
#include "support/DenseOracle.h"
#include "support/SystemTable.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

static double distance(const Arrays& a, const Arrays& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        largest = std::max(largest, std::sqrt(dot(a[i] - b[i], a[i] - b[i])));
    return largest;
}

/** Something for every particle that can move. */
static Arrays randomOf(const TestSystem& system, double size, unsigned seed) {
    Random random(seed);
    Arrays x;
    for (double mass : system.masses)
        x.push_back(mass > 0 ? random.inCube(size) : Real3());
    return x;
}

using Case = std::tuple<std::string, ClusterSolverKind>;

/** One system under one kind of solver; each cluster that the kind can serve is served by it. */
class Solvers : public testing::TestWithParam<Case> {
protected:
    Solvers()
        : kind(std::get<1>(GetParam())), system(withRandomMasses(findSystem(std::get<0>(GetParam())), 42)),
          set(toConstraintSet(system)), verifier(set, system.box, system.positions),
          independent(analyzeGenericRank(set, allConstraints(set)).independent),
          graph(set, independent, kind == ClusterSolverKind::Iterative ? Method::Iterative : Method::MatrixInversion,
                kind == ClusterSolverKind::Sparse ? 0 : maxDenseCluster),
          jacobian(set, graph.rows), matrixInversion(graph) {
        for (Cluster& cluster : graph.clusters)
            if (kind == ClusterSolverKind::Dense && cluster.kind != ClusterSolverKind::Sparse)
                cluster.kind = kind;
        jacobian.setStart(system.positions.data(), system.box);
    }
    /** Iterative converges linearly: what it leaves is larger by the condition of the matrix. */
    double tolerance() const {
        return kind == ClusterSolverKind::Iterative ? 1e-13 : 2e-14;
    }
    /** @param newtonIterations  most that a direct solver may need: a wrong matrix would still converge, slowly */
    template <class Solve>
    void forEachCluster(int newtonIterations, Solve solve) {
        for (const Cluster& cluster : graph.clusters) {
            IterativeSolver iterative;
            ClusterSolver& solver =
                cluster.kind == ClusterSolverKind::Iterative ? (ClusterSolver&) iterative : matrixInversion;
            const ClusterReport report = solve(solver, cluster, StageInput{jacobian, tolerance(), 100000});
            ASSERT_EQ(report.outcome, Outcome::Converged);
            EXPECT_LE(report.maxError, tolerance());
            if (cluster.kind != ClusterSolverKind::Iterative) {
                EXPECT_LE(report.iterations, newtonIterations);
            }
        }
    }
    std::vector<double> byConstraint(const std::vector<double>& byRow) const {
        std::vector<double> result(set.constraints.size());
        for (int row = 0; row < graph.numRows(); row++)
            result[graph.rows[row]] = byRow[row];
        return result;
    }
    void expectSameMultipliers(const std::vector<double>& found, const std::vector<double>& expected) const {
        if (!system.isRegular()) // then they are not unique, only what they do together is
            return;
        double largest = 0;
        for (double m : expected)
            largest = std::max(largest, std::abs(m));
        for (std::size_t k = 0; k < expected.size(); k++)
            EXPECT_NEAR(found[k], expected[k], 1e-9 * largest) << "constraint " << k;
    }

    ClusterSolverKind kind;
    TestSystem system;
    ConstraintSet set;
    Verifier verifier;
    std::vector<int> independent;
    ConstraintGraph graph;
    Jacobian jacobian;
    MatrixInversionSolver matrixInversion;
};

TEST_P(Solvers, AgreeWithDenseEigenOnPositions) {
    const Arrays before = randomOf(system, 0.006, 1);
    const OracleSolution expected = denseSolvePositions(set, system.box, system.positions, before);
    Arrays delta = before, positions = system.positions;
    std::vector<double> lambda(graph.numRows(), 0.0);
    forEachCluster(6, [&](ClusterSolver& solver, const Cluster& cluster, const StageInput& input) {
        return solver.solvePositions(cluster, input, delta.data(), lambda.data());
    });
    EXPECT_LT(distance(delta, expected.x), 1e-11);
    expectSameMultipliers(byConstraint(lambda), expected.multiplier);
    for (std::size_t i = 0; i < positions.size(); i++)
        positions[i] += delta[i];
    EXPECT_TRUE(verifier.accepts(positions, 1e-12));
    EXPECT_TRUE(verifier.isConstraintImpulse(before, delta, 1e-10));
    EXPECT_GT(distance(before, delta), 1e-4) << "there was nothing to correct";
}

TEST_P(Solvers, AgreeWithDenseEigenOnVelocities) {
    const Arrays before = randomOf(system, 3, 2);
    const OracleSolution expected = denseSolveVelocities(set, system.box, system.positions, before);
    Arrays velocity = before;
    std::vector<double> mu(graph.numRows(), 0.0);
    forEachCluster(3, [&](ClusterSolver& solver, const Cluster& cluster, const StageInput& input) {
        return solver.solveVelocities(cluster, input, 0.002, velocity.data(), mu.data());
    });
    EXPECT_LT(distance(velocity, expected.x), 1e-8);
    expectSameMultipliers(byConstraint(mu), expected.multiplier);
    EXPECT_TRUE(verifier.holdsVelocities(velocity, 0.002, 1e-12));
    EXPECT_TRUE(verifier.isConstraintImpulse(before, velocity, 1e-9));
    EXPECT_GT(distance(before, velocity), 0.1) << "there was nothing to correct";
}

TEST_P(Solvers, LeaveWhatHoldsAlone) {
    // No displacement and no velocity: nothing to do but to correct rounding.
    const bool isDirect = kind != ClusterSolverKind::Iterative;
    Arrays zero(system.positions.size());
    std::vector<double> multiplier(graph.numRows(), 0.0);
    for (const Cluster& cluster : graph.clusters) {
        IterativeSolver iterative;
        ClusterSolver& solver = isDirect ? (ClusterSolver&) matrixInversion : iterative;
        const StageInput input{jacobian, 1e-8, 10};
        for (const ClusterReport& report :
             {solver.solvePositions(cluster, input, zero.data(), multiplier.data()),
              solver.solveVelocities(cluster, input, 1, zero.data(), multiplier.data())}) {
            EXPECT_EQ(report.outcome, Outcome::Converged);
            EXPECT_LE(report.iterations, 1);
        }
    }
    EXPECT_LE(distance(zero, Arrays(zero.size())), 1e-15);
}

TEST_P(Solvers, SecondSolveFromTheSameInputGivesTheSameBits) {
    const Arrays before = randomOf(system, 0.006, 4);
    Arrays results[2] = {before, before};
    for (Arrays& delta : results) {
        std::vector<double> lambda(graph.numRows(), 0.0);
        forEachCluster(6, [&](ClusterSolver& solver, const Cluster& cluster, const StageInput& input) {
            return solver.solvePositions(cluster, input, delta.data(), lambda.data());
        });
    }
    EXPECT_EQ(distance(results[0], results[1]), 0);
}

INSTANTIATE_TEST_SUITE_P(Table, Solvers,
                         testing::Combine(testing::ValuesIn(systemNames()),
                                          testing::Values(ClusterSolverKind::Iterative, ClusterSolverKind::ClosedForm1,
                                                          ClusterSolverKind::Dense, ClusterSolverKind::Sparse)),
                         [](const testing::TestParamInfo<Case>& info) {
                             const ClusterSolverKind kind = std::get<1>(info.param);
                             const char* const name = kind == ClusterSolverKind::Iterative     ? "Iterative"
                                                      : kind == ClusterSolverKind::ClosedForm1 ? "AsChosen"
                                                      : kind == ClusterSolverKind::Dense       ? "Dense"
                                                                                               : "Sparse";
                             return std::get<0>(info.param) + "_" + name;
                         });
