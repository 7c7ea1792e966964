// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Rigid sets whose lengths were measured at known positions: they have the shape of these.
#include "support/Bodies.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

/** Points of a plane, each moved off it by up to a height. */
Points puckered(Points points, double height) {
    for (std::size_t i = 0; i < points.size(); i++)
        points[i].z += height * std::sin(2.3 * (double) i + 0.4);
    return points;
}

MeasuredPositions at(const Points& points) {
    MeasuredPositions measured;
    for (int i = 0; i < (int) points.size(); i++)
        measured[i] = points[i];
    return measured;
}

double largestDifference(const RigidSet& body, const Points& points) {
    double largest = 0;
    for (std::size_t i = 0; i < body.shape.size(); i++)
        for (std::size_t j = 0; j < i; j++)
            largest = std::max(largest, std::abs(norm(body.shape[i] - body.shape[j]) -
                                                 norm(points[body.particles[i]] - points[body.particles[j]])));
    return largest;
}

TEST(MeasuredShapes, AreThoseOfThePositions) {
    for (const Points& flat : {benzene(), naphthalene()})
        for (double height : {0.0, 1e-5, 1e-4, 5e-4, 0.002, 0.003}) {
            const Points points = puckered(flat, height);
            const ConstraintSet set = distances(points, upToOneThree(flat, 0.145));
            const std::vector<RigidSet> bodies = findRigidSets(set, 1e-8, {}, at(points));
            ASSERT_EQ(bodies.size(), 1u) << height;
            EXPECT_EQ(bodies[0].particles.size(), points.size()) << height;
            EXPECT_EQ(bodies[0].constraints.size(), set.constraints.size()) << height;
            EXPECT_LT(largestDifference(bodies[0], points), 1e-15) << height;
            const bool isFlat =
                std::all_of(bodies[0].shape.begin(), bodies[0].shape.end(), [](const Real3& r) { return r.z == 0; });
            EXPECT_EQ(isFlat, height == 0);
        }
}

TEST(MeasuredShapes, OfAllDistancesToo) {
    const Points points = puckered(benzene(), 0.001);
    const std::vector<RigidSet> bodies = findRigidSets(distances(points, allPairs(0, 11)), 1e-8, {}, at(points));
    ASSERT_EQ(bodies.size(), 1u);
    EXPECT_EQ(bodies[0].constraints.size(), 66u);
    EXPECT_LT(largestDifference(bodies[0], points), 1e-15);
}

TEST(MeasuredShapes, WithinAFemtometreOfAPlaneArePlanar) {
    for (double height : {5e-7, 5e-6}) {
        const Points points = puckered(benzene(), height);
        const std::vector<RigidSet> bodies =
            findRigidSets(distances(points, upToOneThree(benzene(), 0.145)), 1e-8, {}, at(points));
        ASSERT_EQ(bodies.size(), 1u);
        EXPECT_EQ(std::all_of(bodies[0].shape.begin(), bodies[0].shape.end(), [](const Real3& r) { return r.z == 0; }),
                  height < 1e-6);
    }
}

TEST(MeasuredShapes, AreFittedWhereLengthsWereNotMeasured) {
    const Points points = puckered(benzene(), 5e-4);
    ConstraintSet set = distances(points, upToOneThree(benzene(), 0.145));
    MeasuredPositions some = at(points);
    some.erase(7);
    set.constraints[3].target *= 1 + 2e-9;
    for (const MeasuredPositions& measured : {MeasuredPositions(), some, at(points)}) {
        const std::vector<RigidSet> bodies = findRigidSets(set, 1e-8, {}, measured);
        ASSERT_EQ(bodies.size(), 1u);
        EXPECT_TRUE(
            std::all_of(bodies[0].shape.begin(), bodies[0].shape.end(), [](const Real3& r) { return r.z == 0; }));
        EXPECT_GT(largestDifference(bodies[0], points), 1e-7);
    }
}

TEST(MeasuredShapes, ARingThatIsFarFromFlatIsNoBody) {
    const Points points = puckered(benzene(), 0.02);
    for (const RigidSet& body : findRigidSets(distances(points, upToOneThree(benzene(), 0.145)), 1e-8, {}, at(points)))
        EXPECT_LT(body.particles.size(), 6u);
}

} // namespace
