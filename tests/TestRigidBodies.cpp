// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/FreeFlight.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

// ---- straight ----------------------------------------------------------------------------------------------------

TEST(StraightBodies, CarbonDioxideByThreeDistances) {
    const std::vector<RigidBody> bodies = findChecked(distances(carbonDioxide, allPairs(0, 2)));
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].base, (std::vector<int>{1, 2}));
    EXPECT_EQ(bodies[0].others, std::vector<int>{0});
    EXPECT_NEAR(bodies[0].weights[0][0], 0.5, 1e-14);
    EXPECT_NEAR(distance(bodies[0].shape[0], bodies[0].shape[1]), 0.2326, 1e-14);
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
    EXPECT_EQ(findSingularBodies(set, 1e-3).size(), 1u) << "a tolerance that is larger counts";
}

TEST(StraightBodies, CarbonDioxideByAnAngleOf180Degrees) {
    ConstraintSet set = distances(carbonDioxide, {{0, 1}, {0, 2}});
    EXPECT_EQ(find(set), none);
    addAngle(set, 1, 0, 2, pi);
    EXPECT_EQ(find(set), line({{0, 1, 2}}));
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
    EXPECT_EQ(find(distances(bent, allPairs(0, 4))), none);
    Points straight = bent;
    straight[1].y = 0;
    straight.push_back({0.3, 0.0016, 0});
    EXPECT_EQ(find(distances(straight, allPairs(0, 5))), line({{0, 1, 2}})) << "but not 5";
    Random random(30); // many of a cloud's triangles are nearly straight
    Points cloud, flatCloud;
    for (int i = 0; i < 40; i++) {
        cloud.push_back(random.inCube(0.5));
        flatCloud.push_back({cloud[i].x, cloud[i].y, 0});
    }
    EXPECT_EQ(find(distances(cloud, allPairs(0, 39))), none);
    const std::vector<RigidBody> bodies = findSingularBodies(distances(flatCloud, allPairs(0, 39)), 1e-8);
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(particlesOf(bodies[0]), range(0, 39));
}

TEST(StraightBodies, AcetonitrileKeepsItsHydrogensOutside) {
    const double x = 0.0371, r = 0.1024;
    Points points{{0, 0, 0}, {0.1458, 0, 0}, {0.2615, 0, 0}};
    for (int i = 0; i < 3; i++)
        points.push_back({-x, r * std::cos(2 * pi * i / 3), r * std::sin(2 * pi * i / 3)});
    const Pairs straight = allPairs(0, 2), methyl = {{0, 3}, {0, 4}, {0, 5}, {3, 4}, {3, 5}, {4, 5}};
    EXPECT_EQ(find(distances(points, straight + methyl)), line({{0, 1, 2}}));
    EXPECT_EQ(find(distances(points, straight + methyl + Pairs{{1, 3}, {1, 4}, {1, 5}})), line({{0, 1, 2}}));
    EXPECT_EQ(find(distances(points, allPairs(0, 5))), line({{0, 1, 2}}));
    // Each hydrogen atom is in a plane with the rod: no reason for a plate.
    const Pairs spokes{{0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4}, {1, 5}, {2, 3}, {2, 4}, {2, 5}};
    EXPECT_EQ(find(distances(points, straight + spokes)), line({{0, 1, 2}}));
}

// ---- what is not found ----------------------------------------------------------------------------------------------

TEST(SingularBodies, RegularSetsAreNone) {
    for (const TestSystem& system : systemTable())
        EXPECT_EQ(find(toConstraintSet(system)), none) << system.name;
    const Points pyramid{{0, 0, 0}, {0.1, 0, 0}, {0.1, 0.1, 0}, {0, 0.1, 0}, {0.05, 0.05, 0.1}};
    EXPECT_EQ(find(distances(pyramid, allPairs(0, 4))), none);
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

// ---- bodies given by positions --------------------------------------------------------------------------------------

static RigidBody bodyOf(const Points& points, std::vector<double> inverseMass = {}) {
    inverseMass.resize(points.size(), 1);
    const RigidBody body = makeRigidBody(range(0, (int) points.size() - 1), points, inverseMass);
    for (std::size_t k = 0; k < body.others.size(); k++) {
        Real3 sum;
        for (std::size_t b = 0; b < body.base.size(); b++)
            sum += body.weights[k][b] * body.shape[b];
        EXPECT_LT(distance(sum, body.shape[body.base.size() + k]), 1e-14);
    }
    const std::vector<int> order = [&] {
        std::vector<int> particles = body.base;
        particles.insert(particles.end(), body.others.begin(), body.others.end());
        return particles;
    }();
    for (std::size_t i = 0; i < order.size(); i++)
        for (std::size_t j = 0; j < i; j++)
            EXPECT_NEAR(distance(body.shape[i], body.shape[j]), distance(points[order[i]], points[order[j]]), 1e-5);
    return body;
}

TEST(BodiesFromPositions, AreOfTheDimensionOfTheirShape) {
    const Points tetrahedron{{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}, {0, 0, 0.1}}, rod{{0, 0, 0}, {0.1, 0, 0}};
    const Points water{{0, 0, 0}, {0.09572, 0, 0}, {-0.024, 0.0927, 0}};
    for (unsigned seed = 0; seed < 20; seed++) {
        EXPECT_EQ(dimension(bodyOf(moved(rod, seed))), 1);
        EXPECT_EQ(dimension(bodyOf(moved(carbonDioxide, seed))), 1);
        EXPECT_EQ(dimension(bodyOf(moved(water, seed))), 2);
        EXPECT_EQ(dimension(bodyOf(moved(benzene(), seed))), 2);
        EXPECT_EQ(dimension(bodyOf(moved(tetrahedron, seed))), 3);
    }
    for (double bend : {3e-6, 3e-5}) { // beside 1e-4 of the size
        Points bent = carbonDioxide, buckled = benzene();
        bent[0].y += bend;
        buckled[7].z += 2 * bend;
        EXPECT_EQ(dimension(bodyOf(bent)), bend < 1e-5 ? 1 : 2);
        EXPECT_EQ(dimension(bodyOf(buckled)), bend < 1e-5 ? 2 : 3);
    }
}

TEST(BodiesFromPositions, KeepTheirHandedness) {
    const Points points{{0, 0, 0}, {0.1, 0, 0}, {0, 0.12, 0}, {0, 0, 0.14}, {0.03, 0.04, 0.05}};
    const RigidBody body = bodyOf(points);
    const Real3 *s = body.shape.data(), *p = points.data();
    const auto volume = [](const Real3& a, const Real3& b, const Real3& c, const Real3& d) {
        return dot(cross(b - a, c - a), d - a);
    };
    EXPECT_NEAR(volume(s[0], s[1], s[2], s[3]),
                volume(p[body.base[0]], p[body.base[1]], p[body.base[2]], p[body.base[3]]), 1e-15);
}

TEST(BodiesFromPositions, TakeImmovableParticlesIntoTheBase) {
    const auto baseWith = [](const Points& points, std::vector<int> immovable) {
        std::vector<double> inverseMass(points.size(), 1);
        for (int p : immovable)
            inverseMass[p] = 0;
        return bodyOf(points, inverseMass).base;
    };
    const auto includes = [](const std::vector<int>& base, std::vector<int> particles) {
        return std::all_of(particles.begin(), particles.end(),
                           [&](int p) { return std::count(base.begin(), base.end(), p) == 1; });
    };
    EXPECT_TRUE(includes(baseWith(carbonDioxide, {0}), {0}));
    EXPECT_FALSE(includes(baseWith(carbonDioxide, {}), {0}));
    EXPECT_TRUE(includes(baseWith(benzene(), {2}), {2}));
    EXPECT_TRUE(includes(baseWith(benzene(), {2, 3}), {2, 3}));
    EXPECT_TRUE(includes(baseWith(benzene(), {2, 3, 4}), {2, 3, 4}));
    // Three on one line cannot all be in the base of a flat body, but two can.
    const std::vector<int> base = baseWith(benzene(), {0, 3, 6});
    EXPECT_EQ(base.size(), 3u);
    EXPECT_EQ(includes(base, {0}) + includes(base, {3}) + includes(base, {6}), 2);
}

TEST(BodiesFromPositions, AreRefusedWithAReason) {
    const auto refusal = [](const std::vector<int>& particles, const Points& points) -> std::string {
        try {
            makeRigidBody(particles, points, std::vector<double>(10, 1.0));
        } catch (const std::invalid_argument& e) {
            return e.what();
        }
        return "accepted";
    };
    const Points three{{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}};
    EXPECT_EQ(refusal({1, 2, 3}, three), "accepted");
    EXPECT_EQ(refusal({1, 2}, three), "A rigid body of 2 particles has 3 positions.");
    EXPECT_EQ(refusal({1}, {three[0]}), "A rigid body needs at least 2 particles, not 1.");
    EXPECT_EQ(refusal({1, 2, 1}, three), "Particle 1 of a rigid body is listed twice.");
    EXPECT_EQ(refusal({1, 2, 10}, three), "Particle 10 of a rigid body is not in the System.");
    EXPECT_EQ(refusal({1, 2, -1}, three), "Particle -1 of a rigid body is not in the System.");
    EXPECT_EQ(refusal({4, 2, 3}, {three[0], three[1], three[0]}),
              "Particles 3 and 4 of a rigid body are at one place.");
    EXPECT_EQ(refusal({5, 4}, {three[0], three[0]}), "Particles 4 and 5 of a rigid body are at one place.");
    for (double bad : {std::nan(""), HUGE_VAL})
        EXPECT_EQ(refusal({1, 2, 3}, {three[0], three[1], {0, bad, 0}}),
                  "Particle 3 of a rigid body has a position that is not finite.");
}

// ---- which constraints count ----------------------------------------------------------------------------------------

TEST(SingularBodies, LeaveConstraintsThatMayNotBeReplaced) {
    const ConstraintSet set = distances(quadrangle, allPairs(0, 3) + Pairs{{1, 0}});
    std::vector<char> may(7, 1);
    EXPECT_EQ(findSingularBodies(set, 1e-8, may).size(), 1u);
    may[0] = 0; // its duplicate is still there
    const std::vector<RigidBody> bodies = findSingularBodies(set, 1e-8, may);
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].constraints, range(1, 6));
    may[6] = 0;
    EXPECT_TRUE(findSingularBodies(set, 1e-8, may).empty());
}

TEST(SingularBodies, PreferGivenDistancesInTheBase) {
    // Of the hydrogen atoms, which span most, no two have a given distance.
    const ConstraintSet set = distances(benzene(), upToOneThree(benzene(), 0.15));
    const std::vector<RigidBody> bodies = findChecked(set);
    ASSERT_EQ(bodies.size(), 1u);
    int given = 0;
    for (const Constraint& c : set.constraints)
        given += std::count(bodies[0].base.begin(), bodies[0].base.end(), c.particles[0]) &&
                 std::count(bodies[0].base.begin(), bodies[0].base.end(), c.particles[1]);
    EXPECT_EQ(given, 3);
}

TEST(SingularBodies, OfImmovableParticlesAreNone) {
    ConstraintSet set = distances(quadrangle, allPairs(0, 3));
    set.inverseMass.assign(4, 0);
    EXPECT_EQ(find(set), none);
    set.inverseMass[2] = 1;
    EXPECT_EQ(find(set), plate({{0, 1, 2, 3}}));
}
