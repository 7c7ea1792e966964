// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_RECOGNIZED_SETS_H_
#define CONSTRAINTS_TESTS_RECOGNIZED_SETS_H_

#include "BodyMultipliers.h"
#include "ConstraintForces.h"
#include "ConstraintSolver.h"
#include "JoinBodies.h"
#include "support/Bodies.h"
#include "support/Dense.h"

namespace ConstraintTests {

using ConstraintPlugin::ConstraintForces;
using ConstraintPlugin::ConstraintSolver;
using ConstraintPlugin::ForceMultipliers;
using ConstraintPlugin::Impulses;
using ConstraintPlugin::Jacobian;
using ConstraintPlugin::Method;
using ConstraintPlugin::Outcome;
using ConstraintPlugin::RecognizedBody;
using ConstraintPlugin::SolveReport;

/** Recognized bodies, as the finder would leave them. */
struct Recognized {
    ConstraintSet set;
    Points x;
    Box box{{5, 0, 0}, {0, 5, 0}, {0, 0, 5}};

    explicit Recognized(const Points& places, const std::vector<double>& masses) : x(places) {
        for (double mass : masses)
            set.inverseMass.push_back(mass > 0 ? 1 / mass : 0);
    }
    void add(CoordinateKind kind, const std::vector<int>& particles) {
        Constraint c;
        c.kind = kind;
        c.particles = particles;
        c.force = 0;
        c.index = (int) set.constraints.size();
        set.constraints.push_back(c);
        const ConstraintSet& present = set;
        Jacobian J(present, {c.index});
        J.setStart(x.data(), box);
        set.constraints.back().target = J.startValue(0);
    }
    void addDistances(const Pairs& pairs) {
        for (const auto& [i, j] : pairs)
            add(CoordinateKind::Distance, {i, j});
    }
    /** A body of these particles, which takes all constraints among them. */
    void addBody(const std::vector<int>& particles, int dimension, const std::vector<int>& base = {}) {
        RecognizedBody recognized;
        recognized.dimension = dimension;
        recognized.base = base;
        recognized.body = (int) set.bodies.size();
        const auto isInside = [&](int p) { return std::count(particles.begin(), particles.end(), p) > 0; };
        for (int k = 0; k < (int) set.constraints.size(); k++) {
            Constraint& c = set.constraints[k];
            if (!std::all_of(c.particles.begin(), c.particles.end(), isInside))
                continue;
            c.isAbsorbed = true;
            c.recognized = (int) set.recognized.size();
            recognized.constraints.push_back(k);
        }
        Points shape;
        for (int p : particles)
            shape.push_back(x[p]);
        set.bodies.push_back(makeRigidBody(particles, shape, set.inverseMass));
        set.bodies.back().mayBeMirrored = true;
        set.recognized.push_back(recognized);
    }
    /** When all bodies are added. */
    void join() {
        set.numListed = (int) set.constraints.size();
        joinBodies(set);
    }
    /** The multipliers of the impulses of a position stage from displacements at random. */
    ForceMultipliers solve(unsigned seed) {
        join();
        ConstraintSolver solver(set, Method::MatrixInversion);
        solver.chooseIndependent(x.data(), box);
        Random random(seed);
        Points moved;
        for (std::size_t i = 0; i < x.size(); i++)
            moved.push_back(set.inverseMass[i] > 0 ? random.inCube(0.01) : Real3());
        const SolveReport report = solver.solvePositions(x.data(), box, moved.data(), 1e-14, 100);
        EXPECT_EQ(report.outcome, Outcome::Converged);
        const Impulses impulses = solver.getImpulses();
        return {impulses.lambda, impulses.lambdaOfBodies};
    }
    /** Of some constraints, by column. */
    Matrix gradients(const std::vector<int>& constraints) const {
        ConstraintSet plain = set;
        for (Constraint& c : plain.constraints)
            c.nodes.clear();
        Jacobian J(plain, constraints);
        J.setStart(x.data(), box);
        Matrix result = Matrix::Zero(3 * x.size(), J.numRows());
        for (int row = 0; row < J.numRows(); row++)
            for (int s = J.slotStart[row]; s < J.slotStart[row + 1]; s++)
                result.block<3, 1>(3 * J.particle[s], row) += Eigen::Vector3d(J.start[s].x, J.start[s].y, J.start[s].z);
        return result;
    }
    Vector forces(const ForceMultipliers& multipliers) const {
        const ConstraintForces all = computeConstraintForces(set, multipliers, x.data(), box);
        Vector result(3 * x.size());
        for (std::size_t i = 0; i < x.size(); i++)
            result.segment<3>(3 * i) = Eigen::Vector3d(all.forces[i].x, all.forces[i].y, all.forces[i].z);
        return result;
    }
    std::vector<double> read(const ForceMultipliers& multipliers) const {
        return withBodyMultipliers(set, multipliers, x.data(), box, 0).values;
    }
    std::vector<int> absorbed() const {
        std::vector<int> list;
        for (int k = 0; k < (int) set.constraints.size(); k++)
            if (set.constraints[k].recognized >= 0)
                list.push_back(k);
        return list;
    }
};

inline Points cloud(int n, Random& random, const Real3& centre = {}) {
    Points points;
    while ((int) points.size() < n) {
        const Real3 r = centre + random.inCube(0.2);
        if (std::all_of(points.begin(), points.end(), [&](const Real3& other) { return distance(r, other) > 0.08; }))
            points.push_back(r);
    }
    return points;
}

inline std::vector<double> someMasses(int n, Random& random) {
    std::vector<double> masses;
    for (int i = 0; i < n; i++)
        masses.push_back(random.uniform(1, 20));
    return masses;
}

} // namespace ConstraintTests

#endif
