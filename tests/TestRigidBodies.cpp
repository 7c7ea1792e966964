// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidBodies.h"
#include "support/SystemTable.h"
#include <Eigen/Dense>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using Points = std::vector<Real3>;
using Pairs = std::vector<std::pair<int, int>>;

static const double pi = std::acos(-1.0);

static double distance(const Real3& a, const Real3& b) {
    return std::sqrt(dot(a - b, a - b));
}

/** Distances that the points have, rounded to a unit (nm) if there is one. */
static ConstraintSet distances(const Points& points, const Pairs& pairs, double unit = 0) {
    ConstraintSet set = pattern((int) points.size(), pairs);
    for (Constraint& c : set.constraints) {
        c.target = distance(points[c.particles[0]], points[c.particles[1]]);
        if (unit > 0)
            c.target = unit * std::round(c.target / unit);
    }
    return set;
}

static Pairs allPairs(int first, int last) {
    Pairs pairs;
    for (int i = first; i <= last; i++)
        for (int j = i + 1; j <= last; j++)
            pairs.push_back({i, j});
    return pairs;
}

static Pairs operator+(Pairs a, const Pairs& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/** Pairs at most some distance apart. */
static Pairs within(const Points& points, double cutoff) {
    Pairs pairs;
    for (auto [i, j] : allPairs(0, (int) points.size() - 1))
        if (distance(points[i], points[j]) < cutoff)
            pairs.push_back({i, j});
    return pairs;
}

/** Pairs that bonds join directly, or over one particle. */
static Pairs upToOneThree(const Points& points, double longestBond) {
    const Pairs bonds = within(points, longestBond);
    std::set<std::pair<int, int>> pairs(bonds.begin(), bonds.end());
    for (auto [i, j] : bonds)
        for (auto [k, l] : bonds) {
            const std::set<int> four{i, j, k, l};
            if (four.size() == 3)
                for (int a : four)
                    for (int b : four)
                        if (a < b)
                            pairs.insert({a, b});
        }
    return Pairs(pairs.begin(), pairs.end());
}

static void addAngle(ConstraintSet& set, int i, int vertex, int j, double angle) {
    Constraint c;
    c.kind = CoordinateKind::Angle;
    c.particles = {i, vertex, j};
    c.target = angle;
    set.constraints.push_back(c);
}

static Points ring(int n, std::initializer_list<double> radii) {
    Points points;
    for (double radius : radii)
        for (int i = 0; i < n; i++)
            points.push_back({radius * std::cos(2 * pi * i / n), radius * std::sin(2 * pi * i / n), 0});
    return points;
}

static Points benzene() {
    return ring(6, {0.139, 0.247});
}

/** Two hexagons with one edge in common: 0 and 1 are the shared atoms. */
static Points naphthalene() {
    const double a = 0.14, h = a * std::sqrt(3) / 2;
    return {{0, a / 2, 0}, {0, -a / 2, 0}, {h, a, 0},          {2 * h, a / 2, 0},   {2 * h, -a / 2, 0},
            {h, -a, 0},    {-h, a, 0},     {-2 * h, a / 2, 0}, {-2 * h, -a / 2, 0}, {-h, -a, 0}};
}

static std::vector<int> particlesOf(const RigidBody& body) {
    std::vector<int> particles = body.base;
    particles.insert(particles.end(), body.others.begin(), body.others.end());
    std::sort(particles.begin(), particles.end());
    return particles;
}

static std::vector<int> range(int first, int last) {
    std::vector<int> numbers(last - first + 1);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

static int dimension(const RigidBody& body) {
    return (int) body.base.size() - 1;
}

/** The bodies of a set, each checked: the weights give its shape, and the shape every length. */
static std::vector<RigidBody> findChecked(const ConstraintSet& set, double tolerance = 1e-8) {
    const std::vector<RigidBody> bodies = findSingularBodies(set, tolerance);
    for (const RigidBody& body : bodies) {
        EXPECT_EQ(body.shape.size(), particlesOf(body).size());
        EXPECT_EQ(body.weights.size(), body.others.size());
        std::vector<Real3> at(set.numParticles());
        for (std::size_t k = 0; k < body.shape.size(); k++)
            at[k < body.base.size() ? body.base[k] : body.others[k - body.base.size()]] = body.shape[k];
        for (std::size_t k = 0; k < body.others.size(); k++) {
            Real3 sum;
            double one = 0;
            for (std::size_t b = 0; b < body.base.size(); b++) {
                sum += body.weights[k][b] * body.shape[b];
                one += body.weights[k][b];
                EXPECT_LE(std::abs(body.weights[k][b]), 4);
            }
            EXPECT_NEAR(one, 1, 1e-14);
            EXPECT_LT(distance(sum, at[body.others[k]]), 1e-14);
        }
        const std::vector<int> particles = particlesOf(body);
        std::vector<int> inside;
        for (int k = 0; k < (int) set.constraints.size(); k++) {
            const Constraint& c = set.constraints[k];
            if (!std::all_of(c.particles.begin(), c.particles.begin() + c.size(),
                             [&](int p) { return std::binary_search(particles.begin(), particles.end(), p); }))
                continue;
            inside.push_back(k);
            if (c.kind == CoordinateKind::Distance) {
                const double length = distance(at[c.particles[0]], at[c.particles[1]]);
                EXPECT_NEAR(length / c.target, 1, std::max(tolerance, 1e-4));
            }
        }
        EXPECT_EQ(body.constraints, inside);
    }
    return bodies;
}

/** What is found: the particles of straight bodies and of flat ones. */
struct Found {
    std::set<std::vector<int>> straight, flat;
    bool operator==(const Found& other) const {
        return straight == other.straight && flat == other.flat;
    }
};

static std::ostream& operator<<(std::ostream& out, const Found& found) {
    for (bool straight : {true, false})
        for (const auto& particles : straight ? found.straight : found.flat) {
            out << (straight ? " line" : " plate");
            for (int p : particles)
                out << ' ' << p;
        }
    return out;
}

static Found find(const ConstraintSet& set) {
    Found found;
    for (const RigidBody& body : findChecked(set))
        (dimension(body) == 1 ? found.straight : found.flat).insert(particlesOf(body));
    return found;
}

static Found line(std::initializer_list<std::vector<int>> bodies) {
    return {bodies, {}};
}
static Found plate(std::initializer_list<std::vector<int>> bodies) {
    return {{}, bodies};
}
static const Found none;

// ---- straight ----------------------------------------------------------------------------------------------------

static const Points carbonDioxide{{0, 0, 0}, {0.1163, 0, 0}, {-0.1163, 0, 0}};

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

// ---- flat ----------------------------------------------------------------------------------------------------------

static const Points quadrangle{{0, 0, 0}, {0.1, 0, 0}, {0.12, 0.1, 0}, {0, 0.09, 0}};

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
        const std::vector<RigidBody> bodies = findChecked(distances(benzene(), allPairs(0, 11), unit));
        ASSERT_EQ(bodies.size(), 1u);
        EXPECT_EQ(particlesOf(bodies[0]), range(0, 11));
        EXPECT_EQ(dimension(bodies[0]), 2);
        EXPECT_EQ(bodies[0].constraints.size(), 66u);
    }
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
    const std::vector<RigidBody> bodies = findChecked(distances(points, hinged));
    ASSERT_EQ(bodies.size(), 2u);
    EXPECT_EQ(particlesOf(bodies[0]), right);
    EXPECT_EQ(particlesOf(bodies[1]), left);
    for (const RigidBody& body : bodies) // the hinge is in both bases
        for (int shared : {0, 1})
            EXPECT_EQ(std::count(body.base.begin(), body.base.end(), shared), 1);
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

TEST(FlatBodies, LeaveOutWhatDoesNotFit) {
    const Points points = ring(6, {0.14});
    ConstraintSet set = distances(points, allPairs(0, 5));
    set.constraints[1].target *= 1 + 6e-4; // 0 - 2
    const std::vector<RigidBody> bodies = findChecked(set);
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].size(), 5);
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
    EXPECT_EQ(find(distances(points, upToOneThree(points, 0.155))), plate({range(0, 11)}));
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
        EXPECT_EQ(find(distances(moved, renamed, round % 2 ? 1e-5 : 0)), (Found{{rod}, {plateParticles}}));
    }
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

/** Largest change of any distance, beside the size, in shapes that points find in space from random places under the
 *  same lengths (Levenberg-Marquardt). Negative if none fits. */
static double otherShape(const Points& points, const Pairs& pairs, unsigned seed) {
    const int n = (int) points.size(), E = (int) pairs.size();
    Random random(seed);
    Eigen::VectorXd x(3 * n), r(E);
    Eigen::MatrixXd J(E, 3 * n);
    double size = 0;
    for (const Real3& p : points)
        size = std::max(size, distance(p, points[0]));
    for (int i = 0; i < n; i++) {
        const Real3 d = random.inCube(0.4 * size);
        x.segment<3>(3 * i) << points[i].x + d.x, points[i].y + d.y, d.z;
    }
    const auto residual = [&](const Eigen::VectorXd& at, Eigen::VectorXd& result) {
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
        Eigen::MatrixXd A = J.transpose() * J;
        A.diagonal().array() += damping;
        Eigen::VectorXd trialResidual(E);
        const Eigen::VectorXd trial = x - A.ldlt().solve(J.transpose() * r);
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

/** Points turned and moved away. */
static Points moved(Points points, unsigned seed) {
    Random random(seed);
    const Real3 u = random.direction();
    Real3 v = cross(u, random.direction());
    v = (1 / std::sqrt(dot(v, v))) * v;
    const Real3 w = cross(u, v), shift = random.inCube(3);
    for (Real3& r : points)
        r = shift + r.x * u + r.y * v + r.z * w;
    return points;
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
    EXPECT_EQ(refusal({1, 2, 1}, three), "Particle 1 is twice in a rigid body.");
    EXPECT_EQ(refusal({1, 2, 10}, three), "A rigid body has particle 10, which is not in the System.");
    EXPECT_EQ(refusal({1, 2, -1}, three), "A rigid body has particle -1, which is not in the System.");
    EXPECT_EQ(refusal({4, 2, 3}, {three[0], three[1], three[0]}),
              "Particles 3 and 4 of a rigid body are at one place.");
    EXPECT_EQ(refusal({5, 4}, {three[0], three[0]}), "Particles 4 and 5 of a rigid body are at one place.");
    for (double bad : {std::nan(""), HUGE_VAL})
        EXPECT_EQ(refusal({1, 2, 3}, {three[0], three[1], {0, bad, 0}}),
                  "The position of particle 3 in a rigid body is not finite.");
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
