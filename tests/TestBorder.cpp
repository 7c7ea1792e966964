// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Bordered rows: constraints of centroids merge no clusters, and are solved as if they did.
#include "CentroidDistance.h"
#include "CollectConstraints.h"
#include "support/BothStages.h"
#include "support/Groups.h"
#include "support/Messages.h"
#include "support/Mixture.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

const std::string hosts[] = {"Reference", "CPU"};

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
                if (isOfCentroids(start.set, start.set.constraints[k]) &&
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
    ASSERT_EQ(bordered.border.rows.size(), 7u);
    EXPECT_EQ(bordered.borderBegin(), bordered.numRows() - 7);
    EXPECT_EQ(bordered.numRows(), merged.numRows());
    EXPECT_TRUE(merged.border.rows.empty());
    // 12 waters, 3 stars, the chain, and what joins the rigid body to a free particle
    EXPECT_EQ(bordered.clusters.size(), 12u + 3 + 1 + 1);
    EXPECT_EQ(merged.clusters.size(), 2u); // the two last constraints share no particle with others
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
    EXPECT_LT(bordered.border.fields.size(), 7u);
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

// ---- in a Context

class BorderedSteps : public testing::TestWithParam<ConstraintTests::Setup> {};

TEST_P(BorderedSteps, HoldGroupsOfAllSorts) {
    const std::string platform = std::get<0>(GetParam());
    Groups groups = makeGroups(Among::AllSorts, isDevice(platform) ? 4 : 12);
    groups.addSprings();
    Simulation s(std::move(groups.system), makeIntegrator(GetParam(), 0.0005, 1e-11), platform);
    s.context->setPositions(groups.positions);
    Vectors v;
    Random random(5);
    for (int p = 0; p < s.system->getNumParticles(); p++) {
        const Real3 r = random.inCube(0.5);
        v.push_back(s.system->getParticleMass(p) > 0 ? Vec3(r.x, r.y, r.z) : Vec3());
    }
    s.context->setVelocities(v);
    s.integrator->applyVelocityConstraints();
    const bool isExact = std::get<2>(GetParam()) != "ConstraintForce";
    for (int block = 0; block < 3; block++) {
        s.integrator->step(isDevice(platform) ? 5 : 20);
        EXPECT_LT(groups.error(s.positions()), isExact ? 1e-10 + 30 * precisionOf(platform).position : 1e-4);
    }
}

INSTANTIATE_TEST_SUITE_P(All, BorderedSteps, testing::ValuesIn(everySetup()),
                         [](const auto& info) { return nameOf(info.param); });

namespace {

/** Waters in two groups, whose heights differ by what an expression says. */
struct Slabs {
    std::unique_ptr<System> system;
    CustomCentroidConstraintForce* heights;
    Vectors positions;
    int lower, upper;

    explicit Slabs(const std::string& expression = "z1-z2-h", double excess = 0, int numWaters = 12) {
        Groups groups = makeGroups(Among::WatersOnly, numWaters);
        system = std::move(groups.system);
        positions = groups.positions;
        system->removeForce(0); // the expression of the groups
        heights = new CustomCentroidConstraintForce(2, expression);
        heights->addPerConstraintParameter("h");
        std::vector<int> halves[2];
        Vec3 centre[2];
        double mass[2] = {0, 0};
        for (int p = 0; p < 3 * numWaters; p++) {
            const int half = p < 3 * (numWaters / 2) ? 0 : 1;
            const double m = system->getParticleMass(p);
            halves[half].push_back(p);
            centre[half] += positions[p] * m;
            mass[half] += m;
        }
        lower = heights->addGroup(halves[0]);
        upper = heights->addGroup(halves[1]);
        add(centre[0][2] / mass[0] - centre[1][2] / mass[1] + excess);
        system->addForce(heights);
    }
    void add(double h) {
        height = h;
        heights->addConstraint({lower, upper}, {h});
    }
    double height = 0;
};

} // namespace

TEST(BorderedContexts, SaysHowGroupsAreSolved) {
    for (const std::string& platform : hosts) {
        Slabs slabs;
        RattleIntegrator integrator(0.001);
        const auto context = makeContext(*slabs.system, integrator, platform);
        context->setPositions(slabs.positions);
        integrator.step(1);
        EXPECT_EQ(integrator.getSolverSummary().solver, "MatrixInversion (closed form 3x3) and a border of 1 row");
        EXPECT_EQ(integrator.getSolverSummary().clusters, 13);
        const std::vector<ClusterInfo> clusters = integrator.getClusters(*slabs.system);
        ASSERT_EQ(clusters.size(), 2u);
        EXPECT_EQ(clusters[0].solver, "closed form 3x3");
        EXPECT_EQ(clusters[0].count, 12);
        EXPECT_EQ(clusters[1].solver, "border");
        EXPECT_EQ(clusters[1].constraints, 1);
        EXPECT_EQ(clusters[1].particles, 36);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 12 * 6 - 1);
    }
}

TEST(BorderedContexts, CheckEqualConstraintsAndShareTheirForce) {
    for (const std::string& platform : hosts) {
        Slabs slabs("z1-z2-h + 0.3*(x1-x2)^2"); // curved: a force without others
        slabs.add(slabs.height);
        slabs.add(slabs.height);
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-9);
        integrator.setMaxProjection(1);
        const auto context = makeContext(*slabs.system, integrator, platform);
        context->setPositions(slabs.positions);
        context->setVelocitiesToTemperature(300, 1);
        integrator.step(5);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 12 * 6 - 1);
        const std::vector<double> lambda = slabs.heights->getMultipliers(*context);
        EXPECT_NE(lambda[0], 0);
        for (int k : {1, 2})
            EXPECT_NEAR(lambda[k], lambda[0], 1e-8 * std::abs(lambda[0]));

        slabs.heights->setConstraintParameters(1, {slabs.lower, slabs.upper}, {slabs.height + 0.01});
        RattleIntegrator refused(0.001);
        const std::string message = messageOf([&] {
            const auto other = makeContext(*slabs.system, refused, platform);
            other->setPositions(slabs.positions);
            refused.step(1);
        });
        expectAll(message, {"constraint 1 of the CustomCentroidConstraintForce with index 1", "sigma is -0.01"});
    }
}

TEST(BorderedContexts, CheckWhatAMoleculeHoldsByItself) {
    // The distance of the centroids of O, H and of H of a rigid water does not change: rank 0.
    for (const std::string& platform : hosts)
        for (double excess : {0.0, 0.01}) {
            Slabs slabs;
            const Vectors& x = slabs.positions;
            const Vec3 r = (x[0] * 16 + x[1]) / 17 - x[2];
            auto* within = new ConstraintForce();
            within->addCentroidDistance({0, 1}, {2}, std::sqrt(r.dot(r)) + excess);
            slabs.system->addForce(within);
            RattleIntegrator integrator(0.001);
            const std::string message = messageOf([&] {
                const auto context = makeContext(*slabs.system, integrator, platform);
                context->setPositions(x);
                integrator.step(5);
                EXPECT_EQ(integrator.getNumDegreesOfFreedom(), 12 * 6 - 1);
            });
            if (excess == 0)
                EXPECT_EQ(message, "");
            else
                expectAll(message, {"centroid distance 0 of the ConstraintForce with index 2", "target 0.11"});
        }
}

TEST(BorderedContexts, NameTheConstraintThatIsNotSolvedAndKeepTheState) {
    for (const std::string& platform : hosts) {
        Slabs slabs("distance(g1,g2)-h");
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-12);
        integrator.setMaxProjection(10);
        const auto context = makeContext(*slabs.system, integrator, platform);
        context->setPositions(slabs.positions);
        const double h = std::abs(slabs.height) + 0.5;
        slabs.heights->setConstraintParameters(0, {slabs.lower, slabs.upper}, {h});
        slabs.heights->updateParametersInContext(*context);
        integrator.applyConstraints();
        Vectors v;
        for (int p = 0; p < 36; p++) // the halves turn about each other
            v.push_back(Vec3(p < 18 ? 3 : -3, p < 18 ? -2 : 2, 0));
        context->setVelocities(v);
        integrator.applyVelocityConstraints();
        integrator.step(3);
        const State before = context->getState(State::Positions | State::Velocities);
        integrator.setMaxIterations(1);
        expectAll(messageOf([&] { integrator.step(1); }),
                  {"constraint 0 of the CustomCentroidConstraintForce with index 1", "1 iteration"});
        const State after = context->getState(State::Positions | State::Velocities);
        EXPECT_EQ(distance(after.getPositions(), before.getPositions()), 0);
        EXPECT_EQ(distance(after.getVelocities(), before.getVelocities()), 0);
        integrator.setMaxIterations(100);
        integrator.step(3);
    }
}

TEST(BorderedContexts, OfTwoContextsDoNotDisturbEachOther) {
    for (const std::string& platform : hosts) {
        Slabs slabs;
        RattleIntegrator one(0.001), two(0.001), alone(0.001);
        const auto first = makeContext(*slabs.system, one, platform),
                   second = makeContext(*slabs.system, two, platform),
                   third = makeContext(*slabs.system, alone, platform);
        for (auto* context : {first.get(), second.get(), third.get()}) {
            context->setPositions(slabs.positions);
            context->setVelocitiesToTemperature(300, context == second.get() ? 2 : 1);
        }
        alone.step(10);
        for (int i = 0; i < 10; i++) {
            one.step(1);
            two.step(1);
        }
        EXPECT_EQ(distance(first->getState(State::Positions).getPositions(),
                           third->getState(State::Positions).getPositions()),
                  0);
    }
}

TEST(BorderedContexts, GiveTheSameBitsWithAnyNumberOfThreads) {
    Vectors expected;
    for (int threads : {1, 2, 3}) {
        Slabs slabs("z1-z2-h + 0.1*(x1-x2)^2", 0, 2000);
        RattleIntegrator integrator(0.001);
        integrator.setMaxProjection(1);
        Context context(*slabs.system, integrator, Platform::getPlatformByName("CPU"),
                        {{"Threads", std::to_string(threads)}});
        context.setPositions(slabs.positions);
        Random random(4);
        Vectors v;
        for (std::size_t p = 0; p < slabs.positions.size(); p++) {
            const Real3 r = random.inCube(0.5);
            v.emplace_back(r.x, r.y, r.z);
        }
        context.setVelocities(v);
        integrator.step(5);
        const Vectors x = context.getState(State::Positions).getPositions();
        if (threads == 1)
            expected = x;
        EXPECT_EQ(distance(x, expected), 0) << threads;
    }
}
