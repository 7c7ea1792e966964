// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Bordered rows: constraints of centroids merge no clusters, and are solved as if they did.
#include "CentroidDistance.h"
#include "CollectConstraints.h"
#include "support/BothStages.h"
#include "support/Groups.h"
#include "support/Mixture.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

Box boxOf(const System& system) {
    Vec3 v[3];
    system.getDefaultPeriodicBoxVectors(v[0], v[1], v[2]);
    return {{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}};
}

/** A set with its start, and random fields. */
struct Given {
    ConstraintSet set;
    Box box;
    Arrays x;

    explicit Given(const System& system, const Vectors& positions)
        : set(collectConstraints(system, 1e-4)), box(boxOf(system)), x(toArrays(positions)) {
    }
    Arrays random(double size, unsigned seed) const {
        return randomField(set, size, seed);
    }
};

double largestOf(const std::vector<double>& values) {
    double largest = 1;
    for (double value : values)
        largest = std::max(largest, std::abs(value));
    return largest;
}

void expectSame(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    EXPECT_LT(farthest(a, b), tolerance * largestOf(b));
}

/** All that a solver computes, beside what one with merged clusters does. */
void expectSameSolutions(const Given& start, ConstraintSolver& bordered, ConstraintSolver& merged, int maxIterations,
                         double tolerance = 1e-9) {
    const double time = 0.1;
    for (ConstraintSolver* solver : {&bordered, &merged}) {
        solver->setTime(time);
        solver->chooseIndependent(start.x.data(), start.box);
    }
    for (unsigned round = 0; round < 2; round++) {
        std::vector<Solution> solutions;
        struct Both {
            Arrays delta, impulse, velocities, accelerations, unit;
            ForceMultipliers forces, spread;
            Impulses impulses;
            std::vector<double> column;
        } found[2];
        for (int i : {0, 1}) {
            ConstraintSolver& solver = i == 0 ? bordered : merged;
            Both& of = found[i];
            of.delta = start.random(0.002, round);
            of.impulse.resize(of.delta.size());
            of.velocities = start.random(1, 20 + round);
            of.accelerations = start.random(100, 30 + round);
            of.unit.resize(of.delta.size());
            const Arrays v = start.random(1, 40 + round);
            // Tolerances that rounding allows, and a time that the targets of moving constraints are taken at.
            const SolveReport velocity =
                solver.solveVelocities(start.x.data(), start.box, of.velocities.data(), 0.002, 1e-12, maxIterations);
            EXPECT_EQ(velocity.outcome, Outcome::Converged) << velocity.maxError;
            const SolveReport position = solver.solvePositions(start.x.data(), start.box, of.delta.data(), 1e-12,
                                                               maxIterations, 0.002, of.impulse.data());
            EXPECT_EQ(position.outcome, Outcome::Converged) << position.maxError;
            of.impulses = solver.getImpulses();
            EXPECT_EQ(solver
                          .solveAccelerations(start.x.data(), start.box, v.data(), of.accelerations.data(), of.forces,
                                              maxIterations, {2, 3})
                          .outcome,
                      Outcome::Converged);
            EXPECT_EQ(solver.solveVelocitySpread(start.x.data(), start.box, v.data(), of.spread, maxIterations).outcome,
                      Outcome::Converged);
            for (int k = 0; k < (int) start.set.constraints.size(); k++)
                if (isOfGroups(start.set, start.set.constraints[k]) &&
                    solver.solveUnitColumn(k, start.x.data(), start.box, of.unit.data(), of.column, maxIterations))
                    break;
        }
        EXPECT_LT(farthest(found[0].delta, found[1].delta), tolerance);
        EXPECT_LT(farthest(found[0].impulse, found[1].impulse), 1000 * tolerance);
        EXPECT_LT(farthest(found[0].velocities, found[1].velocities), tolerance);
        EXPECT_LT(farthest(found[0].accelerations, found[1].accelerations), 100 * tolerance);
        EXPECT_LT(farthest(found[0].unit, found[1].unit), tolerance);
        expectSame(found[0].impulses.lambda, found[1].impulses.lambda, tolerance);
        expectSame(found[0].impulses.mu, found[1].impulses.mu, tolerance);
        expectSame(found[0].forces.values, found[1].forces.values, tolerance);
        expectSame(found[0].spread.values, found[1].spread.values, tolerance);
        expectSame(found[0].column, found[1].column, tolerance);
    }
}

} // namespace

TEST(Border, SolvesAsMergedClustersDo) {
    for (Among among : {Among::WatersOnly, Among::AllSorts, Among::ManyBodies})
        for (bool periodic : {false, true})
            for (Method method : {Method::Automatic, Method::Iterative})
                for (bool onCpu : {false, true}) {
                    SCOPED_TRACE(testing::Message() << (int) among << periodic << (int) method << onCpu);
                    const Groups groups = makeGroups(among, 12, periodic);
                    const Given start(*groups.system, groups.positions);
                    ConstraintSolver bordered(start.set, method),
                        merged(start.set, Method::Automatic, Centroids::Merged);
                    if (onCpu)
                        bordered.setTaskRunner(std::make_shared<TaskRunner>());
                    expectSameSolutions(start, bordered, merged, method == Method::Iterative ? 20000 : 100);
                }
}

TEST(Border, SolvesMixturesAsMergedClustersDo) {
    int rows = 0;
    for (unsigned seed = 1; seed <= 20; seed++)
        for (bool onCpu : {false, true}) {
            SCOPED_TRACE(testing::Message() << seed << onCpu);
            const Mixture mixture = drawMixture(seed, false);
            const Given start(*mixture.system, mixture.positions);
            ConstraintSolver bordered(start.set, Method::Automatic),
                merged(start.set, Method::Automatic, Centroids::Merged);
            rows += (int) bordered.getGraph().border.rows.size();
            if (onCpu)
                bordered.setTaskRunner(std::make_shared<TaskRunner>());
            expectSameSolutions(start, bordered, merged, 200, 1e-8);
        }
    EXPECT_GT(rows, 20);
}

TEST(Border, HoldsTheLastFreedomOfStiffMolecules) {
    // Six particles, 11 distances, of which a motion remains, and the distance of the centroids of two halves. The
    // distances take up most of its response.
    Random random(11);
    double smallest = 1;
    int compared = 0;
    for (int molecule = 0; molecule < 1000; molecule++) {
        SCOPED_TRACE(molecule);
        System system;
        Vectors x;
        for (int i = 0; i < 6; i++) {
            const Real3 place = random.inCube(0.1);
            x.emplace_back(2 * place.x, 2 * place.y, 2 * place.z);
            system.addParticle(random.uniform(1, 20));
        }
        const auto separation = [&](int i, int j) { return std::sqrt((x[i] - x[j]).dot(x[i] - x[j])); };
        std::vector<std::pair<int, int>> pairs;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < i; j++)
                pairs.emplace_back(i, j);
        for (int left = 11; left > 0; left--) {
            const int k = random.below((int) pairs.size());
            system.addConstraint(pairs[k].first, pairs[k].second, separation(pairs[k].first, pairs[k].second));
            pairs.erase(pairs.begin() + k);
        }
        const int free = system.getNumConstraints();
        auto* groups = new ConstraintForce();
        Vec3 r;
        double mass[2] = {0, 0};
        for (int i = 0; i < 6; i++)
            mass[i / 3] += system.getParticleMass(i);
        for (int i = 0; i < 6; i++)
            r += x[i] * ((i < 3 ? 1 : -1) * system.getParticleMass(i) / mass[i / 3]);
        groups->addCentroidDistance({0, 1, 2}, {3, 4, 5}, std::sqrt(r.dot(r)));
        system.addForce(groups);
        const Given start(system, x);
        ConstraintSolver merged(start.set, Method::Automatic, Centroids::Merged),
            bordered(start.set, Method::Automatic);
        merged.chooseIndependent(start.x.data(), start.box);
        if (merged.rank() < 12 || !start.set.bodies.empty())
            continue; // some of the distances depend on others
        Arrays unit(6);
        std::vector<double> column;
        ASSERT_TRUE(merged.solveUnitColumn(free, start.x.data(), start.box, unit.data(), column, 100));
        Jacobian J(start.set, {free});
        J.setStart(start.x.data(), start.box);
        const double left = 1 / (column[free] * J.diagonal(0, J.start.data())); // S/D
        if (left < 0.003)
            continue;
        smallest = std::min(smallest, left);
        compared++;
        for (double size : {0.0003, 0.002}) {
            Arrays delta[2];
            SolveReport report[2];
            for (ConstraintSolver* solver : {&merged, &bordered}) {
                const int i = solver == &bordered;
                delta[i] = start.random(size, molecule);
                report[i] = solver->solvePositions(start.x.data(), start.box, delta[i].data(), 1e-11, 100);
            }
            if (report[0].outcome == Outcome::Converged) {
                EXPECT_EQ(report[1].outcome, Outcome::Converged) << left << " " << size << " " << report[1].maxError;
                EXPECT_LT(farthest(delta[0], delta[1]), 1e-8) << left << " " << size;
                EXPECT_LT(report[1].iterations, 10) << left << " " << size; // as Newton's method for all rows
            }
        }
    }
    EXPECT_GT(compared, 500);
    EXPECT_LT(smallest, 0.005);
}

TEST(Border, MergesNoClusters) {
    const Groups groups = makeGroups(Among::AllSorts, 12);
    const Given start(*groups.system, groups.positions);
    const std::vector<int> all = allConstraints(start.set);
    const ConstraintGraph bordered(start.set, all, Method::Automatic, maxDenseCluster, Centroids::Bordered),
        merged(start.set, all, Method::Automatic, maxDenseCluster, Centroids::Merged);
    ASSERT_EQ(bordered.border.rows.size(), 8u);
    EXPECT_EQ(bordered.borderBegin(), bordered.numRows() - 8);
    EXPECT_EQ(bordered.numRows(), merged.numRows());
    EXPECT_TRUE(merged.border.rows.empty());
    // 12 waters, 3 stars, the chain, and what joins the rigid body to a free particle
    EXPECT_EQ(bordered.clusters.size(), 12u + 3 + 1 + 1);
    EXPECT_EQ(merged.clusters.size(), 2u); // a height of free particles shares none with others
    for (const Cluster& cluster : bordered.clusters) {
        bool isAtBorder = false;
        for (const Border::Row& row : bordered.border.rows)
            isAtBorder |= std::find(row.clusters.begin(), row.clusters.end(), &cluster - bordered.clusters.data()) !=
                          row.clusters.end();
        EXPECT_EQ(cluster.isAtBorder, isAtBorder);
    }
    // Every row reaches its movable nodes; rows of one field reach no node in common.
    for (const std::vector<int>& field : bordered.border.fields) {
        std::vector<int> reached;
        for (int b : field)
            reached.insert(reached.end(), bordered.border.rows[b].reach.begin(), bordered.border.rows[b].reach.end());
        std::sort(reached.begin(), reached.end());
        EXPECT_EQ(std::adjacent_find(reached.begin(), reached.end()), reached.end());
    }
    EXPECT_LT(bordered.border.fields.size(), 8u);
    EXPECT_GT(bordered.border.fields.size(), 1u);
}

TEST(Border, LeavesWatersToTheFastSolver) {
    const Groups groups = makeGroups(Among::WatersOnly, 40);
    const Given start(*groups.system, groups.positions);
    for (Centroids centroids : {Centroids::Bordered, Centroids::Merged}) {
        ConstraintSolver solver(start.set, Method::Automatic, centroids);
        DistanceSolver distances(solver.getSet(), solver.getGraph(), std::make_shared<TaskRunner>());
        Arrays delta = start.random(0.002, 1);
        const auto report = distances.solvePositions(start.x.data(), start.box, delta.data(), 1e-8, 100, nullptr, 0);
        EXPECT_EQ(report.unsolved.size(), centroids == Centroids::Bordered ? 0u : 1u);
    }
}

TEST(Border, RowsWhoseMatrixWouldBeTooLargeAreMerged) {
    // All groups have a particle in common: 900 rows are 900^3/6 updates.
    ConstraintSet set;
    set.inverseMass.assign(901, 1.0);
    set.custom.push_back(std::make_shared<CentroidDistance>(std::vector<double>{1, -1}, false));
    for (int rows : {200, 900}) {
        set.constraints.clear();
        for (int k = 0; k < rows; k++) {
            Constraint c;
            c.kind = CoordinateKind::Custom;
            c.particles = {0, k + 1};
            c.target = 1;
            c.form = 0;
            set.constraints.push_back(c);
        }
        const ConstraintGraph graph(set, allConstraints(set), Method::Automatic, maxDenseCluster, Centroids::Bordered);
        EXPECT_EQ(graph.numRows(), rows);
        EXPECT_EQ(graph.border.rows.size(), rows == 200 ? 200u : 0u);
        EXPECT_EQ(graph.clusters.size(), rows == 200 ? 0u : 1u);
    }
}

TEST(Border, DoesNotDependOnThreadsNorOnWhatWasSolvedBefore) {
    const Groups groups = makeGroups(Among::AllSorts, 1500);
    const Given start(*groups.system, groups.positions);
    const auto solve = [&](const std::shared_ptr<TaskRunner>& runner, bool velocitiesFirst, bool twice) {
        ConstraintSolver solver(start.set, Method::Automatic);
        solver.setTaskRunner(runner);
        Arrays delta = start.random(0.002, 1), other = start.random(0.002, 2), v = start.random(1, 3);
        if (twice) {
            Arrays elsewhere = start.x;
            for (Real3& x : elsewhere)
                x += {1e-4, 0, 1e-5 * x.y};
            solver.solvePositions(elsewhere.data(), start.box, other.data(), 1e-8, 100);
        }
        const auto velocities = [&] { solver.solveVelocities(start.x.data(), start.box, v.data(), 0.002, 1e-8, 100); };
        if (velocitiesFirst)
            velocities();
        EXPECT_EQ(solver.solvePositions(start.x.data(), start.box, delta.data(), 1e-8, 100).outcome,
                  Outcome::Converged);
        if (!velocitiesFirst)
            velocities();
        delta.insert(delta.end(), v.begin(), v.end());
        return std::make_pair(delta, solver.getImpulses().lambda);
    };
    const auto first = solve(std::make_shared<TaskRunner>(), true, false);
    for (bool velocitiesFirst : {false, true})
        for (bool twice : {false, true}) {
            const auto other = solve(std::make_shared<Shuffled>(), velocitiesFirst, twice);
            EXPECT_EQ(farthest(first.first, other.first), 0);
            EXPECT_EQ(first.second, other.second);
        }
}

TEST(Border, KeepsMultipliersOfTheOtherStage) {
    // Responses are found by the velocity stage, whose multipliers those of the last step must not lose.
    const Groups groups = makeGroups(Among::WatersOnly, 12);
    const Given start(*groups.system, groups.positions);
    ConstraintSolver solver(start.set, Method::Automatic);
    solver.setTaskRunner(std::make_shared<TaskRunner>());
    Arrays v = start.random(1, 3), delta = start.random(0.002, 1), elsewhere = start.x;
    solver.solveVelocities(start.x.data(), start.box, v.data(), 0.002, 1e-8, 100);
    const std::vector<double> mu = solver.getImpulses().mu;
    for (Real3& x : elsewhere)
        x += {1e-4, 0, 1e-4 * x.y};
    solver.solvePositions(elsewhere.data(), start.box, delta.data(), 1e-8, 100);
    EXPECT_EQ(solver.getImpulses().mu, mu);
    EXPECT_GT(largestOf(mu), 1.0);
}
