// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintSolver.h"
#include "support/DenseOracle.h"
#include "support/SystemTable.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();
constexpr Method bothMethods[] = {Method::Iterative, Method::MatrixInversion};

static Arrays randomOf(const TestSystem& system, double size, unsigned seed) {
    Random random(seed);
    Arrays x;
    for (double mass : system.masses)
        x.push_back(mass > 0 ? random.inCube(size) : Real3());
    return x;
}

static double distance(const Arrays& a, const Arrays& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        largest = std::max(largest, std::sqrt(dot(a[i] - b[i], a[i] - b[i])));
    return largest;
}

TEST(ConstraintSolver, WarmStartSavesSweepsAndChangesNothingElse) {
    const TestSystem& system = findSystem("chain");
    ConstraintSolver solver(toConstraintSet(system), Method::Iterative);
    solver.setWarmStart(true);
    const Arrays before = randomOf(system, 0.004, 1);
    Arrays cold = before, warm = before;
    const SolveReport first = solver.solvePositions(system.positions.data(), system.box, cold.data(), 1e-10, 10000);
    const SolveReport second = solver.solvePositions(system.positions.data(), system.box, warm.data(), 1e-10, 10000);
    ASSERT_EQ(first.outcome, Outcome::Converged);
    ASSERT_EQ(second.outcome, Outcome::Converged);
    EXPECT_GT(first.iterations, 5);
    EXPECT_LE(second.iterations, 1) << "the multipliers of the same solve are the solution";
    EXPECT_LT(distance(cold, warm), 1e-8);
    const Arrays expected = denseSolvePositions(solver.getSet(), system.box, system.positions, before).x;
    EXPECT_LT(distance(cold, expected), 1e-8);
    EXPECT_LT(distance(warm, expected), 1e-8);
}

TEST(ConstraintSolver, StartsFromZeroUnlessAskedOtherwise) {
    const TestSystem& system = findSystem("chain");
    ConstraintSolver solver(toConstraintSet(system), Method::Iterative);
    const Arrays before = randomOf(system, 0.004, 1);
    Arrays first = before, second = before;
    solver.solvePositions(system.positions.data(), system.box, first.data(), 1e-10, 10000);
    solver.solvePositions(system.positions.data(), system.box, second.data(), 1e-10, 10000);
    EXPECT_EQ(distance(first, second), 0);
}

TEST(ConstraintSolver, RecoversFromAMisleadingWarmStart) {
    const TestSystem& system = findSystem("chain");
    ConstraintSolver solver(toConstraintSet(system), Method::Iterative);
    solver.setWarmStart(true);
    Impulses wild = solver.getImpulses();
    for (std::size_t k = 0; k < wild.lambda.size(); k++)
        wild.lambda[k] = k % 2 ? 1e3 : -1e3;
    solver.setImpulses(wild);
    const Arrays before = randomOf(system, 0.004, 1);
    Arrays delta = before;
    ASSERT_EQ(solver.solvePositions(system.positions.data(), system.box, delta.data(), 1e-10, 1000).outcome,
              Outcome::Converged);
    EXPECT_LT(distance(delta, denseSolvePositions(solver.getSet(), system.box, system.positions, before).x), 1e-8);
}

TEST(ConstraintSolver, KeepsMultipliersWhenTheMethodChanges) {
    const TestSystem& system = findSystem("branched");
    ConstraintSolver solver(toConstraintSet(system), Method::MatrixInversion);
    Arrays delta = randomOf(system, 0.004, 1);
    solver.solvePositions(system.positions.data(), system.box, delta.data(), 1e-12, 100);
    const auto before = solver.getImpulses().lambda;
    solver.setMethod(Method::Iterative); // another order of rows
    EXPECT_EQ(solver.getImpulses().lambda, before);
    EXPECT_GT(std::abs(before[17]), 0);
}

TEST(ConstraintSolver, RescalesMultipliersOfThePositionStageOnly) {
    ConstraintSolver solver(toConstraintSet(findSystem("CH2")), Method::Iterative);
    solver.setImpulses({{1, 2}, {3, 4}});
    solver.rescaleImpulses(0.25);
    EXPECT_EQ(solver.getImpulses().lambda, (std::vector<double>{0.25, 0.5}));
    EXPECT_EQ(solver.getImpulses().mu, (std::vector<double>{3, 4}));
}

TEST(ConstraintSolver, AddsTheImpulseThatMovedThePositions) {
    const TestSystem& system = findSystem("methane");
    for (Method method : bothMethods) {
        ConstraintSolver solver(toConstraintSet(system), method);
        const Arrays before = randomOf(system, 0.004, 1);
        Arrays delta = before, velocity(before.size());
        solver.solvePositions(system.positions.data(), system.box, delta.data(), 1e-12, 10000, 0.5, velocity.data());
        for (std::size_t i = 0; i < before.size(); i++)
            EXPECT_LT(distance({0.5 * velocity[i]}, {delta[i] - before[i]}), 1e-14) << i;
    }
}

TEST(ConstraintSolver, CorrectsAnglesThatAreWithinTheTolerance) {
    // Otherwise their errors would have the same sign in every step.
    ConstraintSet set;
    set.inverseMass = {1, 1, 1};
    Constraint angle;
    angle.kind = CoordinateKind::Angle;
    angle.particles = {0, 1, 2};
    angle.target = M_PI / 2;
    set.constraints = {angle};
    set.numListed = 1;
    const Arrays x = {{0.1, 0, 0}, {}, {0, 0.1, 0}};
    for (Method method : bothMethods) {
        ConstraintSolver solver(set, method);
        Arrays delta = {{0, 1e-8, 0}, {}, {}};
        solver.solvePositions(x.data(), Box(), delta.data(), 1e-4, 100, 0, nullptr);
        Arrays moved;
        for (std::size_t i = 0; i < x.size(); i++)
            moved.push_back(x[i] + delta[i]);
        EXPECT_LT(solver.measurePositions(moved.data(), Box()).maxError, 1e-11);
    }
}

TEST(ConstraintSolver, ReportsNonConvergenceAndTheWorstConstraint) {
    const TestSystem& system = findSystem("disjoint");
    for (Method method : bothMethods) {
        ConstraintSolver solver(toConstraintSet(system), method);
        Arrays delta(system.positions.size());
        delta[10] = {0.03, 0.02, 0.05}; // the outer end of constraint 8
        const SolveReport report = solver.solvePositions(system.positions.data(), system.box, delta.data(), 1e-12, 1);
        EXPECT_EQ(report.outcome, Outcome::NotConverged);
        EXPECT_TRUE(report.constraint == 7 || report.constraint == 8) << report.constraint;
        EXPECT_GT(report.maxError, 1e-12);
        EXPECT_EQ(report.iterations, 1);
        const Constraint& c = solver.getSet().constraints[report.constraint];
        EXPECT_NEAR(std::abs(report.value - c.target) / c.target, report.maxError, 1e-12);
    }
}

TEST(ConstraintSolver, ReportsSingularWhereABondTurnsByNinetyDegrees) {
    const TestSystem& system = findSystem("disjoint");
    for (Method method : bothMethods) {
        ConstraintSolver solver(toConstraintSet(system), method);
        // Constraint 6 joins 11 and 12, along z: put the bond along x, and stretch it.
        const Real3 b = system.positions[11] - system.positions[12];
        Arrays delta(system.positions.size());
        delta[11] = Real3{1.01 * b.z, 0, 0} - b;
        const SolveReport stretched =
            solver.solvePositions(system.positions.data(), system.box, delta.data(), 1e-14, 100);
        EXPECT_EQ(stretched.outcome, Outcome::Singular);
        EXPECT_EQ(stretched.constraint, 6);
        EXPECT_NEAR(stretched.maxError, 0.01, 1e-10);
    }
}

TEST(ConstraintSolver, ReportsTheTurnedBondOfACluster) {
    // Bonds at right angles do not couple: the turned one alone makes the matrix singular, in any place of the cluster.
    for (int size = 1; size <= 3; size++)
        for (int turned = 0; turned < size; turned++)
            for (Method method : bothMethods) {
                const Real3 ends[3] = {{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}};
                Arrays start{{}}, delta{{}};
                std::vector<std::pair<int, int>> bonds;
                for (int i = 0; i < size; i++) {
                    start.push_back(ends[i]);
                    delta.push_back(i == turned ? 1.02 * ends[(i + 1) % 3] - ends[i] : Real3());
                    bonds.push_back({0, i + 1});
                }
                ConstraintSolver solver(pattern(size + 1, bonds), method);
                const SolveReport report = solver.solvePositions(start.data(), Box(), delta.data(), 1e-10, 100);
                if (report.outcome == Outcome::Converged) // through its neighbour, which pulls at the centre
                    continue;
                EXPECT_EQ(report.outcome, Outcome::Singular) << size << " " << turned;
                EXPECT_EQ(report.constraint, turned) << size;
                EXPECT_NEAR(report.maxError, std::abs(report.value - 0.1) / 0.1, 1e-12);
            }
}

TEST(ConstraintSolver, ReportsNaNAndTheConstraintItIsIn) {
    const TestSystem& system = findSystem("disjoint");
    for (Method method : bothMethods)
        for (double bad : {notANumber, std::numeric_limits<double>::infinity()}) {
            ConstraintSolver solver(toConstraintSet(system), method);
            Arrays delta(system.positions.size()), velocity = delta;
            delta[12].y = bad;
            velocity[12].z = bad;
            SolveReport report = solver.solvePositions(system.positions.data(), system.box, delta.data(), 1e-8, 100);
            EXPECT_EQ(report.outcome, Outcome::NotFinite);
            EXPECT_EQ(report.constraint, 6);
            report = solver.solveVelocities(system.positions.data(), system.box, velocity.data(), 0.001, 1e-8, 100);
            EXPECT_EQ(report.outcome, Outcome::NotFinite);
            EXPECT_EQ(report.constraint, 6);
        }
}

TEST(ConstraintSolver, ReportsNaNInADependentConstraint) {
    for (Method method : bothMethods) {
        ConstraintSolver solver(toConstraintSet(findSystem("methane")), method);
        Arrays delta(5);
        for (Real3& d : delta)
            d.x = notANumber;
        EXPECT_EQ(solver.solvePositions(findSystem("methane").positions.data(), Box(), delta.data(), 1e-8, 100).outcome,
                  Outcome::NotFinite);
    }
}

TEST(ConstraintSolver, ReportsContradictoryLengthsOfADependentSet) {
    const TestSystem& system = findSystem("methane");
    for (Method method : bothMethods)
        for (int k = 0; k < 10; k++) {
            ConstraintSet set = toConstraintSet(system);
            set.constraints[k].target *= 1.003;
            ConstraintSolver solver(set, method);
            Arrays delta(5);
            const SolveReport report =
                solver.solvePositions(system.positions.data(), system.box, delta.data(), 1e-6, 10000);
            EXPECT_EQ(report.outcome, Outcome::Inconsistent);
            EXPECT_GT(report.maxError, 1e-6);
            ASSERT_GE(report.constraint, 0);
        }
}

TEST(ConstraintSolver, ReportsAnImmovablePairOfAForceThatDoesNotHold) {
    for (Method method : bothMethods) {
        ConstraintSet set = pattern(3, {{1, 2}, {0, 1}});
        set.inverseMass = {0, 0, 1};
        set.constraints[1].force = 0;
        ConstraintSolver solver(set, method);
        const Arrays right{{0, 0, 0}, {0.1, 0, 0}, {0.1, 0.1, 0}}, wrong{{0, 0, 0}, {0.11, 0, 0}, {0.11, 0.1, 0}};
        Arrays delta(3);
        EXPECT_EQ(solver.solvePositions(right.data(), Box(), delta.data(), 1e-6, 100).outcome, Outcome::Converged);
        const SolveReport report = solver.solvePositions(wrong.data(), Box(), delta.data(), 1e-6, 100);
        EXPECT_EQ(report.outcome, Outcome::Inconsistent);
        EXPECT_EQ(report.constraint, 1);
        EXPECT_NEAR(report.value, 0.11, 1e-12);

        set.constraints[1].force = -1; // the System's own
        ConstraintSolver ignoring(set, method);
        EXPECT_EQ(ignoring.solvePositions(wrong.data(), Box(), delta.data(), 1e-6, 100).outcome, Outcome::Converged);
        EXPECT_EQ(ignoring.getImpulses().lambda, (std::vector<double>{0, 0}));
    }
}

TEST(ConstraintSolver, DependentConstraintsMeetTheToleranceToo) {
    for (const char* name : {"methane", "duplicates"})
        for (Method method : bothMethods)
            for (double tolerance : {1e-4, 1e-8, 1e-12})
                for (unsigned seed = 0; seed < 5; seed++) {
                    const TestSystem system = withRandomMasses(findSystem(name), seed);
                    const ConstraintSet set = toConstraintSet(system);
                    ConstraintSolver solver(set, method);
                    Arrays delta = randomOf(system, 0.005, seed), after = system.positions;
                    const SolveReport report =
                        solver.solvePositions(system.positions.data(), system.box, delta.data(), tolerance, 10000);
                    ASSERT_EQ(report.outcome, Outcome::Converged) << name << " " << tolerance << " " << seed;
                    for (std::size_t i = 0; i < after.size(); i++)
                        after[i] += delta[i];
                    EXPECT_TRUE(Verifier(set, system.box, system.positions).accepts(after, 1.001 * tolerance)) << name;
                }
}

TEST(ConstraintSolver, MeasuresWithoutSolving) {
    const TestSystem& system = findSystem("CH2");
    ConstraintSolver solver(toConstraintSet(system), Method::Automatic);
    EXPECT_LT(solver.measurePositions(system.positions.data(), system.box).maxError, 1e-14);
    Arrays moved = system.positions;
    const Real3 b = moved[2] - moved[1];
    moved[2] = moved[1] + 0.99 * b; // compressed
    const SolveReport report = solver.measurePositions(moved.data(), system.box);
    EXPECT_EQ(report.constraint, 1);
    EXPECT_NEAR(report.maxError, 0.01, 1e-12);
    EXPECT_NEAR(report.value, 0.99 * std::sqrt(dot(b, b)), 1e-14);
}

TEST(ConstraintSolver, MeasuresRatesOfConstraintsThatMove) {
    const TestSystem& system = findSystem("methane");
    ConstraintSet set = toConstraintSet(system);
    for (Constraint& c : set.constraints)
        c.rate = 0.3;
    ConstraintSolver solver(set, Method::MatrixInversion);
    const Arrays atRest(system.positions.size());
    const double timeScale = 0.002;
    const SolveReport report = solver.measureVelocities(system.positions.data(), system.box, atRest.data(), timeScale);
    double shortest = HUGE_VAL;
    for (const Constraint& c : set.constraints)
        shortest = std::min(shortest, c.target);
    EXPECT_NEAR(report.maxError, 0.3 * timeScale / shortest, 1e-12);
}

TEST(ConstraintSolver, MeasuresNaNWhereverItIs) {
    const TestSystem& system = findSystem("disjoint");
    ConstraintSolver solver(toConstraintSet(system), Method::Automatic);
    for (const auto& bond : system.bonds) {
        Arrays x = system.positions, v(x.size());
        x[bond.i].x = v[bond.i].x = notANumber;
        for (const SolveReport& report :
             {solver.measurePositions(x.data(), system.box),
              solver.measureVelocities(system.positions.data(), system.box, v.data(), 0.001)}) {
            EXPECT_TRUE(std::isnan(report.maxError)) << bond.i;
            const auto& particles = solver.getSet().constraints[report.constraint].particles;
            EXPECT_TRUE(particles[0] == bond.i || particles[1] == bond.i) << bond.i;
        }
    }
}
