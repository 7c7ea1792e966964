// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SpanningBase.h"
#include "support/Bodies.h"
#include "support/FreeFlight.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

// ---- straight ----------------------------------------------------------------------------------------------------

TEST(StraightBodies, CarbonDioxideByThreeDistances) {
    const std::vector<RigidSet> bodies = findChecked(distances(carbonDioxide, allPairs(0, 2)));
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].particles, (std::vector<int>{0, 1, 2}));
    EXPECT_NEAR(distance(bodies[0].shape[1], bodies[0].shape[2]), 0.2326, 1e-14);
    EXPECT_EQ(ConstraintPlugin::chooseBase(distances(carbonDioxide, allPairs(0, 2)), bodies[0]),
              (std::vector<int>{1, 2}));
}

TEST(StraightBodies, LengthsMayBeRounded) {
    ConstraintSet set = distances(carbonDioxide, allPairs(0, 2));
    for (double excess : {-1.5e-5, 1.5e-5}) { // rounded to 1e-5 nm, both ways
        set.constraints[2].target = 0.2326 + excess;
        EXPECT_EQ(find(set), line({{0, 1, 2}})) << excess;
    }
    for (double excess : {-2e-4, 2e-4}) { // bent, or impossible
        set.constraints[2].target = 0.2326 + excess;
        EXPECT_EQ(find(set), none) << excess;
    }
    EXPECT_EQ(findRigidSets(set, 1e-3).size(), 1u) << "a tolerance that is larger counts";
}

TEST(StraightBodies, CarbonDioxideByAnAngleOf180Degrees) {
    ConstraintSet set = distances(carbonDioxide, {{0, 1}, {0, 2}});
    EXPECT_EQ(find(set), none);
    addAngle(set, 1, 0, 2, pi);
    EXPECT_EQ(find(set), none) << "two components of the bend, which are regular";
    ConstraintSet rod = set;
    rod.constraints.push_back(distances(carbonDioxide, {{1, 2}}).constraints[0]);
    EXPECT_EQ(find(rod), line({{0, 1, 2}}));
    for (double bent : {179.0, 178.0, 120.0}) {
        set.constraints[2].target = bent * pi / 180;
        EXPECT_EQ(find(set), none) << bent;
    }
    set.constraints[2].target = pi;
    set.constraints.erase(set.constraints.begin());
    EXPECT_EQ(find(set), none) << "a bond is free";
}

TEST(StraightBodies, Rods) {
    const Points rod{{0, 0, 0}, {0.12, 0, 0}, {0.26, 0, 0}, {0.38, 0, 0}, {0.49, 0, 0}};
    EXPECT_EQ(find(distances(Points(rod.begin(), rod.begin() + 4), allPairs(0, 3))), line({{0, 1, 2, 3}}));
    EXPECT_EQ(find(distances(rod, allPairs(0, 4))), line({{0, 1, 2, 3, 4}}));
    EXPECT_EQ(find(distances(rod, {{0, 1}, {1, 2}, {0, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}})), line({{0, 1, 2, 3, 4}}));
    EXPECT_EQ(find(distances(rod, {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {2, 4}})), line({{0, 1, 2}, {2, 3, 4}}))
        << "nothing holds the angle at 2";
    EXPECT_EQ(find(distances(rod, {{0, 2}, {1, 2}, {0, 1}, {2, 4}, {3, 4}, {2, 3}, {0, 4}})), line({{0, 1, 2, 3, 4}}))
        << "the whole length holds it";
}

TEST(StraightBodies, ThatShareTwoParticlesAreOne) {
    // Two trusses of particles on one line; 0 and 1 are in both, and no other particle has lengths to both of them.
    Points points{{0, 0, 0}, {0.7, 0, 0}};
    for (int i = 0; i < 8; i++)
        points.push_back({0.1 + 0.07 * i + (i < 4 ? 0 : 0.013), 0, 0});
    Pairs pairs;
    for (int c : {2, 6})
        for (auto [i, j] : Pairs{{0, c},
                                 {0, c + 1},
                                 {c, c + 1},
                                 {c, c + 2},
                                 {c + 1, c + 2},
                                 {c + 1, c + 3},
                                 {c + 2, c + 3},
                                 {1, c + 2},
                                 {1, c + 3}})
            pairs.push_back({i, j});
    EXPECT_EQ(find(distances(points, pairs)), line({range(0, 9)}));
}

TEST(StraightBodies, AreNotThoseHeldBentFromBeside) {
    // Straight within the rounding of the three lengths, but other lengths tell the bend.
    const Points bent{{0, 0, 0}, {0.1, 0.0008, 0}, {0.2, 0, 0}, {0.1, 0.1, 0.05}, {0.13, -0.08, 0.1}};
    EXPECT_EQ(find(distances(bent, allPairs(0, 2))), line({{0, 1, 2}}));
    EXPECT_EQ(find(distances(bent, allPairs(0, 4))), body({range(0, 4)}));
    Points straight = bent;
    straight[1].y = 0;
    straight.push_back({0.3, 0.0016, 0});
    EXPECT_EQ(find(distances(straight, allPairs(0, 5))), body({range(0, 5)}));
    const std::vector<RigidSet> six = findChecked(distances(straight, allPairs(0, 5)));
    for (auto [i, j] : allPairs(0, 5)) // 5 is not on the line of 0, 1 and 2, though nearly
        EXPECT_NEAR(distance(six[0].shape[i], six[0].shape[j]), distance(straight[i], straight[j]), 1e-12);
    Random random(30); // many of a cloud's triangles are nearly straight
    Points cloud, flatCloud;
    for (int i = 0; i < 40; i++) {
        cloud.push_back(random.inCube(0.5));
        flatCloud.push_back({cloud[i].x, cloud[i].y, 0});
    }
    EXPECT_EQ(find(distances(cloud, allPairs(0, 39))), body({range(0, 39)}));
    const std::vector<RigidSet> bodies = findRigidSets(distances(flatCloud, allPairs(0, 39)), 1e-8);
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].particles, range(0, 39));
}

TEST(StraightBodies, AcetonitrileIsOneBodyIfItsHydrogensAreHeld) {
    const double x = 0.0371, r = 0.1024;
    Points points{{0, 0, 0}, {0.1458, 0, 0}, {0.2615, 0, 0}};
    for (int i = 0; i < 3; i++)
        points.push_back({-x, r * std::cos(2 * pi * i / 3), r * std::sin(2 * pi * i / 3)});
    const Pairs straight = allPairs(0, 2), methyl = {{0, 3}, {0, 4}, {0, 5}, {3, 4}, {3, 5}, {4, 5}};
    EXPECT_EQ(find(distances(points, straight + methyl)), line({{0, 1, 2}}));
    EXPECT_EQ(find(distances(points, straight + methyl + Pairs{{1, 3}, {1, 4}, {1, 5}})), body({range(0, 5)}));
    EXPECT_EQ(find(distances(points, allPairs(0, 5))), body({range(0, 5)}));
    // Each hydrogen atom is in a plane with the rod: no reason for a plate.
    const Pairs spokes{{0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4}, {1, 5}, {2, 3}, {2, 4}, {2, 5}};
    EXPECT_EQ(find(distances(points, straight + spokes)), line({{0, 1, 2}}));
}

// ---- what is not found ----------------------------------------------------------------------------------------------

TEST(SingularBodies, RegularSetsAreNone) {
    for (const TestSystem& system : systemTable())
        EXPECT_EQ(find(toConstraintSet(system)), system.name == "methane" ? body({range(0, 4)}) : none) << system.name;
    EXPECT_EQ(find(distances(tetrahedron, allPairs(0, 3))), none);
    Points bipyramid = tetrahedron;
    bipyramid.push_back({-0.03, -0.04, -0.08});
    Pairs nine = allPairs(0, 4);
    nine.pop_back(); // between both apices
    EXPECT_EQ(find(distances(bipyramid, nine)), none);
    Points alkane, flatStrip;
    for (int i = 0; i < 20; i++) {
        flatStrip.push_back({0.125 * i, i % 2 ? 0.09 : 0, 0});
        alkane.push_back({0.125 * i, i % 2 ? 0.09 : 0, 0.05 * std::sin(1.3 * i)});
    }
    for (const Points& strip : {alkane, flatStrip})
        EXPECT_EQ(find(distances(strip, upToOneThree(strip, 0.17))), none);
    EXPECT_EQ(find(distances(benzene(), within(benzene(), 0.15))), none);
}

TEST(SingularBodies, FlatSheetsThatMayBuckleAreNone) {
    // Triangles of bonded distances only: a node inside is free to leave the plane.
    for (int size : {2, 3, 5, 8}) {
        Points sheet;
        for (int i = 0; i < size + 1; i++)
            for (int j = 0; j < size + 1; j++)
                sheet.push_back({0.14 * (i + 0.5 * j), 0.14 * j * std::sqrt(0.75), 0});
        EXPECT_EQ(find(distances(sheet, within(sheet, 0.15))), none) << size;
    }
    Points wheel = ring(6, {0.14});
    wheel.push_back({0, 0, 0});
    EXPECT_EQ(find(distances(wheel, within(wheel, 0.15))), none);
}

// ---- in space -------------------------------------------------------------------------------------------------------

TEST(SpatialBodies, WithMoreLengthsThanTheyNeed) {
    Points points = tetrahedron;
    points.push_back({0.03, 0.04, 0.03});
    EXPECT_EQ(find(distances(points, allPairs(0, 4))), body({range(0, 4)}));
    EXPECT_EQ(find(distances(points, allPairs(0, 4), 1e-5)), body({range(0, 4)})) << "rounded";
    const Points pyramid{{0, 0, 0}, {0.1, 0, 0}, {0.1, 0.1, 0}, {0, 0.1, 0}, {0.05, 0.05, 0.1}};
    EXPECT_EQ(find(distances(pyramid, allPairs(0, 4))), body({range(0, 4)}));
    Pairs withoutApex = allPairs(0, 4);
    withoutApex.pop_back(); // three lengths hold the apex
    EXPECT_EQ(find(distances(pyramid, withoutApex)), body({range(0, 4)})) << "its base is singular";
}

TEST(SpatialBodies, HaveTheShapeOfTheirLengths) {
    Random random(7);
    for (int n : {5, 12, 32}) {
        Points points;
        for (int i = 0; i < n; i++)
            points.push_back(random.inCube(0.5));
        const std::vector<RigidSet> bodies = findChecked(distances(points, allPairs(0, n - 1)));
        ASSERT_EQ(bodies.size(), 1u) << n;
        EXPECT_EQ((int) bodies[0].constraints.size(), n * (n - 1) / 2);
        for (auto [i, j] : allPairs(0, n - 1))
            EXPECT_NEAR(distance(bodies[0].shape[i], bodies[0].shape[j]), distance(points[i], points[j]), 1e-12);
    }
}

/** A lattice of particles that is pushed out of order, with the distances up to a cutoff. */
TEST(SpatialBodies, OfManyParticlesByShortDistances) {
    Random random(8);
    Points points;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            for (int k = 0; k < 8; k++)
                points.push_back(0.1 * Real3{(double) i, (double) j, (double) k} + random.inCube(0.02));
    const Pairs pairs = within(points, 0.19);
    const std::vector<RigidSet> bodies = findChecked(distances(points, pairs));
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].particles, range(0, 511));
    const auto& shape = bodies[0].shape;
    for (auto [i, j] : allPairs(0, 511))
        ASSERT_NEAR(distance(shape[i], shape[j]), distance(points[i], points[j]), 1e-10);
}

TEST(SpatialBodies, OfPlatesWithAnglesBetweenThem) {
    // The corners of a truncated icosahedron, with all edges and the distances over one corner.
    const double phi = (1 + std::sqrt(5)) / 2;
    Points corners;
    for (const Real3& r : {Real3{0, 1, 3 * phi}, Real3{1, 2 + phi, 2 * phi}, Real3{phi, 2, 2 * phi + 1}})
        for (int signs = 0; signs < 8; signs++)
            for (int turn = 0; turn < 3; turn++) {
                const double x[3] = {(signs & 1 ? -1 : 1) * r.x, (signs & 2 ? -1 : 1) * r.y,
                                     (signs & 4 ? -1 : 1) * r.z};
                const Real3 corner = 0.071 * Real3{x[turn], x[(turn + 1) % 3], x[(turn + 2) % 3]};
                if (std::none_of(corners.begin(), corners.end(),
                                 [&](const Real3& other) { return distance(corner, other) < 1e-6; }))
                    corners.push_back(corner);
            }
    ASSERT_EQ(corners.size(), 60u);
    const Pairs pairs = upToOneThree(corners, 0.15);
    EXPECT_EQ(pairs.size(), 90u + 180u);
    EXPECT_EQ(find(distances(corners, pairs)), body({range(0, 59)}));
}

TEST(SpatialBodies, InAChainOnHinges) {
    // Neopentane by bonds and distances over one atom: five tetrahedra of bonds.
    const Real3 directions[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    Points points{{0, 0, 0}};
    for (const Real3& d : directions)
        points.push_back((0.153 / std::sqrt(3)) * d);
    Found expected = body({range(0, 4)});
    for (int i = 0; i < 4; i++) {
        std::vector<int> methyl{0, i + 1};
        for (int j = 0; j < 4; j++)
            if (i != j) {
                methyl.push_back((int) points.size());
                points.push_back(points[i + 1] + (-0.109 / std::sqrt(3)) * directions[j]);
            }
        expected.spatial.insert(methyl);
    }
    EXPECT_EQ(find(distances(points, upToOneThree(points, 0.16))), expected);
}

TEST(SpatialBodies, TakeRegularTetrahedraIntoTheirChains) {
    // A flat quadrangle, and on its edge a tetrahedron that is regular by itself; another one hangs on a bond.
    Points points = quadrangle;
    for (const Real3& r : {Real3{0.05, -0.03, 0.08}, Real3{0.05, -0.1, 0.03}, Real3{0.2, 0.2, 0.2},
                           Real3{0.3, 0.2, 0.2}, Real3{0.2, 0.3, 0.2}, Real3{0.2, 0.2, 0.3}})
        points.push_back(r);
    const Pairs onEdge{{0, 4}, {1, 4}, {0, 5}, {1, 5}, {4, 5}}, bond{{2, 6}};
    EXPECT_EQ(find(distances(points, allPairs(0, 3) + onEdge + bond + allPairs(6, 9))),
              (Found{{}, {range(0, 3)}, {{0, 1, 4, 5}}}));
}

TEST(SpatialBodies, ThatTouchInATriangleStayApart) {
    // Both apices of two pyramids on one base, each with one length more than it needs: they may be on either side.
    Points points = tetrahedron;
    for (const Real3& r : {Real3{0.03, 0.04, 0.03}, Real3{0.03, 0.02, -0.11}, Real3{0.01, 0.03, -0.05}})
        points.push_back(r);
    const Pairs above = allPairs(0, 4), below{{0, 5}, {1, 5}, {2, 5}, {0, 6}, {1, 6}, {2, 6}, {5, 6}};
    EXPECT_EQ(find(distances(points, above + below)), body({range(0, 4)}));
    EXPECT_EQ(find(distances(points, above + below + Pairs{{3, 5}, {3, 6}})), body({range(0, 6)}))
        << "one length tells";
}

// ---- which constraints count ----------------------------------------------------------------------------------------

TEST(SingularBodies, LeaveConstraintsThatMayNotBeReplaced) {
    const ConstraintSet set = distances(quadrangle, allPairs(0, 3) + Pairs{{1, 0}});
    std::vector<char> may(7, 1);
    EXPECT_EQ(findRigidSets(set, 1e-8, may).size(), 1u);
    may[0] = 0; // its duplicate is still there
    const std::vector<RigidSet> bodies = findRigidSets(set, 1e-8, may);
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].constraints, range(1, 6));
    may[6] = 0;
    EXPECT_TRUE(findRigidSets(set, 1e-8, may).empty());
}

TEST(SingularBodies, OfImmovableParticlesAreNone) {
    ConstraintSet set = distances(quadrangle, allPairs(0, 3));
    set.inverseMass.assign(4, 0);
    EXPECT_EQ(find(set), none);
    set.inverseMass[2] = 1;
    EXPECT_EQ(find(set), plate({{0, 1, 2, 3}}));
}
