// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Distances that interpolate with Context parameters stay on the fast solver of the CPU platform: with the bits of
// fixed lengths, and where Reference goes.
#include "ConstraintSolver.h"
#include "support/BothStages.h"
#include "support/LargeSystems.h"
#include "support/Messages.h"
#include "support/Simulation.h"
#include "support/Variable.h"
#include <limits>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

// ---- the solver

namespace {

const double change = 0.02; // of lengths where a parameter is 1, relative

/** Some of the lengths follow the parameter "p", others "q". All lengths of every third molecule are fixed. */
void interpolate(ConstraintSet& set, int particlesOfOne) {
    set.globals = {{"p", 0}, {"q", 0}};
    for (std::size_t k = 0; k < set.constraints.size(); k++) {
        Constraint& c = set.constraints[k];
        c.target0 = c.target;
        c.target1 = c.target * (1 + change);
        c.parameter = c.particles[0] / particlesOfOne % 3 == 2 ? -1 : (int) k % 2;
    }
}

/** The set as it is at some values, with all lengths fixed. */
ConstraintSet fixedAt(ConstraintSet set, const std::vector<double>& values) {
    for (std::size_t g = 0; g < values.size(); g++)
        set.globals[g].value = values[g];
    set.interpolateTargets();
    set.globals.clear();
    for (Constraint& c : set.constraints)
        c.parameter = -1;
    return set;
}

std::unique_ptr<ConstraintSolver> fastSolver(const ConstraintSet& set, std::shared_ptr<TaskRunner> runner) {
    auto solver = std::make_unique<ConstraintSolver>(set, Method::MatrixInversion);
    solver->setTaskRunner(std::move(runner));
    return solver;
}

/** Each shape, in full and half-empty lanes, and large clusters, of which one is solved in parts. */
std::vector<std::pair<TestSystem, int>> shapes() {
    std::vector<std::pair<TestSystem, int>> all;
    for (const TestSystem& system : systemTable())
        if (system.isRegular())
            for (int count : {1, 3, 11})
                all.emplace_back(system, count);
    all.emplace_back(protein(40), 1);
    all.emplace_back(protein(40), 5);
    all.emplace_back(protein(360), 1);
    return all;
}

const std::vector<std::vector<double>> values = {{0.3, 0}, {0.3, 0.8}, {0, 0}, {-0.5, 1}};

} // namespace

TEST(InterpolatedLengths, AreSolvedAsFixedOnes) {
    for (const char* lanes : {"4", "8"})
        for (const auto& [system, count] : shapes()) {
            SCOPED_TRACE(system.name + " x " + std::to_string(count) + ", lanes " + lanes);
            const Variable chosen("OPENMM_CONSTRAINTS_LANES", lanes);
            Copies copies(system, count);
            interpolate(copies.set, system.numParticles());
            const auto one = fastSolver(copies.set, std::make_shared<TaskRunner>()),
                       several = fastSolver(copies.set, std::make_shared<Shuffled>());
            for (const std::vector<double>& now : values) {
                for (ConstraintSolver* solver : {one.get(), several.get()})
                    EXPECT_TRUE(solver->setGlobals(now));
                Copies fixed = copies;
                fixed.set = fixedAt(copies.set, now);
                ConstraintSolver readable(fixed.set, Method::MatrixInversion);
                const auto made = fastSolver(fixed.set, std::make_shared<TaskRunner>());
                const Solution expected(readable, fixed, 1e-12), likewise(*made, fixed, 1e-12),
                    found(*one, copies, 1e-12), shuffled(*several, copies, 1e-12);
                ASSERT_EQ(expected.position.outcome, Outcome::Converged);
                expectSame(found, likewise);
                expectSame(shuffled, likewise);
                EXPECT_LT(farthest(found.delta, expected.delta), 1e-10);
                EXPECT_LT(farthest(found.velocities, expected.velocities), 1e-8);
                DistanceSolver distances(one->getSet(), one->getGraph(), std::make_shared<TaskRunner>());
                Arrays delta = copies.random(0.002, 1);
                EXPECT_TRUE(
                    distances.solvePositions(copies.start.data(), copies.box, delta.data(), 1e-10, 100, nullptr, 0)
                        .unsolved.empty());
            }
        }
}

TEST(InterpolatedLengths, ThatNothingCanHaveAreLeftToTheReadableSolver) {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    for (const char* name : {"water", "chain", "star", "OH"})
        for (int count : {1, 11})
            for (double length : {0.0, -0.1, -1.0, 1.6, nan, inf}) {
                SCOPED_TRACE(std::string(name) + " x " + std::to_string(count) + " " + std::to_string(length));
                TestSystem system = findSystem(name);
                system.box = {{3, 0, 0}, {0.5, 3, 0}, {-0.4, 0.6, 3}};
                Copies copies(system, count);
                for (Constraint& c : copies.set.constraints)
                    c.periodic = true;
                copies.set.globals = {{"p", 0}};
                Constraint& last = copies.set.constraints.back();
                last.parameter = 0;
                last.target0 = last.target;
                last.target1 = std::isfinite(length) ? length : last.target + 1;
                ConstraintSolver readable(copies.set, Method::MatrixInversion);
                DistanceSolver distances(readable.getSet(), readable.getGraph(), std::make_shared<TaskRunner>());
                const auto solve = [&] {
                    Arrays delta = copies.random(0.002, 1), before = delta;
                    const std::vector<int> unsolved =
                        distances.solvePositions(copies.start.data(), copies.box, delta.data(), 1e-10, 100, nullptr, 0)
                            .unsolved;
                    for (int c : unsolved) { // nothing is done to them
                        const Cluster& cluster = readable.getGraph().clusters[c];
                        for (int row = cluster.begin; row < cluster.end; row++)
                            for (int p : copies.set.constraints[readable.getGraph().rows[row]].particles)
                                EXPECT_EQ(dot(delta[p] - before[p], delta[p] - before[p]), 0);
                    }
                    return unsolved.size();
                };
                EXPECT_EQ(solve(), 0u);
                readable.setGlobals(std::vector<double>{std::isfinite(length) ? 1 : length});
                distances.takeTargets(readable.getSet());
                EXPECT_GE(solve(), 1u);
                Arrays v = copies.random(1, 2);
                if (!(length > 0) || length > 1.5) {
                    EXPECT_GE(distances.solveVelocities(copies.start.data(), copies.box, v.data(), 0.002, 1e-10, 100)
                                  .unsolved.size(),
                              1u);
                }
                readable.setGlobals(std::vector<double>{0});
                distances.takeTargets(readable.getSet());
                EXPECT_EQ(solve(), 0u);
            }
}

// ---- on the platform

namespace {

/** Waters, stars, a protein in one cluster and one that threads share, with lengths that follow "p" and "q", and a
 *  distance of the centroids of two groups. */
struct Alchemical {
    std::unique_ptr<System> system;
    ConstraintForce* force = new ConstraintForce();
    Vectors positions;

    Alchemical() {
        system = std::make_unique<System>();
        force->addGlobalParameter("p", 0);
        force->addGlobalParameter("q", 0.5);
        for (int i = 0; i < 11; i++)
            add(findSystem("water"), i % 2 == 0 ? "p" : "");
        for (int i = 0; i < 5; i++)
            add(findSystem("star"), "q");
        add(protein(30), "p");
        add(protein(360), "q");
        std::vector<int> groups[2]; // at a border
        Vec3 between;
        double masses[2] = {0, 0};
        for (int g : {0, 1})
            for (int p = g == 0 ? 0 : 60; p < (g == 0 ? 60 : 150); p++) {
                groups[g].push_back(p);
                masses[g] += system->getParticleMass(p);
            }
        for (int g : {0, 1})
            for (int p : groups[g])
                between += positions[p] * ((g == 0 ? 1 : -1) * system->getParticleMass(p) / masses[g]);
        force->addCentroidDistance(groups[0], groups[1], std::sqrt(between.dot(between)));
        system->addForce(force);
        auto* springs = new HarmonicBondForce();
        for (int p = 0; p + 5 < system->getNumParticles(); p += 3) {
            const Vec3 r = positions[p + 5] - positions[p];
            springs->addBond(p, p + 5, 0.9 * std::sqrt(r.dot(r)), 300);
        }
        system->addForce(springs);
    }
    void add(const TestSystem& molecule, const std::string& parameter) {
        const int first = (int) positions.size();
        const Vectors places = toVectors(molecule.positions);
        for (int p = 0; p < molecule.numParticles(); p++) {
            system->addParticle(molecule.masses[p]);
            positions.push_back(places[p]);
        }
        for (std::size_t k = 0; k < molecule.bonds.size(); k++) {
            const TestSystem::Bond& bond = molecule.bonds[k];
            const int index = force->addDistance(first + bond.i, first + bond.j, bond.length);
            if (!parameter.empty() && k % 3 == 0)
                force->setDistanceInterpolation(index, parameter, bond.length * (1 + change));
        }
    }
    double error(const Context& context) const {
        const State state = context.getState(State::Positions | State::Parameters);
        const Vectors& x = state.getPositions();
        double largest = 0;
        for (int k = 0; k < force->getNumDistances(); k++) {
            int i, j;
            double length, length1;
            std::string parameter;
            force->getDistanceParameters(k, i, j, length);
            force->getDistanceInterpolation(k, parameter, length1);
            if (!parameter.empty())
                length += state.getParameters().at(parameter) * (length1 - length);
            const Vec3 r = x[i] - x[j];
            largest = std::max(largest, std::abs(std::sqrt(r.dot(r)) - length));
        }
        return largest;
    }
};

/** In a Context. */
struct Running {
    Alchemical molecules;
    RattleIntegrator integrator{0.001};
    std::unique_ptr<Context> context;

    explicit Running(const std::string& platform, int threads = 1) {
        integrator.setConstraintTolerance(1e-11);
        integrator.setMaxProjection(0.2);
        std::map<std::string, std::string> properties;
        if (platform == "CPU")
            properties["Threads"] = std::to_string(threads);
        context = std::make_unique<Context>(*molecules.system, integrator, requirePlatform(platform), properties);
        context->setPositions(molecules.positions);
        Random random(3);
        Vectors v;
        for (std::size_t p = 0; p < molecules.positions.size(); p++) {
            const Real3 r = random.inCube(0.5);
            v.emplace_back(r.x, r.y, r.z);
        }
        context->setVelocities(v);
    }
    /** Steps between which parameters change, in several ways. */
    void go(double p) {
        integrator.step(2);
        context->setParameter("p", p);
        integrator.step(2); // projects
        context->setParameter("q", 1 - p);
        integrator.applyConstraints();
        integrator.applyVelocityConstraints();
        for (int i = 0; i < 3; i++) {
            context->setParameter("p", p + 0.01 * i);
            integrator.step(1);
        }
    }
    Vectors positions() const {
        return context->getState(State::Positions).getPositions();
    }
};

} // namespace

TEST(InterpolatedLengthsOfContexts, GoWhereReferenceGoesWithAnyNumberOfThreads) {
    Running reference("Reference"), one("CPU", 1);
    reference.go(0.4);
    one.go(0.4);
    EXPECT_LT(one.molecules.error(*one.context), 1e-11);
    // The CPU platform computes the forces of springs in another order.
    EXPECT_LT(distance(one.positions(), reference.positions()), 1e-9);
    EXPECT_NE(one.integrator.getMultipliers()[0], 0);
    EXPECT_NEAR(one.integrator.getMultipliers()[0], reference.integrator.getMultipliers()[0], 1e-3);
    EXPECT_NEAR(one.integrator.computeParameterDerivatives().at("p"),
                reference.integrator.computeParameterDerivatives().at("p"), 1e-6);
    for (int threads : {2, 3}) {
        Running several("CPU", threads);
        several.go(0.4);
        EXPECT_EQ(distance(several.positions(), one.positions()), 0) << threads;
        EXPECT_EQ(several.integrator.getMultipliers(), one.integrator.getMultipliers()) << threads;
    }
}

TEST(InterpolatedLengthsOfContexts, ContinueFromACheckpointBesideOthers) {
    Running whole("CPU", 2), first("CPU", 2), second("CPU", 2), beside("CPU", 2);
    whole.go(0.4);
    whole.go(0.6);
    first.go(0.4);
    beside.go(-0.3);
    std::stringstream checkpoint;
    first.context->createCheckpoint(checkpoint);
    second.context->loadCheckpoint(checkpoint);
    beside.go(0.1);
    second.go(0.6);
    EXPECT_EQ(distance(second.positions(), whole.positions()), 0);
    EXPECT_EQ(second.integrator.getMultipliers(), whole.integrator.getMultipliers());
    EXPECT_LT(beside.molecules.error(*beside.context), 1e-11);
}

TEST(InterpolatedLengthsOfContexts, FailByNameAndGoOn) {
    Running one("CPU", 2);
    one.go(0.1);
    const Vectors before = one.positions();
    for (double p : {-1 / change - 1, -1 / change}) { // lengths of -change and 0
        one.context->setParameter("p", p);
        for (const auto& use : std::vector<std::function<void()>>{[&] { one.integrator.step(1); },
                                                                  [&] { one.integrator.applyConstraints(); }})
            expectAll(messageOf(use), {"distance 0 of the ConstraintForce with index 0", "\"p\" at", "stay positive"});
        EXPECT_EQ(distance(one.positions(), before), 0);
    }
    one.context->setParameter("p", 0.1);
    one.integrator.step(1);
    EXPECT_LT(one.molecules.error(*one.context), 1e-11);
}
