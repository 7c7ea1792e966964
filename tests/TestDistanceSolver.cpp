// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The fast solver of the CPU platform compared with the simple solvers: every shape of cluster, full and half-empty
// lanes, clusters that it cannot solve, and failures.
#include "ConstraintSolver.h"
#include "DistancePattern.h"
#include "support/BothStages.h"
#include "support/Variable.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

std::vector<TestSystem> regularOnes() {
    std::vector<TestSystem> result;
    for (const TestSystem& system : systemTable())
        if (system.isRegular())
            result.push_back(system);
    return result;
}

} // namespace

TEST(DistanceSolver, AgreesWithTheReadableSolverOnEverySystemOfTheTable) {
    ASSERT_GT(regularOnes().size(), 5u);
    for (const TestSystem& system : regularOnes())
        for (auto [count, lanes] :
             {std::pair(1, "4"), {2, "4"}, {3, "4"}, {4, "4"}, {6, "4"}, {3, "8"}, {8, "8"}, {11, "8"}}) {
            SCOPED_TRACE(system.name + " x " + std::to_string(count) + ", lanes " + lanes);
            const Variable chosen("OPENMM_CONSTRAINTS_LANES", lanes);
            const Copies copies(system, count);
            ConstraintSolver readable(copies.set, Method::MatrixInversion);
            ConstraintSolver fast(copies.set, Method::MatrixInversion);
            fast.setTaskRunner(std::make_shared<TaskRunner>());
            const Solution expected(readable, copies, 1e-13), actual(fast, copies, 1e-13);
            ASSERT_EQ(actual.position.outcome, Outcome::Converged);
            ASSERT_EQ(actual.velocity.outcome, Outcome::Converged);
            EXPECT_LE(actual.position.maxError, 1e-13);
            EXPECT_LT(farthest(actual.delta, expected.delta), 1e-11);
            EXPECT_LT(farthest(actual.impulse, expected.impulse), 1e-8);
            EXPECT_LT(farthest(actual.velocities, expected.velocities), 1e-8);
            EXPECT_LT(farthest(actual.multipliers.lambda, expected.multipliers.lambda), 1e-9);
            EXPECT_LT(farthest(actual.multipliers.mu, expected.multipliers.mu), 1e-6);
        }
}

TEST(DistanceSolver, SaysWhichConstraintIsTheWorst) {
    for (const TestSystem& system : regularOnes())
        for (int count : {1, 11}) {
            SCOPED_TRACE(system.name + " x " + std::to_string(count));
            const Copies copies(system, count);
            ConstraintSolver fast(copies.set, Method::MatrixInversion);
            fast.setTaskRunner(std::make_shared<TaskRunner>());
            const Solution solution(fast, copies, 1e-5, 0.02);
            ASSERT_EQ(solution.position.outcome, Outcome::Converged);
            double worst = 0;
            for (const Constraint& c : copies.set.constraints) {
                const int i = c.particles[0], j = c.particles[1];
                Real3 r = copies.start[i] + solution.delta[i] - copies.start[j] - solution.delta[j];
                if (c.periodic)
                    r = copies.box.minimumImage(r);
                worst = std::max(worst, std::abs(std::sqrt(dot(r, r)) / c.target - 1));
            }
            EXPECT_NEAR(solution.position.maxError, worst, 1e-3 * worst + 1e-15);
            const Constraint& named = copies.set.constraints.at(solution.position.constraint);
            EXPECT_NEAR(std::abs(solution.position.value / named.target - 1), worst, 1e-3 * worst + 1e-15);
        }
}

TEST(DistanceSolver, DoesNotDependOnThreadsNorOnWhatWasSolvedBefore) {
    for (const TestSystem& system : regularOnes()) {
        SCOPED_TRACE(system.name);
        const Copies copies(system, 1200);
        ConstraintSolver one(copies.set, Method::MatrixInversion), several(copies.set, Method::MatrixInversion);
        one.setTaskRunner(std::make_shared<TaskRunner>());
        several.setTaskRunner(std::make_shared<Shuffled>());
        const Solution first(one, copies, 1e-8), again(one, copies, 1e-8), shuffled(several, copies, 1e-8);
        ConstraintSolver fresh(copies.set, Method::MatrixInversion);
        fresh.setTaskRunner(std::make_shared<TaskRunner>());
        Arrays delta = copies.random(0.004, 1); // no velocity stage before it: its factor is its own
        fresh.solvePositions(copies.start.data(), copies.box, delta.data(), 1e-8, 100);
        for (const Solution* other : {&again, &shuffled}) {
            EXPECT_EQ(farthest(first.delta, other->delta), 0);
            EXPECT_EQ(farthest(first.velocities, other->velocities), 0);
            EXPECT_EQ(first.multipliers.lambda, other->multipliers.lambda);
            EXPECT_EQ(first.multipliers.mu, other->multipliers.mu);
        }
        EXPECT_EQ(farthest(first.delta, delta), 0);
    }
}

TEST(DistanceSolver, TakesTheMinimumImageWhereMoleculesAreBroken) {
    for (const char* name : {"water", "chain", "methane", "star"})
        for (int count : {1, 11}) {
            SCOPED_TRACE(std::string(name) + " x " + std::to_string(count));
            TestSystem system = findSystem(name);
            system.box = {{3, 0, 0}, {0.5, 3, 0}, {-0.4, 0.6, 3}};
            Copies whole(system, count);
            for (Constraint& c : whole.set.constraints)
                c.periodic = true;
            Copies broken = whole;
            for (std::size_t i = 0; i < broken.start.size(); i += 2) // each the image of another cell
                broken.start[i] += (double) (i % 3) * whole.box.a - 1.0 * whole.box.b + (double) (i % 5) * whole.box.c;
            ConstraintSolver first(whole.set, Method::MatrixInversion), second(whole.set, Method::MatrixInversion);
            first.setTaskRunner(std::make_shared<TaskRunner>());
            second.setTaskRunner(std::make_shared<TaskRunner>());
            const Solution expected(first, whole, 1e-12), actual(second, broken, 1e-12);
            ASSERT_EQ(actual.position.outcome, Outcome::Converged);
            EXPECT_LT(actual.position.iterations, 20);
            EXPECT_LT(farthest(actual.delta, expected.delta), 1e-11);
            EXPECT_LT(farthest(actual.velocities, expected.velocities), 1e-9);
        }
}

TEST(DistanceSolver, KnowsThatTheBoxHasChanged) {
    // The same positions, but the bond across the boundary is another.
    Copies copies(findSystem("chain"), 1);
    for (Constraint& c : copies.set.constraints)
        c.periodic = true;
    copies.box = {{3, 0, 0}, {0, 3, 0}, {0, 0, 3}};
    copies.start[0].x += 3;
    ConstraintSolver fast(copies.set, Method::MatrixInversion), fresh(copies.set, Method::MatrixInversion);
    fast.setTaskRunner(std::make_shared<TaskRunner>());
    fresh.setTaskRunner(std::make_shared<TaskRunner>());
    Solution(fast, copies, 1e-10);
    copies.box.a.x = 2.99;
    const Solution actual(fast, copies, 1e-10), expected(fresh, copies, 1e-10);
    EXPECT_EQ(actual.position.outcome, expected.position.outcome);
    EXPECT_EQ(farthest(actual.delta, expected.delta), 0);
}

TEST(DistanceSolver, NeedsFewIterationsWhereBondsTurnFar) {
    // Displacements of a long step: a factor of the start alone would take dozens of iterations.
    for (const TestSystem& system : regularOnes()) {
        const Copies copies(system, 3);
        ConstraintSolver fast(copies.set, Method::MatrixInversion);
        fast.setTaskRunner(std::make_shared<TaskRunner>());
        const Solution solution(fast, copies, 1e-12, 0.025);
        EXPECT_EQ(solution.position.outcome, Outcome::Converged) << system.name;
        EXPECT_LE(solution.position.iterations, 15) << system.name;
    }
}

TEST(DistanceSolver, LeavesToTheOthersWhatItDoesNotServe) {
    // Waters, and among them an angle, a moving length and one with images; in both orders.
    const TestSystem& water = findSystem("water");
    for (bool first : {false, true}) {
        Copies copies(water, 12);
        std::vector<Constraint> special(3);
        const int at = first ? 0 : 33;
        special[0] = {CoordinateKind::Angle, {at + 1, at, at + 2}};
        const Real3 a = copies.start[at + 1] - copies.start[at], b = copies.start[at + 2] - copies.start[at];
        special[0].target = std::acos(dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)));
        auto& list = copies.set.constraints;
        list.erase(list.begin() + at + 2); // the angle takes the place of H-H
        list.insert(first ? list.begin() : list.end(), special[0]);
        list[5].rate = 0.1;
        list[10].periodic = true; // of its cluster's only this one
        ConstraintSolver readable(copies.set, Method::MatrixInversion), fast(copies.set, Method::MatrixInversion);
        fast.setTaskRunner(std::make_shared<TaskRunner>());
        const Solution expected(readable, copies, 1e-13), actual(fast, copies, 1e-13);
        ASSERT_EQ(actual.position.outcome, Outcome::Converged);
        ASSERT_EQ(actual.velocity.outcome, Outcome::Converged);
        EXPECT_LT(farthest(actual.delta, expected.delta), 1e-11);
        EXPECT_LT(farthest(actual.impulse, expected.impulse), 1e-8);
        EXPECT_LT(farthest(actual.velocities, expected.velocities), 1e-8);
        EXPECT_LT(farthest(actual.multipliers.lambda, expected.multipliers.lambda), 1e-9);
        EXPECT_LT(farthest(actual.multipliers.mu, expected.multipliers.mu), 1e-6);
    }
}

TEST(DistanceSolver, FailsAsTheReadableSolverDoes) {
    const TestSystem &water = findSystem("water"), &chain = findSystem("chain");
    for (const TestSystem* system : {&water, &chain})
        for (const char* what : {"NaN", "infinite", "turned", "turned exactly", "one place", "NaN displacement"}) {
            SCOPED_TRACE(system->name + ", " + what);
            Copies copies(*system, 9);
            const int n = system->numParticles(), i = 5 * n + system->bonds[0].i, j = 5 * n + system->bonds[0].j;
            const std::string kind = what;
            Arrays delta = copies.random(kind == "turned exactly" ? 0 : 0.001, 1);
            if (kind == "NaN")
                copies.start[i].x = std::numeric_limits<double>::quiet_NaN();
            else if (kind == "infinite")
                copies.start[i].y = std::numeric_limits<double>::infinity();
            else if (kind == "one place")
                copies.start[i] = copies.start[j];
            else if (kind == "turned" ||
                     kind == "turned exactly") // to the other side of its neighbour, at its distance
                delta[i] = 2.0 * (copies.start[j] - copies.start[i]);
            else
                delta[i].z = std::numeric_limits<double>::quiet_NaN();
            ConstraintSolver readable(copies.set, Method::MatrixInversion), fast(copies.set, Method::MatrixInversion);
            fast.setTaskRunner(std::make_shared<TaskRunner>());
            Arrays other = delta;
            const SolveReport expected =
                readable.solvePositions(copies.start.data(), copies.box, other.data(), 1e-8, 100, 0.002);
            const SolveReport actual =
                fast.solvePositions(copies.start.data(), copies.box, delta.data(), 1e-8, 100, 0.002);
            EXPECT_NE(expected.outcome, Outcome::Converged);
            EXPECT_EQ(actual.outcome, expected.outcome);
            EXPECT_EQ(actual.constraint, expected.constraint);
        }
}

TEST(DistanceSolver, ChecksConstraintsThatDependOnOthers) {
    const TestSystem* braced = nullptr;
    for (const TestSystem& system : systemTable())
        if (!system.isRegular() && !system.periodic && system.rank == 3 * system.numParticles() - 6)
            braced = &system;
    ASSERT_NE(braced, nullptr);
    for (int count : {1, 9}) {
        const Copies copies(*braced, count);
        ConstraintSolver fast(copies.set, Method::MatrixInversion), readable(copies.set, Method::MatrixInversion);
        fast.setTaskRunner(std::make_shared<TaskRunner>());
        for (ConstraintSolver* solver : {&fast, &readable})
            solver->chooseIndependent(copies.start.data(), Box());
        const Solution expected(readable, copies, 1e-10), actual(fast, copies, 1e-10);
        EXPECT_EQ(actual.position.outcome, expected.position.outcome);
        EXPECT_LT(farthest(actual.delta, expected.delta), 1e-9);
        EXPECT_LE(actual.position.maxError, 1e-10);
    }
}
