// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The closed form of rigid triangles compared with the readable solver: any shape, masses, turns and errors at the
// start.
#include "ConstraintSolver.h"
#include "support/SystemTable.h"
#include "support/Variable.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** Triangles of random shapes, masses and places. */
struct Triangles {
    ConstraintSet set;
    std::vector<Real3> start;

    /** @param startError  how far, relatively, lengths at the start are off
     *  @param flattest    smallest height relative to the first side */
    Triangles(int count, unsigned seed, double startError, double flattest = 0.4) {
        Random random(seed);
        for (int i = 0; i < count; i++) {
            const double base = random.uniform(0.05, 0.25);
            const double height = base * random.uniform(flattest, 1), along = base * random.uniform(-0.5, 1.5);
            Real3 x = random.inCube(1), y = random.inCube(1);
            x = (1 / norm(x)) * x;
            y = y - dot(x, y) * x;
            y = (1 / norm(y)) * y;
            const Real3 origin = random.inCube(3);
            const Real3 places[3] = {origin, origin + base * x, origin + along * x + height * y};
            for (const Real3& place : places) {
                start.push_back(place + base * startError * random.inCube(1));
                set.inverseMass.push_back(1 / std::exp(random.uniform(0, 5)));
            }
            for (const auto& [j, k] : {std::pair(0, 1), {0, 2}, {1, 2}}) {
                Constraint c;
                c.particles = {3 * i + j, 3 * i + k};
                c.target = norm(places[j] - places[k]);
                c.index = set.numListed++;
                set.constraints.push_back(c);
            }
        }
    }
};

struct Solved {
    SolveReport report;
    std::vector<Real3> delta, impulse;
    std::vector<double> lambda;

    Solved(const Triangles& triangles, bool isFast, double size, double tolerance) : impulse(triangles.start.size()) {
        ConstraintSolver solver(triangles.set, Method::MatrixInversion);
        if (isFast)
            solver.setTaskRunner(std::make_shared<TaskRunner>());
        Random random(7);
        for (std::size_t i = 0; i < triangles.start.size(); i++)
            delta.push_back(random.inCube(size));
        report =
            solver.solvePositions(triangles.start.data(), Box(), delta.data(), tolerance, 100, 0.002, impulse.data());
        lambda = solver.getImpulses().lambda;
    }
};

void expectEqual(const Solved& actual, const Solved& expected, double bound) {
    ASSERT_EQ(expected.report.outcome, Outcome::Converged);
    ASSERT_EQ(actual.report.outcome, Outcome::Converged);
    double largest = 0;
    for (double l : expected.lambda)
        largest = std::max(largest, std::abs(l));
    for (std::size_t i = 0; i < expected.delta.size(); i++) {
        EXPECT_LT(norm(actual.delta[i] - expected.delta[i]), bound) << "particle " << i;
        EXPECT_LT(norm(actual.impulse[i] - expected.impulse[i]), 1e3 * bound) << "particle " << i;
        EXPECT_NEAR(actual.lambda[i], expected.lambda[i], 1e3 * bound * largest) << "side " << i;
    }
}

class RigidTriangles : public testing::TestWithParam<const char*> {
protected:
    Variable lanes{"OPENMM_CONSTRAINTS_LANES", GetParam()};
};

} // namespace

TEST_P(RigidTriangles, AreSolvedInClosedForm) {
    for (unsigned seed = 0; seed < 20; seed++)
        for (double size : {1e-4, 0.003, 0.008})
            for (double startError : {0.0, 1e-9, 1e-5}) {
                SCOPED_TRACE(testing::Message() << seed << ", size " << size << ", error " << startError);
                const Triangles triangles(16, seed, startError);
                const Solved actual(triangles, true, size, 1e-12);
                EXPECT_EQ(actual.report.iterations, 1);
                EXPECT_LT(actual.report.maxError, 1e-13);
                expectEqual(actual, Solved(triangles, false, size, 1e-14), 1e-12);
            }
}

TEST_P(RigidTriangles, ConvergeFromStartsWithLargeErrors) {
    for (double startError : {1e-3, 0.01, 0.1})
        for (unsigned seed = 0; seed < 20; seed++) {
            const Triangles triangles(16, seed, startError);
            expectEqual(Solved(triangles, true, 0.003, 1e-14), Solved(triangles, false, 0.003, 1e-14), 1e-11);
        }
}

TEST_P(RigidTriangles, MayBeNearlyFlat) {
    for (unsigned seed = 0; seed < 20; seed++) {
        const Triangles triangles(16, seed, 0, 1e-3);
        expectEqual(Solved(triangles, true, 1e-6, 1e-12), Solved(triangles, false, 1e-6, 1e-14), 1e-9);
    }
}

TEST_P(RigidTriangles, FailAsWithTheReadableSolverWhereNoneFits) {
    // Displacements of the size of the sides turn most of them too far.
    for (unsigned seed = 0; seed < 20; seed++) {
        const Triangles triangles(1, seed, 0);
        const Solved actual(triangles, true, 0.3, 1e-12), expected(triangles, false, 0.3, 1e-12);
        EXPECT_EQ(actual.report.outcome, expected.report.outcome) << seed;
        EXPECT_EQ(actual.report.constraint, expected.report.constraint) << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Lanes, RigidTriangles, testing::Values("4", "8"),
                         [](const auto& info) { return std::string("Of") + info.param; });
