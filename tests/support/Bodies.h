// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_BODIES_H_
#define CONSTRAINTS_TESTS_BODIES_H_

#include "RigidSets.h"
#include "support/SystemTable.h"
#include <gtest/gtest.h>
#include <numeric>
#include <ostream>
#include <set>

/** Shapes, lengths between their points, and what is found from them. */
namespace ConstraintTests {

using ConstraintPlugin::Constraint;
using ConstraintPlugin::CoordinateKind;
using ConstraintPlugin::RigidSet;
using Points = std::vector<Real3>;
using Pairs = std::vector<std::pair<int, int>>;

const double pi = std::acos(-1.0);

inline double distance(const Real3& a, const Real3& b) {
    return std::sqrt(dot(a - b, a - b));
}

/** Distances that the points have, rounded to a unit (nm) if there is one. */
inline ConstraintSet distances(const Points& points, const Pairs& pairs, double unit = 0) {
    ConstraintSet set = pattern((int) points.size(), pairs);
    for (Constraint& c : set.constraints) {
        c.target = distance(points[c.particles[0]], points[c.particles[1]]);
        if (unit > 0)
            c.target = unit * std::round(c.target / unit);
    }
    return set;
}

inline Pairs allPairs(int first, int last) {
    Pairs pairs;
    for (int i = first; i <= last; i++)
        for (int j = i + 1; j <= last; j++)
            pairs.push_back({i, j});
    return pairs;
}

inline Pairs operator+(Pairs a, const Pairs& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/** Pairs at most some distance apart. */
inline Pairs within(const Points& points, double cutoff) {
    Pairs pairs;
    for (auto [i, j] : allPairs(0, (int) points.size() - 1))
        if (distance(points[i], points[j]) < cutoff)
            pairs.push_back({i, j});
    return pairs;
}

/** Pairs that bonds join directly, or over one particle. */
inline Pairs upToOneThree(const Points& points, double longestBond) {
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

inline void addAngle(ConstraintSet& set, int i, int vertex, int j, double angle) {
    Constraint c;
    c.kind = CoordinateKind::Angle;
    c.particles = {i, vertex, j};
    c.target = angle;
    set.constraints.push_back(c);
}

inline Points ring(int n, std::initializer_list<double> radii) {
    Points points;
    for (double radius : radii)
        for (int i = 0; i < n; i++)
            points.push_back({radius * std::cos(2 * pi * i / n), radius * std::sin(2 * pi * i / n), 0});
    return points;
}

inline Points benzene() {
    return ring(6, {0.139, 0.247});
}

/** Two hexagons with one edge in common: 0 and 1 are the shared atoms. */
inline Points naphthalene() {
    const double a = 0.14, h = a * std::sqrt(3) / 2;
    return {{0, a / 2, 0}, {0, -a / 2, 0}, {h, a, 0},          {2 * h, a / 2, 0},   {2 * h, -a / 2, 0},
            {h, -a, 0},    {-h, a, 0},     {-2 * h, a / 2, 0}, {-2 * h, -a / 2, 0}, {-h, -a, 0}};
}

inline std::vector<int> range(int first, int last) {
    std::vector<int> numbers(last - first + 1);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

/** The rigid sets of a list of constraints, each checked: it has the distances and angles among its particles and
 * nothing else, its shape meets them, and is of its dimension. */
inline std::vector<RigidSet> findChecked(const ConstraintSet& set, double tolerance = 1e-8) {
    const std::vector<RigidSet> bodies = ConstraintPlugin::findRigidSets(set, tolerance);
    for (const RigidSet& body : bodies) {
        EXPECT_EQ(body.shape.size(), body.particles.size());
        EXPECT_TRUE(std::is_sorted(body.particles.begin(), body.particles.end()));
        std::vector<Real3> at(set.numParticles());
        for (std::size_t k = 0; k < body.shape.size(); k++) {
            at[body.particles[k]] = body.shape[k];
            EXPECT_TRUE(body.dimension > 2 || std::abs(body.shape[k].z) <= (body.shape.size() == 4 ? 0.005 : 0));
            EXPECT_TRUE(body.dimension > 1 || body.shape[k].y == 0);
        }
        std::vector<int> inside;
        for (int k = 0; k < (int) set.constraints.size(); k++) {
            const Constraint& c = set.constraints[k];
            if (c.kind != CoordinateKind::Distance && c.kind != CoordinateKind::Angle)
                continue;
            if (!std::all_of(c.particles.begin(), c.particles.begin() + c.size(), [&](int p) {
                    return std::binary_search(body.particles.begin(), body.particles.end(), p);
                }))
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

/** What is found: the particles of straight bodies, of flat ones, and of others. */
struct Found {
    std::set<std::vector<int>> straight, flat, spatial;
    bool operator==(const Found& other) const {
        return straight == other.straight && flat == other.flat && spatial == other.spatial;
    }
};

inline std::ostream& operator<<(std::ostream& out, const Found& found) {
    const std::pair<const char*, const std::set<std::vector<int>>*> lists[] = {
        {" line", &found.straight}, {" plate", &found.flat}, {" body", &found.spatial}};
    for (const auto& [name, list] : lists)
        for (const auto& particles : *list) {
            out << name;
            for (int p : particles)
                out << ' ' << p;
        }
    return out;
}

inline Found find(const ConstraintSet& set) {
    Found found;
    for (const RigidSet& body : findChecked(set))
        (body.dimension == 1   ? found.straight
         : body.dimension == 2 ? found.flat
                               : found.spatial)
            .insert(body.particles);
    return found;
}

inline Found line(std::initializer_list<std::vector<int>> bodies) {
    return {bodies, {}, {}};
}
inline Found plate(std::initializer_list<std::vector<int>> bodies) {
    return {{}, bodies, {}};
}
inline Found body(std::initializer_list<std::vector<int>> bodies) {
    return {{}, {}, bodies};
}
const Found none;

const Points carbonDioxide{{0, 0, 0}, {0.1163, 0, 0}, {-0.1163, 0, 0}};
const Points tetrahedron{{0, 0, 0}, {0.1, 0, 0}, {0, 0.12, 0}, {0, 0, 0.14}};
const Points quadrangle{{0, 0, 0}, {0.1, 0, 0}, {0.12, 0.1, 0}, {0, 0.09, 0}};

} // namespace ConstraintTests

#endif
