// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// One large cluster on several threads of the CPU platform: its parts side by side, then the rows that separate them.
#include "ConstraintSolver.h"
#include "DistancePattern.h"
#include "PoolRunner.h"
#include "SplitTree.h"
#include "support/BothStages.h"
#include "support/LargeSystems.h"
#include <limits>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** Counts how often threads begin and wait for each other. */
class Counting : public TaskRunner {
public:
    int numThreads() const override {
        return 2;
    }
    void run(int numTasks, const std::function<void(int, int)>& task) override {
        if (numTasks > 1)
            rounds++;
        TaskRunner::run(numTasks, task);
    }
    int rounds = 0;
};

std::unique_ptr<ConstraintSolver> solverOf(const ConstraintSet& set, std::shared_ptr<TaskRunner> runner = nullptr) {
    auto solver = std::make_unique<ConstraintSolver>(set, Method::MatrixInversion);
    if (runner != nullptr)
        solver->setTaskRunner(std::move(runner));
    return solver;
}

SymbolicFactor factorOf(const TestSystem& system) {
    const ConstraintSet set = toConstraintSet(system);
    return ConstraintGraph(set, allConstraints(set), Method::MatrixInversion).factors.at(0);
}

int numPartsOf(const TestSystem& system) {
    const std::vector<int> partOf = splitTree(factorOf(system));
    return partOf.empty() ? 0 : *std::max_element(partOf.begin(), partOf.end());
}

std::vector<TestSystem> largeOnes() {
    return {protein(360), protein(700), bentChain(2400, 111, true), longChain(2100), mesh(40)};
}

} // namespace

// ---- how it is cut --------------------------------------------------------------------------------------------------

TEST(ClusterInParts, HasPartsOfNearlyEqualSizeAndFewRowsBetweenThem) {
    for (const TestSystem& system : largeOnes()) {
        const SymbolicFactor factor = factorOf(system);
        const std::vector<int> partOf = splitTree(factor);
        ASSERT_EQ((int) partOf.size(), factor.size()) << system.name;
        const int numParts = *std::max_element(partOf.begin(), partOf.end());
        EXPECT_EQ(numParts, factor.size() >= 4000 ? 4 : 2) << system.name;
        std::vector<int> rows(numParts + 1);
        for (int part : partOf)
            rows[part]++;
        for (int p = 0; p < numParts; p++)
            EXPECT_LE(rows[p], 1.08 * factor.size() / numParts) << system.name;
        EXPECT_LE(rows[numParts], system.name == "mesh" ? 100 : 30) << system.name;
    }
}

TEST(ClusterInParts, StaysWholeWhereThatPaysNot) {
    EXPECT_EQ(numPartsOf(longChain(1999)), 0) << "too small";
    EXPECT_EQ(numPartsOf(longChain(2000)), 2);
    EXPECT_EQ(numPartsOf(mesh(40)), 2) << "the rows between two parts of a mesh take a tenth of the time";
    EXPECT_EQ(numPartsOf(mesh(100)), 0) << "but they would take too much of it here, because one thread has them";
    const SymbolicFactor none;
    EXPECT_TRUE(splitTree(none).empty());
}

TEST(ClusterInParts, HasPartsThatTouchOnlyThemselvesAndTheirCopyOfTheTop) {
    const int n = 120000;
    std::vector<LocalPair> pairs;
    std::vector<std::vector<int>> neighbours(n);
    for (int k = 0; k < n; k++) {
        pairs.push_back({k, k + 1});
        for (int other : {k - 1, k + 1})
            if (other >= 0 && other < n)
                neighbours[k].push_back(other);
    }
    SymbolicFactor factor;
    ASSERT_TRUE(eliminate(neighbours, factor));
    const DistancePattern pattern(pairs, std::vector<char>(n + 1, 1), factor, factor.order);
    const int numParts = (int) pattern.parts.size();
    ASSERT_EQ(numParts, 8);
    EXPECT_EQ(pattern.top.endRow, n);
    EXPECT_LT(n - pattern.top.beginRow, 200);
    for (const DistancePattern::Part& part : pattern.parts) {
        EXPECT_NEAR(part.endRow - part.beginRow, n / numParts, 0.2 * n / numParts);
        for (int e = pattern.firstEntry(part); e < pattern.lastEntry(part); e++) {
            const int row = pattern.entryRow[e];
            ASSERT_TRUE((row >= part.beginRow && row < part.endRow) ||
                        (row >= part.copyRow && row < part.copyRow + n - pattern.top.beginRow));
        }
    }
}

TEST(ClusterInParts, HasParticlesOfOnePartEach) {
    const TestSystem system = protein(700);
    const SymbolicFactor factor = factorOf(system);
    const ConstraintSet set = toConstraintSet(system);
    const ConstraintGraph graph(set, allConstraints(set), Method::MatrixInversion);
    std::vector<LocalPair> pairs;
    for (int k : graph.rows)
        pairs.push_back({set.constraints[k].particles[0], set.constraints[k].particles[1]});
    std::vector<int> order(pairs.size());
    std::iota(order.begin(), order.end(), 0);
    const DistancePattern pattern(pairs, std::vector<char>(system.numParticles(), 1), factor, order);
    ASSERT_EQ(pattern.parts.size(), 4u);
    int next = 0;
    for (const DistancePattern::Part& part : pattern.parts) {
        EXPECT_EQ(part.beginParticle, next);
        next = part.endParticle;
        for (int k = part.beginRow; k < part.endRow; k++)
            for (int p : {pattern.pairs[k].first, pattern.pairs[k].second})
                EXPECT_TRUE(p >= part.beginParticle && p < part.endParticle);
    }
    EXPECT_EQ(pattern.top.beginParticle, next);
    EXPECT_EQ(pattern.top.endParticle, system.numParticles());
    EXPECT_EQ((int) pattern.topEnds.size(), 2 * (pattern.top.endRow - pattern.top.beginRow));
    for (int k = 0; k < pattern.numRows(); k++) {
        EXPECT_EQ(pattern.positionOf[pattern.givenRow[k]], k);
        const LocalPair& given = pairs[pattern.givenRow[k]];
        EXPECT_EQ(pattern.pairs[k].first, pattern.particleNumber[given.first]);
        EXPECT_EQ(pattern.pairs[k].second, pattern.particleNumber[given.second]);
    }
}

// ---- how it is solved -----------------------------------------------------------------------------------------------

TEST(ClusterInParts, IsSolvedBitForBitTheSameByAnyNumberOfThreads) {
    for (const TestSystem& system : largeOnes())
        for (double size : {0.002, 0.012}) // few iterations, and a new factor on the way
            for (double tolerance : {1e-5, 1e-12}) {
                SCOPED_TRACE(system.name + " " + std::to_string(size) + " " + std::to_string(tolerance));
                const Copies copies(system, 1);
                const auto one = solverOf(copies.set, std::make_shared<TaskRunner>());
                const Solution expected(*one, copies, tolerance, size);
                ASSERT_EQ(expected.position.outcome, Outcome::Converged);
                for (int threads : {1, 2, 3, 4}) {
                    const auto solver = solverOf(copies.set, std::make_shared<PoolRunner>(threads));
                    for (int repetition = 0; repetition < 3; repetition++)
                        expectSame(Solution(*solver, copies, tolerance, size), expected);
                }
                expectSame(Solution(*solverOf(copies.set, std::make_shared<Shuffled>()), copies, tolerance, size),
                           expected);
            }
}

TEST(ClusterInParts, AgreesWithTheReadableSolverInAsManyIterations) {
    for (const TestSystem& system : largeOnes()) {
        SCOPED_TRACE(system.name);
        const Copies copies(system, 1);
        for (const auto& [tolerance, most] : {std::pair(1e-5, 3), {1e-12, 6}}) {
            const Solution actual(*solverOf(copies.set, std::make_shared<PoolRunner>(2)), copies, tolerance, 0.002);
            ASSERT_EQ(actual.position.outcome, Outcome::Converged);
            EXPECT_LE(actual.position.iterations, most);
            EXPECT_LE(actual.position.maxError, tolerance);
            EXPECT_EQ(actual.velocity.iterations, 1);
        }
        const Solution expected(*solverOf(copies.set), copies, 1e-13, 0.002),
            actual(*solverOf(copies.set, std::make_shared<PoolRunner>(2)), copies, 1e-13, 0.002);
        EXPECT_LT(farthest(actual.delta, expected.delta), 1e-11);
        EXPECT_LT(farthest(actual.impulse, expected.impulse), 1e-8);
        EXPECT_LT(farthest(actual.velocities, expected.velocities), 1e-8);
        EXPECT_LT(farthest(actual.multipliers.lambda, expected.multipliers.lambda), 1e-8);
        EXPECT_LT(farthest(actual.multipliers.mu, expected.multipliers.mu), 1e-6);
    }
}

TEST(ClusterInParts, OfHundredThousandRowsIsSolvedAsByTheReadableSolver) {
    TestSystem chain; // a random walk, and a comb: two kinds of elimination trees
    for (bool isComb : {false, true}) {
        Random random(5);
        chain = TestSystem();
        const int n = 120000;
        for (int i = 0; i <= n; i++) {
            const int before = isComb ? (i % 3 == 0 ? i - 3 : i - 1) : i - 1;
            Real3 step = random.inCube(1) + Real3{0, 0, 1.5};
            step = (0.15 / std::sqrt(dot(step, step))) * step;
            chain.masses.push_back(12 + i % 5);
            chain.positions.push_back(i == 0 ? Real3() : chain.positions[std::max(0, before)] + step);
            if (i > 0)
                chain.bonds.push_back({std::max(0, before), i, 0.15});
        }
        const Copies copies(chain, 1);
        ConstraintSolver readable(copies.set, Method::MatrixInversion), one(copies.set, Method::MatrixInversion),
            several(copies.set, Method::MatrixInversion);
        one.setTaskRunner(std::make_shared<TaskRunner>());
        several.setTaskRunner(std::make_shared<Shuffled>());
        for (double size : {0.002, 0.012}) { // few iterations, and a new factor on the way
            const Solution expected(readable, copies, 1e-12, size), actual(one, copies, 1e-12, size),
                shuffled(several, copies, 1e-12, size);
            ASSERT_EQ(expected.position.outcome, Outcome::Converged);
            ASSERT_EQ(actual.position.outcome, Outcome::Converged);
            EXPECT_LT(farthest(actual.delta, expected.delta), 1e-10);
            EXPECT_LT(farthest(actual.velocities, expected.velocities), 1e-8);
            EXPECT_LT(farthest(actual.multipliers.lambda, expected.multipliers.lambda), 1e-8);
            EXPECT_EQ(farthest(actual.delta, shuffled.delta), 0);
            EXPECT_EQ(farthest(actual.velocities, shuffled.velocities), 0);
        }
    }
}

TEST(ClusterInParts, WaitsForItsPartsOnceAnIteration) {
    const Copies copies(protein(360), 1);
    const auto runner = std::make_shared<Counting>();
    const auto solver = solverOf(copies.set, runner);
    for (const auto& [size, tolerance, newFactors] : {std::tuple(0.002, 1e-5, 0), {0.012, 1e-12, 1}}) {
        Arrays velocities = copies.random(1, 2), delta = copies.random(size, 1);
        runner->rounds = 0;
        solver->solveVelocities(copies.start.data(), copies.box, velocities.data(), 0.002, tolerance, 100);
        EXPECT_EQ(runner->rounds, 3) << "the beginning, a correction, and the end";
        runner->rounds = 0;
        const SolveReport report =
            solver->solvePositions(copies.start.data(), copies.box, delta.data(), tolerance, 100, 0.002);
        EXPECT_GE(runner->rounds, report.iterations + 2 + newFactors);
        EXPECT_LE(runner->rounds, report.iterations + 2 + newFactors * report.iterations);
    }
}

/** Which particles the rows of a part have. */
static std::vector<char> particlesOf(const Copies& copies, const std::vector<int>& partOf, int part) {
    const ConstraintGraph graph(copies.set, allConstraints(copies.set), Method::MatrixInversion);
    std::vector<char> has(copies.start.size(), 0);
    for (int row = 0; row < graph.numRows(); row++)
        if (partOf[row] == part)
            for (int p : copies.set.constraints[graph.rows[row]].particles)
                has[p] = 1;
    return has;
}

TEST(ClusterInParts, IsSolvedWhereOnlyOnePartHasErrors) {
    // The other part has converged, or needs no new factor, as far as it knows.
    const TestSystem system = protein(360);
    const Copies copies(system, 1);
    const std::vector<int> partOf = splitTree(factorOf(system));
    for (int part : {0, 1})
        for (double others : {0.0, 1e-9, 1e-6, 1e-4})
            for (const auto& [size, tolerance, mostIterations, mostFactors] :
                 {std::tuple(0.002, 1e-5, 3, 0), {0.002, 1e-12, 7, 1}, {0.012, 1e-12, 7, 2}}) {
                SCOPED_TRACE("part " + std::to_string(part) + " " + std::to_string(others) + " " +
                             std::to_string(size) + " " + std::to_string(tolerance));
                const std::vector<char> isOf = particlesOf(copies, partOf, part);
                Arrays given = copies.random(size, 1);
                for (std::size_t i = 0; i < given.size(); i++)
                    if (!isOf[i])
                        given[i] = (others / size) * given[i];
                Arrays expected = given, actual = given, threaded = given;
                const auto runner = std::make_shared<Counting>();
                solverOf(copies.set)->solvePositions(copies.start.data(), copies.box, expected.data(), 1e-13, 100);
                const SolveReport report =
                    solverOf(copies.set, runner)
                        ->solvePositions(copies.start.data(), copies.box, actual.data(), tolerance, 100);
                solverOf(copies.set, std::make_shared<PoolRunner>(2))
                    ->solvePositions(copies.start.data(), copies.box, threaded.data(), tolerance, 100);
                ASSERT_EQ(report.outcome, Outcome::Converged);
                EXPECT_LE(report.iterations, mostIterations);
                EXPECT_GE(runner->rounds, report.iterations + 2) << "this solver has solved it, no other one";
                EXPECT_LE(runner->rounds, report.iterations + 2 + mostFactors);
                EXPECT_LT(farthest(actual, expected), 0.15 * tolerance + 1e-12);
                EXPECT_EQ(farthest(actual, threaded), 0);
            }
}

TEST(ClusterInParts, IsOneTaskOfManyWhereThereAreOthers) {
    // Bit for bit as on its own: whether threads share it makes no difference.
    const TestSystem large = protein(360), &water = findSystem("water");
    TestSystem mixed = large;
    for (int copy = 0; copy < 3000; copy++)
        for (int i = 0; i < 3; i++) {
            mixed.masses.push_back(water.masses[i]);
            mixed.positions.push_back(water.positions[i]);
        }
    for (int copy = 0; copy < 3000; copy++)
        for (TestSystem::Bond bond : water.bonds) {
            bond.i += large.numParticles() + 3 * copy;
            bond.j += large.numParticles() + 3 * copy;
            mixed.bonds.push_back(bond);
        }
    const Copies alone(large, 1), among(mixed, 1);
    const Solution expected(*solverOf(alone.set, std::make_shared<PoolRunner>(2)), alone, 1e-8, 0.002);
    for (int threads : {1, 2, 3, 8}) { // of eight, all work on the large one first
        Solution actual(*solverOf(among.set, std::make_shared<PoolRunner>(threads)), among, 1e-8, 0.002);
        actual.delta.resize(alone.start.size());
        actual.velocities.resize(alone.start.size());
        EXPECT_EQ(farthest(actual.delta, expected.delta), 0) << threads;
        EXPECT_EQ(farthest(actual.velocities, expected.velocities), 0) << threads;
    }
}

TEST(ClusterInParts, KeepsFactorsOfPartsThatHaveNotMoved) {
    Copies copies(protein(360), 1);
    const auto kept = solverOf(copies.set, std::make_shared<PoolRunner>(2));
    Solution(*kept, copies, 1e-8, 0.002);
    for (int moved : {0, 900, 1500, 2000}) { // in one part or the other, or next to a row between them
        copies.start[moved].y += 1e-4;
        const Solution actual(*kept, copies, 1e-8, 0.002),
            expected(*solverOf(copies.set, std::make_shared<TaskRunner>()), copies, 1e-8, 0.002);
        expectSame(actual, expected);
    }
}

TEST(ClusterInParts, TakesTheMinimumImageWhereItIsBroken) {
    Copies whole(protein(360), 1);
    whole.box = {{3, 0, 0}, {0.5, 3, 0}, {-0.4, 0.6, 3}};
    for (Constraint& c : whole.set.constraints)
        c.periodic = true;
    Copies broken = whole;
    for (std::size_t i = 0; i < broken.start.size(); i += 2) // each the image of another cell
        broken.start[i] += (double) (i % 3) * whole.box.a - 1.0 * whole.box.b + (double) (i % 5) * whole.box.c;
    const auto solver = solverOf(broken.set, std::make_shared<PoolRunner>(2));
    const Solution expected(*solverOf(whole.set, std::make_shared<PoolRunner>(2)), whole, 1e-12, 0.002),
        actual(*solver, broken, 1e-12, 0.002);
    ASSERT_EQ(actual.position.outcome, Outcome::Converged);
    EXPECT_LT(farthest(actual.delta, expected.delta), 1e-11);
    EXPECT_LT(farthest(actual.velocities, expected.velocities), 1e-9);
    broken.box.a.x = 2.99; // the same positions, but other bonds
    expectSame(Solution(*solver, broken, 1e-8, 0.002),
               Solution(*solverOf(broken.set, std::make_shared<TaskRunner>()), broken, 1e-8, 0.002));
}

TEST(ClusterInParts, NamesTheConstraintThatFails) {
    const TestSystem system = protein(360);
    const Copies intact(system, 1);
    const std::vector<int> partOf = splitTree(factorOf(system));
    const ConstraintGraph graph(intact.set, allConstraints(intact.set), Method::MatrixInversion);
    const int numParts = *std::max_element(partOf.begin(), partOf.end());
    ASSERT_EQ(numParts, 2);
    const auto isFree = [&](int k) { // one of its particles has no other constraint
        const std::vector<int>& mine = intact.set.constraints[k].particles;
        return std::any_of(mine.begin(), mine.end(), [&](int p) {
            return std::count_if(system.bonds.begin(), system.bonds.end(),
                                 [&](const auto& bond) { return bond.i == p || bond.j == p; }) == 1;
        });
    };
    for (int part = 0; part < numParts; part++) { // to the other side, while nothing else moves
        int row = 0;
        while (partOf[row] != part || !isFree(graph.rows[row]))
            row++;
        const std::vector<int>& particles = intact.set.constraints[graph.rows[row]].particles;
        const bool isLast = particles[1] > particles[0]; // of a chain that grows
        const int end = particles[isLast], other = particles[!isLast];
        Arrays delta(intact.start.size());
        delta[end] = 2.0 * (intact.start[other] - intact.start[end]);
        const SolveReport report =
            solverOf(intact.set, std::make_shared<PoolRunner>(2))
                ->solvePositions(intact.start.data(), intact.box, delta.data(), 1e-8, 100, 0.002);
        EXPECT_NE(report.outcome, Outcome::Converged) << "a bond of part " << part << " has turned";
        EXPECT_EQ(report.constraint, graph.rows[row]);
    }
    for (int part = 0; part <= numParts; part++) { // in each part, and between them
        const int row = (int) (std::find(partOf.begin(), partOf.end(), part) - partOf.begin());
        const std::vector<int>& particles = intact.set.constraints[graph.rows[row]].particles;
        for (const std::string kind : {"NaN", "infinite", "turned", "one place", "NaN displacement"}) {
            SCOPED_TRACE(kind + " in part " + std::to_string(part));
            Copies copies = intact;
            const int i = particles[0], j = particles[1];
            Arrays delta = copies.random(0.001, 1);
            if (kind == "NaN")
                copies.start[i].x = std::numeric_limits<double>::quiet_NaN();
            else if (kind == "infinite")
                copies.start[i].y = std::numeric_limits<double>::infinity();
            else if (kind == "one place")
                copies.start[i] = copies.start[j];
            else if (kind == "turned") // to the other side of its neighbour, at its distance
                delta[i] = 2.0 * (copies.start[j] - copies.start[i]);
            else
                delta[i].z = std::numeric_limits<double>::quiet_NaN();
            const auto fast = solverOf(copies.set, std::make_shared<PoolRunner>(2));
            Arrays other = delta;
            const SolveReport expected =
                solverOf(copies.set)->solvePositions(copies.start.data(), copies.box, other.data(), 1e-8, 100, 0.002);
            const SolveReport actual =
                fast->solvePositions(copies.start.data(), copies.box, delta.data(), 1e-8, 100, 0.002);
            EXPECT_NE(expected.outcome, Outcome::Converged);
            EXPECT_EQ(actual.outcome, expected.outcome);
            EXPECT_EQ(actual.constraint, expected.constraint);
            // It forgets what has failed.
            expectSame(Solution(*fast, intact, 1e-8, 0.002),
                       Solution(*solverOf(intact.set, std::make_shared<TaskRunner>()), intact, 1e-8, 0.002));
        }
    }
}

TEST(ClusterInParts, SaysWhichConstraintIsTheWorst) {
    const Copies copies(protein(360), 1);
    for (double tolerance : {1e-3, 1e-5, 1e-8}) {
        const Solution solution(*solverOf(copies.set, std::make_shared<PoolRunner>(2)), copies, tolerance, 0.01);
        double worst = 0;
        int which = -1;
        for (int k = 0; k < (int) copies.set.constraints.size(); k++) {
            const Constraint& c = copies.set.constraints[k];
            const int i = c.particles[0], j = c.particles[1];
            const Real3 r = copies.start[i] + solution.delta[i] - copies.start[j] - solution.delta[j];
            if (const double error = std::abs(std::sqrt(dot(r, r)) / c.target - 1); error > worst) {
                worst = error;
                which = k;
            }
        }
        EXPECT_EQ(solution.position.constraint, which);
        EXPECT_NEAR(solution.position.maxError, worst, 1e-3 * worst + 1e-15);
    }
}
