// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Lengths are those of a shape and of its mirror image: positions decide which one a recognized body is.
#include "MirrorImages.h"
#include "Projector.h"
#include "support/RecognizedSets.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

Points reflected(Points points, const Real3& normal) {
    for (Real3& r : points)
        r = r - (2 * dot(normal, r) / dot(normal, normal)) * normal;
    return points;
}

Points shifted(Points points, double size, Random& random) {
    for (Real3& r : points)
        r += random.inCube(size);
    return points;
}

/** Weighted squares of what is left when the shape is where it fits best. */
double restOf(const RigidBody& body, const Points& x, const Box& box) {
    const BodyFit fit = fitBody(body, x.data(), box);
    double sum = 0;
    for (int i = 0; i < body.size(); i++) {
        const Real3 rest =
            fromReference(body, i, x.data(), box) - fit.origin - rigid::alongAxes(fit.axes, body.shape[i]);
        sum += body.mass[i] * dot(rest, rest);
    }
    return sum;
}

/** Positions anywhere, near the shape and far from it: the mirror image is found where it fits better. */
TEST(MirrorImages, AreFoundWhereTheyFitBetter) {
    int found = 0;
    for (unsigned seed = 1; seed <= 400; seed++) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const int n = 4 + (int) seed % 4, anchors = (int) seed / 4 % 3;
        std::vector<double> masses = someMasses(n, random);
        for (int i = 0; i < anchors; i++)
            masses[i] = 0;
        Recognized given(cloud(n, random), masses);
        given.addBody(range(0, n - 1), 3);
        Points x = shifted(given.x, seed % 2 == 0 ? 0.02 : 0.5, random);
        if (seed % 3 == 0)
            x = reflected(x, random.direction());
        RigidBody other = given.set.bodies[0];
        mirrorShape(other);
        if (seed % 5 == 0) // starts with the other one
            given.set.bodies[0] = other;
        const double rest = restOf(given.set.bodies[0], x, given.box);
        mirror(given.set, {0});
        const double ofMirrorImage = restOf(given.set.bodies[0], x, given.box);
        mirror(given.set, {0});
        if (std::abs(rest - ofMirrorImage) < 1e-9 * rest)
            continue;
        EXPECT_EQ(findMirrored(given.set, x.data(), given.box),
                  ofMirrorImage < rest ? std::vector<int>{0} : std::vector<int>{});
        found += ofMirrorImage < rest;
    }
    EXPECT_GT(found, 100);
    EXPECT_LT(found, 300);
}

TEST(MirrorImages, OfBodiesThatAnchorsHold) {
    for (int anchors : {3, 5}) // in a plane, and not
        for (bool isMirrored : {false, true}) {
            Random random(anchors);
            std::vector<double> masses = someMasses(7, random);
            for (int i = 0; i < anchors; i++)
                masses[i] = 0;
            Recognized given(cloud(7, random), masses);
            given.addBody(range(0, 6), 3);
            ASSERT_TRUE(given.set.bodies[0].isHeld);
            const Points x = shifted(isMirrored ? reflected(given.x, {0.6, 0, 0.8}) : given.x, 0.01, random);
            EXPECT_EQ(findMirrored(given.set, x.data(), given.box).size(), isMirrored ? 1u : 0u);
        }
}

TEST(MirrorImages, AcrossPeriodicBoundaries) {
    Random random(3);
    Recognized given(cloud(6, random), someMasses(6, random));
    given.addBody(range(0, 5), 3);
    given.set.bodies[0].periodic = true;
    for (bool isMirrored : {false, true}) {
        Points x = isMirrored ? reflected(given.x, {0, 0.6, 0.8}) : given.x;
        x[1] += Real3{5, 0, 0};
        x[4] += Real3{0, -5, 10};
        EXPECT_EQ(findMirrored(given.set, x.data(), given.box).size(), isMirrored ? 1u : 0u);
    }
}

/** Not of declared bodies, which have a handedness, and not of flat and straight ones, which have none. */
TEST(MirrorImages, AreNotTakenOfOtherBodies) {
    Random random(6);
    const Points x = cloud(5, random);
    Recognized declared(x, someMasses(5, random));
    declared.addBody(range(0, 4), 3);
    declared.set.bodies[0].mayBeMirrored = false;
    EXPECT_TRUE(findMirrored(declared.set, reflected(x, {1, 0, 0}).data(), declared.box).empty());

    const Real3 u{0.36, 0.48, 0.8}, v{0.8, -0.6, 0};
    for (bool isFlat : {true, false}) {
        Points places;
        for (const auto& [a, b] : {std::pair(0.0, 0.0), {0.2, 0.0}, {0.03, 0.17}, {0.1, 0.08}, {0.15, 0.2}})
            places.push_back(a * u + (isFlat ? b : 0) * v);
        if (!isFlat)
            places = {places[0], places[1], places[3]};
        Recognized given(places, someMasses((int) places.size(), random));
        given.addBody(range(0, (int) places.size() - 1), isFlat ? 2 : 1);
        for (int round = 0; round < 100; round++)
            EXPECT_TRUE(findMirrored(given.set, shifted(places, 0.05, random).data(), given.box).empty()) << isFlat;
    }
}

/** A chain of three bodies on hinges, each of which is its shape or the mirror image. */
class JoinedMirrorImages : public testing::TestWithParam<int> {
protected:
    const std::vector<std::vector<int>> bodies{{0, 1, 2, 3, 4}, {3, 4, 5, 6}, {6, 5, 7, 8, 1}};

    /** Positions where some bodies are mirror images; the hinges stay where they are. */
    Points mirroredChain(Points x, int which) const {
        if (which & 1) // through a plane through the hinge 3-4 and the particle 1
            reflect(x, {0, 2}, 3, 4, 1);
        if (which & 2)
            x = reflected(x, {0.6, 0.64, 0.48});
        return x;
    }
    static void reflect(Points& x, const std::vector<int>& particles, int a, int b, int c) {
        const Real3 normal = cross(x[b] - x[a], x[c] - x[a]);
        for (int p : particles)
            x[p] = x[p] - (2 * dot(normal, x[p] - x[a]) / dot(normal, normal)) * normal;
    }
    Recognized chain() const {
        Random random(12);
        Recognized given(cloud(9, random), someMasses(9, random));
        std::set<std::pair<int, int>> pairs;
        for (const auto& body : bodies)
            for (int i : body)
                for (int j : body)
                    if (i < j)
                        pairs.insert({i, j});
        given.addDistances(Pairs(pairs.begin(), pairs.end()));
        for (const auto& body : bodies)
            given.addBody(body, 3);
        given.join();
        return given;
    }
};

TEST_P(JoinedMirrorImages, MoveAndAreProjectedLikeTheShape) {
    const Recognized given = chain();
    Random random(GetParam());
    const Points x = mirroredChain(given.x, GetParam());
    ConstraintSolver solver(given.set, Method::MatrixInversion), same(given.set, Method::MatrixInversion);
    same.chooseIndependent(given.x.data(), given.box);
    EXPECT_EQ(solver.matchMirrorImages(x.data(), given.box), GetParam() != 0);
    EXPECT_FALSE(solver.matchMirrorImages(x.data(), given.box)) << "once is enough";
    solver.chooseIndependent(x.data(), given.box);
    EXPECT_EQ(solver.rank(), same.rank());
    EXPECT_LT(solver.measurePositions(x.data(), given.box).maxError, 1e-13);

    const auto expectHeld = [&](const Points& there, double bound) {
        for (const Constraint& c : given.set.constraints)
            if (c.kind == CoordinateKind::Distance) {
                EXPECT_NEAR(distance(there[c.particles[0]], there[c.particles[1]]), c.target, bound);
            }
    };
    Points delta = shifted(Points(x.size()), 0.01, random), there = x;
    EXPECT_EQ(solver.solvePositions(x.data(), given.box, delta.data(), 1e-13, 100).outcome, Outcome::Converged);
    for (std::size_t i = 0; i < x.size(); i++)
        there[i] += delta[i];
    expectHeld(there, 1e-13);
    EXPECT_LT(solver.measurePositions(there.data(), given.box).maxError, 1e-12);

    Projector projector(solver, [] { return std::vector<HeldPair>(); });
    ProjectionSettings settings;
    settings.tolerance = 1e-12;
    there = shifted(x, 0.01, random);
    EXPECT_EQ(projector.projectPositions(settings, there.data(), given.box, 0, Reach::Unbounded).outcome,
              Projection::Outcome::Projected);
    expectHeld(there, 1e-12);
    // Back to the shape, by the same solver.
    EXPECT_EQ(solver.matchMirrorImages(given.x.data(), given.box), GetParam() != 0);
    EXPECT_LT(solver.measurePositions(given.x.data(), given.box).maxError, 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Which, JoinedMirrorImages, testing::Values(0, 1, 2, 3));

/** The motion of the mirror image is the mirror image of the motion. */
TEST(MirrorImages, MoveAsMirrorImages) {
    Random random(9);
    Recognized given(cloud(8, random), someMasses(8, random));
    given.addBody(range(0, 7), 3);
    given.join();
    const Real3 normal{0.6, 0.64, 0.48};
    const Points x = reflected(given.x, normal);
    ConstraintSolver one(given.set, Method::MatrixInversion), other(given.set, Method::MatrixInversion);
    EXPECT_TRUE(other.matchMirrorImages(x.data(), given.box));
    Points delta = shifted(Points(8), 0.02, random), mirrored = reflected(delta, normal);
    EXPECT_EQ(one.solvePositions(given.x.data(), given.box, delta.data(), 1e-13, 100).outcome, Outcome::Converged);
    EXPECT_EQ(other.solvePositions(x.data(), given.box, mirrored.data(), 1e-13, 100).outcome, Outcome::Converged);
    const Points expected = reflected(delta, normal);
    for (int i = 0; i < 8; i++)
        EXPECT_LT(distance(mirrored[i], expected[i]), 1e-14);
}

} // namespace
