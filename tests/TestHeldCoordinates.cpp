// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Constraints of a coordinate that others hold already, found before there are positions.
#include "CentroidDistance.h"
#include "Contradictions.h"
#include "HeldCoordinates.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;

namespace {

using Groups = std::vector<std::vector<int>>;

ConstraintSet particles(int n) {
    ConstraintSet set;
    set.inverseMass.assign(n, 1.0);
    return set;
}

Constraint& add(ConstraintSet& set, CoordinateKind kind, std::vector<int> of, double target) {
    Constraint c;
    c.kind = kind;
    c.particles = std::move(of);
    c.target = target;
    c.force = 0;
    set.constraints.push_back(c);
    set.numListed++;
    return set.constraints.back();
}

void addCentroids(ConstraintSet& set, std::vector<int> of, std::vector<double> weights, double target) {
    set.custom.push_back(std::make_shared<CentroidDistance>(std::move(weights), false));
    add(set, CoordinateKind::Custom, std::move(of), target).form = (int) set.custom.size() - 1;
}

constexpr CoordinateKind distance = CoordinateKind::Distance, angle = CoordinateKind::Angle,
                         dihedral = CoordinateKind::Dihedral;

} // namespace

TEST(HeldCoordinates, OrderOfParticlesMakesNoDifferenceWhereTheCoordinateIsTheSame) {
    ConstraintSet set = particles(4);
    for (auto of : {std::vector{0, 1}, {1, 0}, {0, 2}})
        add(set, distance, of, 0.1);
    for (auto of : {std::vector{0, 1, 2}, {2, 1, 0}, {1, 0, 2}})
        add(set, angle, of, 1);
    for (auto of : {std::vector{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}, {3, 1, 2, 0}})
        add(set, dihedral, of, 1);
    EXPECT_EQ(findSameCoordinates(set), (Groups{{0, 1}, {3, 4}, {6, 7}, {8, 9}}));
}

TEST(HeldCoordinates, GroupsOfCentroidsAreSets) {
    ConstraintSet set = particles(6);
    addCentroids(set, {0, 1, 2, 3}, {0.5, 0.5, -0.5, -0.5}, 1);
    addCentroids(set, {3, 2, 1, 0}, {0.5, 0.5, -0.5, -0.5}, 1); // groups and members in other orders
    addCentroids(set, {0, 1, 2, 3}, {0.5, -0.5, 0.5, -0.5}, 1); // others
    addCentroids(set, {0, 1, 2, 3}, {0.9, 0.1, -0.5, -0.5}, 1);
    add(set, distance, {0, 1}, 1);
    EXPECT_EQ(findSameCoordinates(set), (Groups{{0, 1}}));
}

TEST(HeldCoordinates, DifferentValuesOrRatesContradictEachOther) {
    const auto contradicts = [](auto&& change) {
        ConstraintSet set = particles(4);
        add(set, dihedral, {0, 1, 2, 3}, 1);
        add(set, dihedral, {3, 2, 1, 0}, 1);
        change(set.constraints[1]);
        return !findContradictoryPairs(set, 1e-5).empty();
    };
    EXPECT_FALSE(contradicts([](Constraint&) {}));
    EXPECT_FALSE(contradicts([](Constraint& c) { c.target += 1e-6; }));
    EXPECT_FALSE(contradicts([](Constraint& c) { c.target -= 2 * M_PI; }));
    EXPECT_TRUE(contradicts([](Constraint& c) { c.target += 1e-4; }));
    EXPECT_TRUE(contradicts([](Constraint& c) { c.rate = 0.1; }));
    EXPECT_FALSE(contradicts([](Constraint& c) { c.parameter = 0; })) << "they agree at some value of it";
}

TEST(HeldCoordinates, AStraightAngleIsAnAngleOfPi) {
    ConstraintSet set = particles(3);
    add(set, CoordinateKind::LinearAngle, {0, 1, 2}, 0);
    add(set, angle, {2, 1, 0}, 2);
    EXPECT_EQ(findContradictoryPairs(set, 1e-5), (std::vector<std::array<int, 2>>{{0, 1}}));
    set.constraints[1].target = M_PI;
    EXPECT_TRUE(findContradictoryPairs(set, 1e-5).empty());
}

TEST(HeldCoordinates, AnglesAndDihedralsFollowFromAllDistancesOfTheirParticles) {
    for (int n : {3, 4}) {
        ConstraintSet set = particles(5);
        std::vector<int> sides;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < j; i++) {
                sides.push_back((int) set.constraints.size());
                add(set, distance, {i, j}, 0.1);
            }
        add(set, n == 3 ? angle : dihedral, n == 3 ? std::vector{0, 1, 2} : std::vector{2, 0, 3, 1}, 1);
        add(set, angle, {0, 1, 4}, 1);
        const std::vector<HeldCoordinate> held = findHeldCoordinates(set);
        ASSERT_EQ(held.size(), 1u) << n;
        EXPECT_EQ(held[0].constraint, (int) sides.size());
        EXPECT_EQ(held[0].by, sides);
        set.constraints[1].rate = 0.1; // a side that moves
        EXPECT_TRUE(findHeldCoordinates(set).empty());
    }
}

TEST(HeldCoordinates, ManyOfOneParticleAreFoundQuickly) {
    const int n = 300'000; // comparing all pairs would take hours
    ConstraintSet set = particles(n);
    for (int i = 1; i < n; i++)
        add(set, distance, {i % 2 == 0 ? 0 : i, i % 2 == 0 ? i : 0}, 0.1);
    add(set, distance, {n - 1, 0}, 0.1);
    EXPECT_EQ(findSameCoordinates(set), (Groups{{n - 2, n - 1}}));
}
