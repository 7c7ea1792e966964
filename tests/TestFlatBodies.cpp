// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CentroidDistance.h"
#include "support/Bodies.h"
#include "support/Dense.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

TEST(FlatBodies, FourParticlesWithSixDistances) {
    EXPECT_EQ(find(distances(quadrangle, allPairs(0, 3))), plate({{0, 1, 2, 3}}));
    EXPECT_EQ(find(distances(quadrangle, allPairs(0, 3), 1e-5)), plate({{0, 1, 2, 3}}));
    for (int k = 0; k < 6; k++)
        for (double error : {-1e-3, 1e-3}) {
            ConstraintSet set = distances(quadrangle, allPairs(0, 3));
            set.constraints[k].target *= 1 + error;
            EXPECT_EQ(find(set), none) << k << ' ' << error;
        }
    for (double error = 1e-4; error < 1e-3; error += 5e-5) {
        ConstraintSet set = distances(quadrangle, allPairs(0, 3));
        set.constraints[0].target *= 1 + error;
        EXPECT_EQ(find(set), error < 3e-4 ? plate({{0, 1, 2, 3}}) : find(set)) << error; // checks each length
    }
    Pairs five = allPairs(0, 3);
    five.pop_back();
    EXPECT_EQ(find(distances(quadrangle, five)), none);
}

TEST(FlatBodies, BenzeneByAllDistances) {
    for (double unit : {0.0, 1e-5}) {
        const std::vector<RigidSet> bodies = findChecked(distances(benzene(), allPairs(0, 11), unit));
        ASSERT_EQ(bodies.size(), 1u);
        EXPECT_EQ(bodies[0].particles, range(0, 11));
        EXPECT_EQ(bodies[0].dimension, 2);
        EXPECT_EQ(bodies[0].constraints.size(), 66u);
    }
}

TEST(FlatBodies, LeaveConstraintsOfOtherKinds) {
    ConstraintSet set = distances(benzene(), allPairs(0, 11));
    for (int n = 1; n <= 12; n++) { // expressions and distances of centroids may have any number of particles
        Constraint c;
        c.kind = CoordinateKind::Custom;
        c.form = (int) set.custom.size();
        c.particles = range(0, n - 1);
        set.constraints.insert(set.constraints.begin() + 5 * n, c);
        set.custom.push_back(std::make_shared<ConstraintPlugin::CentroidDistance>(std::vector<double>(n, 1), false));
    }
    Constraint dihedral;
    dihedral.kind = CoordinateKind::Dihedral;
    dihedral.particles = range(0, 3);
    set.constraints.push_back(dihedral);
    const std::vector<RigidSet> bodies = findChecked(set);
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].constraints.size(), 66u);
}

TEST(FlatBodies, BenzeneByBondsAndDistancesOverOneAtom) {
    for (double unit : {0.0, 1e-5}) {
        const ConstraintSet set = distances(benzene(), upToOneThree(benzene(), 0.15), unit);
        EXPECT_EQ(set.constraints.size(), 12u + 6 + 12);
        EXPECT_EQ(find(set), plate({range(0, 11)}));
    }
}

TEST(FlatBodies, BenzeneByBondsAndAngles) {
    ConstraintSet set = distances(benzene(), within(benzene(), 0.15));
    for (int i = 0; i < 6; i++) {
        const int next = (i + 1) % 6, last = (i + 5) % 6;
        addAngle(set, last, i, next, 2 * pi / 3);
        addAngle(set, last, i, i + 6, 2 * pi / 3);
    }
    EXPECT_EQ(find(set), plate({range(0, 5)})) << "hydrogen atoms with one angle may leave the plane";
    for (int i = 0; i < 6; i++)
        addAngle(set, (i + 1) % 6, i, i + 6, 2 * pi / 3);
    EXPECT_EQ(find(set), plate({range(0, 11)}));
}

TEST(FlatBodies, RingsByTwelveDistancesAndTheLike) {
    for (int n : {5, 6, 7, 8, 10}) {
        const double radius = 0.07 / std::sin(pi / n);
        const Points points = ring(n, {radius});
        const ConstraintSet set = distances(points, upToOneThree(points, 0.141));
        EXPECT_EQ((int) set.constraints.size(), 2 * n);
        EXPECT_EQ(find(set), plate({range(0, n - 1)})) << n;
    }
    // An edge of a regular octahedron joins each corner to all but one: the same pairs, and not flat.
    const Points octahedron{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    EXPECT_EQ(find(distances(octahedron, within(octahedron, 1.5))), none);
    // The chair of cyclohexane has the same pairs too.
    Points chair = ring(6, {0.144});
    for (int i = 0; i < 6; i++)
        chair[i].z = i % 2 ? 0.025 : -0.025;
    EXPECT_EQ(find(distances(chair, upToOneThree(chair, 0.16))), none);
}

TEST(FlatBodies, Naphthalene) {
    const Points points = naphthalene();
    EXPECT_EQ(find(distances(points, allPairs(0, 9))), plate({range(0, 9)}));
    EXPECT_EQ(find(distances(points, upToOneThree(points, 0.15))), plate({range(0, 9)}));
    const std::vector<int> right{0, 1, 2, 3, 4, 5}, left{0, 1, 6, 7, 8, 9};
    Pairs hinged;
    for (const auto& half : {right, left})
        for (auto [i, j] : allPairs(0, 5))
            hinged.push_back({half[i], half[j]});
    const std::vector<RigidSet> bodies = findChecked(distances(points, hinged));
    ASSERT_EQ(bodies.size(), 2u);
    EXPECT_EQ(bodies[0].particles, right);
    EXPECT_EQ(bodies[1].particles, left);
    EXPECT_EQ(find(distances(points, hinged + Pairs{{3, 7}})), plate({range(0, 9)})) << "locked";
}

TEST(FlatBodies, TakeInLines) {
    // Phenylacetylene's carbon atoms: the rod hangs on the ring by its first bond and the two beside it.
    Points points = ring(6, {0.139});
    for (double x : {0.283, 0.403, 0.51})
        points.push_back({x, 0, 0});
    const Pairs rod = Pairs{{0, 6}, {0, 7}, {6, 7}, {6, 8}, {7, 8}}, beside{{1, 6}, {5, 6}};
    EXPECT_EQ(find(distances(points, allPairs(0, 5) + rod + beside)), plate({range(0, 8)}));
    const Found loose = find(distances(points, allPairs(0, 5) + rod));
    EXPECT_EQ(loose.flat, (std::set<std::vector<int>>{range(0, 5)}));
    EXPECT_EQ(loose.straight, (std::set<std::vector<int>>{{0, 6, 7, 8}}));
    points.pop_back(); // the last particle now hangs on the rod alone
    EXPECT_EQ(find(distances(points, allPairs(0, 5) + Pairs{{0, 6}, {0, 7}, {6, 7}} + beside)), plate({range(0, 7)}));
}

TEST(FlatBodies, LeaveOutALengthThatContradictsTheOthers) {
    const Points points = ring(6, {0.14});
    ConstraintSet set = distances(points, allPairs(0, 5));
    for (double error : {3e-4, 6e-4, 1e-2}) {
        set.constraints[1].target = distance(points[0], points[2]) * (1 + error);
        const std::vector<RigidSet> bodies = ConstraintPlugin::findRigidSets(set, 1e-8);
        ASSERT_EQ(bodies.size(), 1u) << error;
        EXPECT_EQ(bodies[0].particles, range(0, 5)) << error;
        std::vector<int> others = range(0, 14);
        others.erase(others.begin() + 1);
        EXPECT_EQ(bodies[0].constraints, others) << error;
    }
}

TEST(FlatBodies, OnHingesStayApart) {
    // Two rings of six, each by its twelve distances, with one edge in common.
    const Points points = naphthalene();
    Pairs pairs;
    for (auto [i, j] : upToOneThree(points, 0.15))
        if (points[i].x * points[j].x > -1e-6)
            pairs.push_back({i, j});
    EXPECT_EQ(find(distances(points, pairs)), plate({{0, 1, 2, 3, 4, 5}, {0, 1, 6, 7, 8, 9}}));
}

TEST(FlatBodies, DropWhatTheyDoNotBrace) {
    // A ring of six by its twelve distances, and a sheet of triangles, which may buckle, on one of its edges.
    Points points = ring(6, {0.14});
    Pairs pairs = upToOneThree(points, 0.145);
    const Real3 out = points[0] + points[1], along = points[1] - points[0];
    for (int row = 1; row <= 3; row++)
        for (int k = 0; k < 4; k++)
            points.push_back(points[0] + (k - 0.5 * row) * along + (0.5 * row) * out);
    for (auto [i, j] : within(points, 0.145))
        if (j >= 6 && (i >= 6 || i < 2))
            pairs.push_back({i, j});
    EXPECT_EQ(find(distances(points, pairs)), plate({range(0, 5)}));
}

TEST(FlatBodies, WithAMethylGroupAttached) {
    Points points = benzene();
    points.erase(points.begin() + 6); // in place of a hydrogen atom
    points.push_back({0.29, 0, 0});
    for (int i = 0; i < 3; i++)
        points.push_back({0.327, 0.103 * std::cos(2.1 * i + 0.3), 0.103 * std::sin(2.1 * i + 0.3)});
    EXPECT_EQ(find(distances(points, upToOneThree(points, 0.155))), (Found{{}, {range(0, 11)}, {{0, 11, 12, 13, 14}}}));
}

TEST(FlatBodies, WithAChainAttached) {
    Points points = benzene();
    points.push_back({0.3, 0.1, 0.12});
    points.push_back({0.4, 0.1, 0.19});
    points.push_back({0.4, 0.2, 0.25});
    const Pairs chain{{0, 12}, {1, 12}, {12, 13}, {0, 13}, {13, 14}, {12, 14}};
    EXPECT_EQ(find(distances(points, upToOneThree(benzene(), 0.15) + chain)), plate({range(0, 11)}));
}

TEST(FlatBodies, TwoInOneCluster) {
    Points points = benzene();
    for (const Real3& r : benzene()) // turned and moved, joined by one bond
        points.push_back({0.6 + r.x, 0.8 * r.y, 0.6 * r.y});
    for (bool all : {true, false}) {
        Pairs pairs = all ? allPairs(0, 11) : upToOneThree(benzene(), 0.15);
        for (auto [i, j] : Pairs(pairs))
            pairs.push_back({i + 12, j + 12});
        pairs.push_back({0, 15});
        EXPECT_EQ(find(distances(points, pairs)), plate({range(0, 11), range(12, 23)}));
    }
}

TEST(FlatBodies, StayTheSameUnderNewNumbers) {
    Points points = benzene();
    for (const Real3& r : carbonDioxide)
        points.push_back(r + Real3{0.3, 0.3, 0.3});
    const Pairs pairs = upToOneThree(benzene(), 0.15) + allPairs(12, 14) + Pairs{{0, 12}, {1, 13}};
    Random random(3);
    for (int round = 0; round < 50; round++) {
        std::vector<int> number = range(0, 14);
        for (int i = 14; i > 0; i--)
            std::swap(number[i], number[random.below(i + 1)]);
        Points moved(15);
        Pairs renamed;
        for (int i = 0; i < 15; i++)
            moved[number[i]] = points[i];
        for (auto [i, j] : pairs)
            renamed.insert(renamed.begin() + random.below((int) renamed.size() + 1), {number[i], number[j]});
        std::vector<int> plateParticles(number.begin(), number.begin() + 12), rod(number.begin() + 12, number.end());
        std::sort(plateParticles.begin(), plateParticles.end());
        std::sort(rod.begin(), rod.end());
        EXPECT_EQ(find(distances(moved, renamed, round % 2 ? 1e-5 : 0)), (Found{{rod}, {plateParticles}, {}}));
    }
}

/** Largest change of any distance, beside the size, in shapes that points find in space from random places under the
 *  same lengths (Levenberg-Marquardt). Negative if none fits. */
static double otherShape(const Points& points, const Pairs& pairs, unsigned seed) {
    const int n = (int) points.size(), E = (int) pairs.size();
    Random random(seed);
    Vector x(3 * n), r(E);
    Matrix J(E, 3 * n);
    double size = 0;
    for (const Real3& p : points)
        size = std::max(size, distance(p, points[0]));
    for (int i = 0; i < n; i++) {
        const Real3 d = random.inCube(0.4 * size);
        x.segment<3>(3 * i) << points[i].x + d.x, points[i].y + d.y, d.z;
    }
    const auto residual = [&](const Vector& at, Vector& result) {
        for (int e = 0; e < E; e++) {
            const auto [i, j] = pairs[e];
            result[e] = (at.segment<3>(3 * i) - at.segment<3>(3 * j)).norm() - distance(points[i], points[j]);
        }
        return result.squaredNorm();
    };
    double damping = 1e-2, value = residual(x, r);
    for (int iteration = 0; iteration < 2000 && value > 1e-20 * size * size; iteration++) {
        J.setZero();
        for (int e = 0; e < E; e++) {
            const auto [i, j] = pairs[e];
            const Eigen::RowVector3d u = (x.segment<3>(3 * i) - x.segment<3>(3 * j)).normalized();
            J.block<1, 3>(e, 3 * i) = u;
            J.block<1, 3>(e, 3 * j) = -u;
        }
        Matrix A = product(J.transpose(), J);
        A.diagonal().array() += damping;
        Vector trialResidual(E);
        const Vector trial = x - solveSymmetric(A, apply(J.transpose(), r));
        const double trialValue = residual(trial, trialResidual);
        damping = std::min(1e6, damping * (trialValue < value ? 0.3 : 4));
        if (trialValue < value) {
            x = trial;
            r = trialResidual;
            value = trialValue;
        }
    }
    if (value > 1e-14 * size * size)
        return -1;
    double largest = 0;
    for (auto [i, j] : allPairs(0, n - 1)) {
        const double now = (x.segment<3>(3 * i) - x.segment<3>(3 * j)).norm();
        largest = std::max(largest, std::abs(now - distance(points[i], points[j])));
    }
    return largest / size;
}

TEST(FlatBodies, HaveNoOtherShapeInSpace) {
    struct Case {
        Points points;
        Pairs pairs;
    };
    std::vector<Case> cases{{quadrangle, allPairs(0, 3)}};
    for (int n : {5, 6, 7, 8}) {
        const Points points = ring(n, {0.07 / std::sin(pi / n)});
        cases.push_back({points, upToOneThree(points, 0.141)});
    }
    for (const Points& points : {benzene(), naphthalene()})
        cases.push_back({points, upToOneThree(points, 0.15)});
    // Rings of triangles at random: what is found to be a body is one.
    Random random(17);
    int numRings = 0;
    for (int round = 0; round < 200; round++) {
        const int n = 5 + random.below(4);
        Points points;
        for (int i = 0; i < n; i++) {
            const double angle = 2 * pi * (i + random.uniform(-0.3, 0.3)) / n, radius = random.uniform(0.08, 0.15);
            points.push_back({radius * std::cos(angle), radius * std::sin(angle), 0});
        }
        Pairs pairs;
        for (int i = 0; i < n; i++)
            for (int step : {1, 2})
                pairs.push_back({i, (i + step) % n});
        const Found found = find(distances(points, pairs));
        if (found == plate({range(0, n - 1)})) {
            cases.push_back({points, pairs});
            numRings++;
        }
    }
    EXPECT_GT(numRings, 20);
    EXPECT_LT(numRings, 200);
    for (const Case& c : cases) {
        int numFits = 0;
        for (unsigned seed = 0; seed < 10; seed++) {
            const double change = otherShape(c.points, c.pairs, seed);
            EXPECT_LT(change, 0.02) << c.points.size() << " particles, start " << seed;
            numFits += change >= 0;
        }
        EXPECT_GT(numFits, 0);
    }
    Points wheel = ring(6, {0.14}); // this one buckles
    wheel.push_back({0, 0, 0});
    double largest = 0;
    for (unsigned seed = 0; seed < 10; seed++)
        largest = std::max(largest, otherShape(wheel, within(wheel, 0.15), seed));
    EXPECT_GT(largest, 0.05);
}
