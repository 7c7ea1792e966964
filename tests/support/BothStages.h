// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_BOTH_STAGES_H_
#define CONSTRAINTS_TESTS_BOTH_STAGES_H_

#include "ConstraintSolver.h"
#include "TaskRunner.h"
#include "support/DenseOracle.h"
#include "support/SystemTable.h"

namespace ConstraintTests {

using namespace ConstraintPlugin;

/** Tasks in an order that is not that of one thread, each with another thread's workspace. */
class Shuffled : public TaskRunner {
public:
    int numThreads() const override {
        return 3;
    }
    void run(int numTasks, const std::function<void(int, int)>& task) override {
        for (int i = numTasks - 1; i >= 0; i--)
            task(i, i % 3);
    }
};

/** Random vectors of all particles that move. */
inline Arrays randomField(const ConstraintSet& set, double size, unsigned seed) {
    Random source(seed);
    Arrays x;
    for (double w : set.inverseMass)
        x.push_back(w > 0 ? source.inCube(size) : Real3());
    return x;
}

/** Some copies side by side, which differ in masses and size. */
struct Copies {
    ConstraintSet set;
    Arrays start;
    Box box;

    Copies(const TestSystem& system, int count) : box(system.box) {
        Random random(count);
        const int n = system.numParticles();
        for (int copy = 0; copy < count; copy++) {
            const double scale = system.periodic ? 1 : 1 + 0.02 * copy;
            for (int i = 0; i < n; i++) {
                set.inverseMass.push_back(system.masses[i] > 0 ? 1 / (system.masses[i] * scale) : 0);
                start.push_back(scale * system.positions[i]);
            }
            for (const auto& bond : system.bonds) {
                Constraint c;
                c.particles = {copy * n + bond.i, copy * n + bond.j};
                c.target = scale * bond.length;
                c.periodic = system.periodic;
                c.index = set.numListed++;
                set.constraints.push_back(c);
            }
        }
    }
    Arrays random(double size, unsigned seed) const {
        return randomField(set, size, seed);
    }
};

inline double farthest(const Arrays& a, const Arrays& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        largest = std::max(largest, std::sqrt(dot(a[i] - b[i], a[i] - b[i])));
    return largest;
}

inline double farthest(const std::vector<double>& a, const std::vector<double>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

/** What a solve of both stages gives. */
struct Solution {
    SolveReport position, velocity;
    Arrays delta, impulse, velocities;
    Impulses multipliers;

    Solution(ConstraintSolver& solver, const Copies& copies, double tolerance, double size = 0.004)
        : delta(copies.random(size, 1)), impulse(delta.size()), velocities(copies.random(1, 2)) {
        // The velocity stage first: its factor is what the position stage at the same place finds.
        velocity = solver.solveVelocities(copies.start.data(), copies.box, velocities.data(), 0.002, tolerance, 100);
        position =
            solver.solvePositions(copies.start.data(), copies.box, delta.data(), tolerance, 100, 0.002, impulse.data());
        multipliers = solver.getImpulses();
    }
};

/** The same bits. */
inline void expectSame(const Solution& a, const Solution& b) {
    EXPECT_EQ(a.position.outcome, b.position.outcome);
    EXPECT_EQ(a.position.iterations, b.position.iterations);
    EXPECT_EQ(a.position.maxError, b.position.maxError);
    EXPECT_EQ(a.position.constraint, b.position.constraint);
    EXPECT_EQ(farthest(a.delta, b.delta), 0);
    EXPECT_EQ(farthest(a.impulse, b.impulse), 0);
    EXPECT_EQ(farthest(a.velocities, b.velocities), 0);
    EXPECT_EQ(a.multipliers.lambda, b.multipliers.lambda);
    EXPECT_EQ(a.multipliers.mu, b.multipliers.mu);
}

} // namespace ConstraintTests

#endif
