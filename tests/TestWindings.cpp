// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Networks whose bonds wind around the periodic box: which may, from lengths alone, which do at positions, and how many
// of their constraints are independent, against singular values. Contexts: tests/python/test_periodic_networks.py.
#include "Contradictions.h"
#include "GenericRank.h"
#include "PossibleWindings.h"
#include "Windings.h"
#include "support/Dense.h"
#include "support/SystemTable.h"
#include <gtest/gtest.h>
#include <set>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

constexpr double pi = 3.14159265358979324;

/** Distances between nearest images. */
struct Network {
    ConstraintSet set;
    std::vector<Real3> x;
    Box box;

    Network(std::vector<Real3> positions, const Box& box) : x(std::move(positions)), box(box) {
        set.inverseMass.assign(x.size(), 1.0);
    }
    Real3 bond(int i, int j) const {
        return box.minimumImage(x[i] - x[j]);
    }
    void join(int i, int j) {
        Constraint c;
        c.particles = {i, j};
        c.target = norm(bond(i, j));
        c.periodic = true;
        set.constraints.push_back(c);
        set.numListed++;
    }
    void joinCloserThan(double distance) {
        for (int i = 0; i < (int) x.size(); i++)
            for (int j = i + 1; j < (int) x.size(); j++)
                if (norm(bond(i, j)) < distance)
                    join(i, j);
    }
    Windings found() const {
        return findWindings(bondsOf(set, allConstraints(set), x.data(), box), x.data(), box);
    }
    std::vector<int> windings() const {
        return findPossibleWindings(set, allConstraints(set), box);
    }
    /** Rank of the gradients by Eigen's singular values, after random displacements of particles. */
    int denseRank(double displacement) const {
        Random random(3);
        std::vector<Real3> u;
        for (std::size_t p = 0; p < x.size(); p++)
            u.push_back(random.inCube(displacement));
        Matrix J = Eigen::MatrixXd::Zero(set.constraints.size(), 3 * x.size());
        for (int row = 0; row < J.rows(); row++) {
            const int i = set.constraints[row].particles[0], j = set.constraints[row].particles[1];
            const Real3 b = bond(i, j) + (u[i] - u[j]);
            const Eigen::RowVector3d unit = Eigen::RowVector3d(b.x, b.y, b.z).normalized();
            J.block<1, 3>(row, 3 * i) = unit;
            J.block<1, 3>(row, 3 * j) = -unit;
        }
        const Vector values = singularValues(J);
        int rank = 0;
        for (double value : values)
            rank += value > 1e-9 * values[0];
        return rank;
    }
};

Box boxOf(double x, double y, double z, double shear) {
    return {{x, 0, 0}, {0, y, 0}, {shear * x, -0.5 * shear * y, z}};
}

/** Beads on a helix, each joined to the next three. */
Network helix(int beads, double shear) {
    const Box box = boxOf(2, 2, 0.15 * beads, shear);
    std::vector<Real3> x;
    for (int i = 0; i < beads; i++) {
        const double turn = 0.6 * pi * i;
        x.push_back(Real3{0.12 * std::cos(turn), 0.12 * std::sin(turn), 0} + (double(i) / beads) * box.c);
    }
    Network network(std::move(x), box);
    for (int i = 0; i < beads; i++)
        for (int next : {1, 2, 3})
            network.join(i, (i + next) % beads);
    return network;
}

TEST(PossibleWindings, AreThoseOfRingsAsLongAsTheBoxIsWide) {
    const Box box = boxOf(1, 1, 1, 0);
    const auto ring = [&](double length) { // of a square
        const double a = length / 4;
        Network square({{0, 0, 0}, {a, 0, 0}, {a, a, 0}, {0, a, 0}}, box);
        for (int i = 0; i < 4; i++)
            square.join(i, (i + 1) % 4);
        return square;
    };
    EXPECT_TRUE(ring(0.99).windings().empty());
    EXPECT_EQ(ring(1.01).windings().size(), 1u);
    Network open = ring(1.01);
    for (Constraint& c : open.set.constraints)
        c.periodic = false;
    EXPECT_TRUE(open.windings().empty());
    Network braced = ring(1.01);
    braced.join(0, 2);
    EXPECT_TRUE(braced.windings().empty()) << "of two short rings";
    Network unbounded = ring(0.99);
    Constraint angle;
    angle.kind = CoordinateKind::Angle;
    angle.particles = {0, 2, 1}; // 0-2 has no length
    angle.target = 0.25 * pi;
    angle.periodic = true;
    unbounded.set.constraints.push_back(angle);
    EXPECT_FALSE(unbounded.windings().empty());
    Network moving = ring(0.99);
    moving.set.constraints[0].rate = 0.1;
    EXPECT_FALSE(moving.windings().empty());
}

TEST(PossibleWindings, AreNoneInALargeNetworkOfShortRings) {
    // A ball, whose great circles are longer than the box.
    Random random(1);
    std::vector<Real3> x;
    while (x.size() < 400)
        if (const Real3 r = random.inCube(0.75); norm(r) < 0.75)
            x.push_back(r);
    Network ball(std::move(x), boxOf(2, 2, 2, 0.2));
    ball.joinCloserThan(0.4);
    EXPECT_TRUE(ball.windings().empty());
    EXPECT_FALSE(ball.found().areAny());
}

TEST(Windings, AreThoseOfTheBondsWhereverImagesAre) {
    for (double shear : {0.0, 0.2}) {
        Network network = helix(10, shear);
        EXPECT_FALSE(network.windings().empty());
        const auto numbers = [&] { return network.found().numbers; };
        const auto before = numbers();
        EXPECT_GT(std::count(before.begin(), before.end(), (std::array<int, 3>{0, 0, 1})) +
                      std::count(before.begin(), before.end(), (std::array<int, 3>{0, 0, -1})),
                  0);
        for (std::size_t p = 0; p < network.x.size(); p += 3)
            network.x[p] += 2.0 * network.box.a - network.box.b + network.box.c;
        EXPECT_EQ(numbers(), before);
        for (std::size_t p = 0; p < network.x.size(); p++) // pulled out of the box
            network.x[p] = {0.05 * p, 0.03 * (p % 3), 0};
        for (Constraint& c : network.set.constraints)
            c.target = 0.1;
        EXPECT_FALSE(network.found().areAny());
    }
}

TEST(GenericRank, OfWoundNetworksIsThatAtDisplacementsOfTheLattice) {
    Random random(7);
    std::vector<Network> networks;
    for (double shear : {0.0, 0.2})
        for (int beads : {8, 10, 40})
            networks.push_back(helix(beads, shear));
    for (int sample = 0; sample < 40; sample++) {
        const Box box = boxOf(1, random.uniform(1, 1.3), random.uniform(1, 1.3), sample % 2 ? 0.15 : 0);
        std::vector<Real3> x;
        for (int p = 0; p < 10 + sample / 2; p++)
            x.push_back(random.inCube(1));
        networks.emplace_back(std::move(x), box);
        networks.back().joinCloserThan(0.48);
    }
    int wound = 0;
    for (const Network& network : networks) {
        const std::vector<int> all = allConstraints(network.set);
        const Windings windings = network.found();
        if (!windings.areAny())
            continue;
        wound++;
        EXPECT_FALSE(network.windings().empty());
        const auto chosen = chooseGenerically(network.set, all, network.x.data(), network.box, windings);
        ASSERT_TRUE(chosen.has_value());
        EXPECT_EQ((int) chosen->size(), network.denseRank(0.01));
        EXPECT_GE(chosen->size(), analyzeGenericRank(network.set, all).independent.size());
    }
    EXPECT_GT(wound, 30);
}

TEST(ImpossibleRings, AreNotThoseThatMayWindAroundTheBox) {
    Network triangle({{0, 0, 0}, {0.3, 0, 0}, {0.5, 0, 0}}, boxOf(1, 1, 1, 0));
    for (int i = 0; i < 3; i++)
        triangle.join(i, (i + 1) % 3);
    triangle.set.constraints[2].target = 0.7; // of a rigid body, longer than half the box
    EXPECT_EQ(findImpossibleRings(triangle.set).size(), 1u);
    EXPECT_TRUE(findImpossibleRings(triangle.set, triangle.box).empty());
    triangle.set.constraints[0].target = 0.15;
    triangle.set.constraints[1].target = 0.1;
    EXPECT_EQ(findImpossibleRings(triangle.set, triangle.box).size(), 1u) << "0.95 nm do not reach around the box";
}

} // namespace

/** A lattice of 4 x 4 x 4 particles in a triclinic box, with all bonds along some of its edges. */
static Network latticeWithBondsAlong(const std::vector<int>& edges) {
    constexpr int n = 4;
    const Box box{{3, 0, 0}, {0.5, 3, 0}, {-0.4, 0.6, 3}};
    std::vector<Real3> positions;
    for (int i = 0; i < n * n * n; i++)
        positions.push_back((i / (n * n) / (double) n) * box.a + (i / n % n / (double) n) * box.b +
                            (i % n / (double) n) * box.c);
    Network lattice(positions, box);
    for (int i = 0; i < n * n * n; i++)
        for (int edge : edges) {
            const int step = edge == 0 ? n * n : edge == 1 ? n : 1, at = i / step % n;
            lattice.join(i, at + 1 < n ? i + step : i - (n - 1) * step);
        }
    return lattice;
}

TEST(Windings, CloseEachChainOnce) {
    const Windings windings = latticeWithBondsAlong({1}).found();
    ASSERT_EQ(windings.numbers.size(), 16u);
    std::set<int> networks(windings.network.begin(), windings.network.end());
    EXPECT_EQ(networks.size(), 16u);
    for (std::size_t k = 0; k < windings.numbers.size(); k++) {
        const auto& [a, b, c] = windings.numbers[k];
        EXPECT_EQ(std::abs(b), 1);
        EXPECT_EQ(std::abs(a) + std::abs(c), 0);
        EXPECT_GE(windings.closing[k].constraint, 0);
    }
}

TEST(Windings, DoNotDependOnTheImagesOfParticles) {
    Network lattice = latticeWithBondsAlong({0, 1, 2});
    for (std::size_t i = 0; i < lattice.x.size(); i++)
        lattice.x[i] +=
            (double) (i % 3) * lattice.box.a + (double) (i % 5) * lattice.box.b + (double) (i % 7) * lattice.box.c;
    const Windings windings = lattice.found();
    Matrix numbers = Matrix::Zero((int) windings.numbers.size(), 3);
    for (int k = 0; k < numbers.rows(); k++)
        for (int axis = 0; axis < 3; axis++)
            numbers(k, axis) = windings.numbers[k][axis];
    const Vector sizes = singularValues(numbers);
    EXPECT_GT(sizes[2], 0.5) << "the lattice is joined along each edge of the box";
    const std::set<int> networks(windings.network.begin(), windings.network.end());
    EXPECT_EQ(networks.size(), 1u);
}

TEST(Windings, AreThoseOfRigidBodiesToo) {
    // Three rods on a line along x, and three bonds from each to the next: around the box, if the rods count.
    Network rods({{0, 0, 0}, {0.6, 0, 0}, {1, 0, 0}, {1.6, 0, 0}, {2, 0, 0}, {2.6, 0, 0}},
                 {{3, 0, 0}, {0, 3, 0}, {0, 0, 3}});
    for (int rod = 0; rod < 3; rod++) {
        rods.join(2 * rod + 1, (2 * rod + 2) % 6);
        RigidBody body;
        body.particles = {2 * rod, 2 * rod + 1};
        body.periodic = true;
        rods.set.bodies.push_back(body);
    }
    EXPECT_FALSE(rods.found().areAny());
    std::vector<Bond> bonds = bondsOf(rods.set, allConstraints(rods.set), rods.x.data(), rods.box);
    const std::vector<Bond> ofBodies = bondsOfBodies(rods.set, rods.x.data(), rods.box);
    bonds.insert(bonds.end(), ofBodies.begin(), ofBodies.end());
    const Windings windings = findWindings(bonds, rods.x.data(), rods.box);
    ASSERT_EQ(windings.numbers.size(), 1u);
    EXPECT_EQ(std::abs(windings.numbers[0][0]), 1);
}
