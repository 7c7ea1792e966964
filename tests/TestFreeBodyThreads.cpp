// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Large rigid bodies are solved in parts, on several threads.
#include "support/BodySystems.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Runs tasks on this thread, in an order of its own, as some number of threads might. */
class Shuffled : public TaskRunner {
public:
    explicit Shuffled(int threads) : threads(threads) {
    }
    int numThreads() const override {
        return threads;
    }
    void run(int numTasks, const std::function<void(int, int)>& task) override {
        for (int first = 0; first < threads; first++)
            for (int i = numTasks - 1 - first; i >= 0; i -= threads)
                task(i, first);
        largest = std::max(largest, numTasks);
    }
    int largest = 0;

private:
    int threads;
};

TEST(FreeBodyThreads, OrderOfTasksDoesNotMatter) {
    ConstraintSet set;
    Arrays x;
    Random random(8);
    for (int size : {3, 1, 2047, 2, 2048, 2049, 5, 7000, 900, 900, 900, 4}) {
        const int first = (int) x.size();
        for (int i = 0; i < size; i++) {
            x.push_back(random.inCube(1));
            set.inverseMass.push_back(1 / random.uniform(1, 20));
        }
        std::vector<int> particles = range(first, first + size - 1);
        std::reverse(particles.begin(), particles.end());
        Points places(x.rbegin(), x.rbegin() + size);
        set.bodies.push_back(makeRigidBody(particles, places, set.inverseMass));
    }
    const Arrays v = [&] {
        Arrays drawn;
        for (std::size_t i = 0; i < x.size(); i++)
            drawn.push_back(random.inCube(1));
        return drawn;
    }();
    struct Result {
        Arrays delta, velocity, tangent, acceleration;
        Impulses impulses;
        ForceMultipliers forces;
    };
    const auto solve = [&](std::shared_ptr<TaskRunner> runner) {
        ConstraintSolver solver(set, Method::Automatic);
        if (runner != nullptr)
            solver.setTaskRunner(runner);
        Result r{v, v, v, v, {}, {}};
        for (Real3& d : r.delta)
            d = 0.1 * d;
        EXPECT_EQ(solver.solvePositions(x.data(), Box(), r.delta.data(), 1e-12, 10, 0.1, r.velocity.data()).outcome,
                  Outcome::Converged);
        solver.solveVelocities(x.data(), Box(), r.tangent.data(), 0.1, 1e-12, 10);
        r.impulses = solver.getImpulses();
        solver.solveAccelerations(x.data(), Box(), r.tangent.data(), r.acceleration.data(), r.forces, 10);
        return r;
    };
    const Result expected = solve(nullptr);
    const auto equal = [](const Arrays& a, const Arrays& b) {
        return a.size() == b.size() && largestDifference(a, b) == 0;
    };
    for (int threads : {1, 2, 3}) {
        const auto runner = std::make_shared<Shuffled>(threads);
        const Result now = solve(runner);
        EXPECT_EQ(runner->largest, 13);
        EXPECT_TRUE(equal(now.delta, expected.delta) && equal(now.velocity, expected.velocity)) << threads;
        EXPECT_TRUE(equal(now.tangent, expected.tangent) && equal(now.acceleration, expected.acceleration)) << threads;
        EXPECT_TRUE(equal(now.impulses.lambdaOfBodies, expected.impulses.lambdaOfBodies)) << threads;
        EXPECT_TRUE(equal(now.impulses.muOfBodies, expected.impulses.muOfBodies)) << threads;
        EXPECT_TRUE(equal(now.forces.ofBodies, expected.forces.ofBodies)) << threads;
    }
    // and each body moves as it does alone
    for (std::size_t b = 0; b < set.bodies.size(); b++) {
        ConstraintSet alone = set;
        alone.bodies = {set.bodies[b]};
        ConstraintSolver solver(alone, Method::Automatic);
        Arrays tangent = v;
        solver.solveVelocities(x.data(), Box(), tangent.data(), 0.1, 1e-12, 10);
        for (int p : set.bodies[b].particles)
            ASSERT_EQ(distance(tangent[p], expected.tangent[p]), 0) << b << " " << p;
    }
}

TEST(FreeBodyThreads, LargeBodyIsTheSameOnAnyNumber) {
    // 100,000 particles, and some small bodies beside them
    const int n = 100000;
    Random random(3);
    System system;
    auto* force = new ConstraintForce();
    Vectors places, v;
    for (int i = 0; i < n; i++) {
        system.addParticle(12);
        const Real3 r = random.inCube(5);
        places.emplace_back(r.x, r.y, r.z);
    }
    force->addRigidBody(range(0, n - 1), places);
    for (const RigidShape& shape : someBodies()) {
        const int first = system.getNumParticles();
        for (std::size_t i = 0; i < shape.masses.size(); i++) {
            system.addParticle(shape.masses[i]);
            places.push_back(toVectors({shape.places[i]})[0]);
        }
        force->addRigidBody(range(first, system.getNumParticles() - 1), toVectors(shape.places));
    }
    system.addForce(force);
    for (std::size_t i = 0; i < places.size(); i++) {
        const Real3 r = random.inCube(1);
        v.emplace_back(r.x, r.y, r.z);
    }
    const auto end = [&](const std::string& platform, const std::string& threads) {
        RattleIntegrator integrator(0.001);
        Context context(system, integrator, requirePlatform(platform),
                        threads.empty() ? std::map<std::string, std::string>{}
                                        : std::map<std::string, std::string>{{"Threads", threads}});
        context.setPositions(places);
        context.setVelocities(v);
        integrator.step(1);
        const State state = context.getState(State::Positions | State::Velocities);
        return std::make_pair(state.getPositions(), state.getVelocities());
    };
    const auto [x1, v1] = end("Reference", "");
    EXPECT_GT(distance(x1, places), 1e-4);
    for (const char* threads : {"1", "2", "3"}) {
        const auto [x2, v2] = end("CPU", threads);
        EXPECT_EQ(distance(x1, x2), 0) << threads;
        EXPECT_EQ(distance(v1, v2), 0) << threads;
    }
}

} // namespace
