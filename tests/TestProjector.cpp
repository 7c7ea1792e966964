// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Projector.h"
#include "coordinates.h"
#include "support/SystemTable.h"
#include "support/Verifier.h"
#include <cstring>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using Result = Projection::Outcome;

namespace {

/** A solver and a projector on some constraints, for positions on them. */
struct Bench {
    ConstraintSolver solver;
    std::vector<HeldPair> pairs;
    int askedForPairs = 0;
    Projector projector;
    ProjectionSettings settings;
    Arrays start;
    Box box;

    Bench(const ConstraintSet& set, const Arrays& start, const Box& box, std::vector<HeldPair> held = {})
        : solver(set, Method::MatrixInversion), pairs(std::move(held)),
          projector(solver, [this] { return givePairs(); }), start(start), box(box) {
    }
    explicit Bench(const TestSystem& system) : Bench(toConstraintSet(system), system.positions, system.box) {
    }
    Projection project(Arrays& x, Reach reach = Reach::Bounded) {
        return projector.projectPositions(settings, x.data(), box, 0, reach);
    }
    std::vector<HeldPair> givePairs() {
        askedForPairs++;
        return pairs;
    }
    /** Give the solver multipliers, as a step leaves them. */
    Impulses giveImpulses() {
        const std::size_t count = solver.getSet().constraints.size();
        const Impulses ofStep{std::vector<double>(count, 0.5), std::vector<double>(count, -2)};
        solver.setImpulses(ofStep);
        return ofStep;
    }
    Arrays shifted(double size) const {
        Random random(3);
        Arrays x = start;
        for (std::size_t i = 0; i < x.size(); i++)
            if (solver.getSet().inverseMass[i] > 0)
                x[i] += random.inCube(size);
        return x;
    }
};

bool areSameBits(const Arrays& a, const Arrays& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Real3)) == 0;
}

double length(const Arrays& x, int i, int j) {
    return std::sqrt(dot(x[i] - x[j], x[i] - x[j]));
}

/** Four carbons in a zigzag, whose dihedral of 180 degrees has another target. */
Bench zigzag(double target) {
    ConstraintSet set;
    set.inverseMass.assign(4, 1 / 12.0);
    Constraint c;
    c.kind = CoordinateKind::Dihedral;
    c.particles = {0, 1, 2, 3};
    c.target = target;
    set.constraints = {c};
    set.numListed = 1;
    return {
        set,
        {{0, 0, 0}, {0.1, 0.1, 0.01}, {0.2, 0, 0.02}, {0.3, 0.1, 0}},
        {},
        {{0, 1, true, false}, {1, 2, true, false}, {2, 3, true, false}, {0, 2, false, false}, {1, 3, false, false}}};
}

} // namespace

TEST(Projector, LeavesPositionsWithinTheToleranceBitForBit) {
    Bench bench(findSystem("chain"));
    bench.settings.tolerance = 1e-4;
    Arrays x = bench.shifted(1e-6);
    const Arrays before = x;
    EXPECT_EQ(bench.project(x).outcome, Result::Kept);
    EXPECT_TRUE(areSameBits(x, before));
    bench.settings.tolerance = 1e-10;
    EXPECT_EQ(bench.project(x).outcome, Result::Projected) << "the same positions";
    EXPECT_TRUE(Verifier(bench.solver.getSet(), bench.box, bench.start).accepts(x, 1e-9));
}

TEST(Projector, TellsHowFarTheFarthestParticleMovedAndKeepsTheMultipliersOfAStep) {
    Bench bench(findSystem("chain"));
    const Impulses ofStep = bench.giveImpulses();
    Arrays x = bench.shifted(1e-3);
    const Arrays before = x;
    const Projection projection = bench.project(x);
    ASSERT_EQ(projection.outcome, Result::Projected);
    double farthest = 0;
    for (std::size_t i = 0; i < x.size(); i++)
        farthest = std::max(farthest, std::sqrt(dot(x[i] - before[i], x[i] - before[i])));
    EXPECT_EQ(projection.distance, farthest);
    EXPECT_GT(farthest, 1e-5);
    EXPECT_EQ(bench.solver.getImpulses().lambda, ofStep.lambda);
    EXPECT_EQ(bench.solver.getImpulses().mu, ofStep.mu);
}

TEST(Projector, GoesFarInStagesWithBondsHeld) {
    Bench bench = zigzag(0.5);
    Arrays x = bench.start;
    ASSERT_EQ(bench.project(x, Reach::Staged).outcome, Result::Projected);
    const Real3 b[] = {x[0] - x[1], x[1] - x[2], x[2] - x[3]};
    Real3 gradients[3];
    EXPECT_NEAR(coordinate(CoordinateKind::Dihedral, b, gradients), 0.5, 1e-5);
    for (const HeldPair& pair : bench.pairs)
        EXPECT_NEAR(length(x, pair.particle1, pair.particle2), length(bench.start, pair.particle1, pair.particle2),
                    1e-3);
    EXPECT_EQ(bench.askedForPairs, 1);
    EXPECT_EQ(bench.project(x, Reach::Staged).outcome, Result::Kept) << "it is there";
    EXPECT_EQ(bench.askedForPairs, 1);
}

TEST(Projector, RefusesToMoveAParticleFartherThanTheBound) {
    Bench bench(findSystem("chain"));
    Arrays x = bench.start;
    x.back() += {0.01, 0.02, 0.005}; // one end
    const Arrays before = x;
    bench.settings.maxMove = 0.001;
    const Projection refused = bench.project(x);
    ASSERT_EQ(refused.outcome, Result::TooFar);
    EXPECT_EQ(refused.particle, (int) x.size() - 1);
    EXPECT_GT(refused.distance, bench.settings.maxMove);
    EXPECT_LT(refused.distance, 0.03);
    EXPECT_TRUE(areSameBits(x, before));
    EXPECT_EQ(bench.project(x, Reach::Unbounded).outcome, Result::Projected);
}

TEST(Projector, NamesTheConstraintsOfASingularGeometry) {
    // Three lengths of which one is the sum of the others.
    ConstraintSet set = pattern(5, {{3, 4}, {0, 1}, {1, 2}, {0, 2}});
    set.constraints[3].target = 2 * set.constraints[1].target;
    const double l = set.constraints[1].target;
    Bench bench(set, {{0, 0, 0}, {l, 0, 0}, {2 * l, 0, 0}, {0, 1, 0}, {l, 1, 0}}, {});
    Arrays x = bench.start;
    const Projection projection = bench.project(x);
    ASSERT_EQ(projection.outcome, Result::Singular);
    EXPECT_EQ(projection.rank.circuit, (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(projection.rank.shape, Shape::Straight);
    EXPECT_FALSE(bench.projector.isRankChecked());
    EXPECT_EQ(bench.project(x).outcome, Result::Singular) << "nothing has changed";
}

TEST(Projector, ChecksTheRankAtTheFirstPositionsAndAfterItWasForgotten) {
    Bench bench(findSystem("chain"));
    Arrays x = bench.start;
    EXPECT_FALSE(bench.projector.isRankChecked());
    bench.project(x);
    EXPECT_TRUE(bench.projector.isRankChecked());
    bench.projector.forgetRank();
    EXPECT_FALSE(bench.projector.isRankChecked());
    EXPECT_FALSE(bench.projector.checkRank(x.data(), bench.box).isSingular());
    EXPECT_TRUE(bench.projector.isRankChecked());
}

TEST(Projector, ReturnsVelocitiesToTheTangentSpace) {
    Bench bench(findSystem("branched"));
    bench.settings.tolerance = 1e-10;
    bench.settings.timeScale = 0.002;
    Random random(4);
    Arrays v;
    for (double inverseMass : bench.solver.getSet().inverseMass)
        v.push_back(inverseMass > 0 ? random.inCube(1) : Real3());
    const auto project = [&] {
        return bench.projector.projectVelocities(bench.settings, bench.start.data(), v.data(), bench.box, 0).outcome;
    };
    ASSERT_EQ(project(), Result::Projected);
    EXPECT_TRUE(Verifier(bench.solver.getSet(), bench.box, bench.start).holdsVelocities(v, 0.002, 1e-10));
    const Arrays tangent = v;
    EXPECT_EQ(project(), Result::Kept);
    EXPECT_TRUE(areSameBits(v, tangent));
}

TEST(Projector, NamesAParticleWhosePositionIsRoundedTooMuch) {
    Bench bench(findSystem("chain"));
    bench.settings.positionEpsilon = 1.2e-7; // single precision
    Arrays x = bench.start;
    x[3].y = 1e7;
    const Projection projection = bench.project(x);
    ASSERT_EQ(projection.outcome, Result::Unresolved);
    EXPECT_EQ(projection.particle, 3);
    const std::vector<int>& particles = bench.solver.getSet().constraints[projection.constraint].particles;
    EXPECT_NE(std::find(particles.begin(), particles.end(), 3), particles.end());
    EXPECT_NEAR(projection.distance, 1.2, 1e-9);
}

TEST(Projector, ChangesNothingWhereItFails) {
    Bench bench(findSystem("chain"));
    const Impulses ofStep = bench.giveImpulses();
    Arrays x = bench.start;
    x[1] = x[0];
    const Arrays before = x;
    const Projection projection = bench.project(x);
    EXPECT_EQ(projection.outcome, Result::Failed);
    EXPECT_EQ(projection.report.outcome, Outcome::NotFinite);
    EXPECT_TRUE(areSameBits(x, before));
    EXPECT_EQ(bench.solver.getImpulses().lambda, ofStep.lambda);
}
