// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CollectBodies.h"
#include "BracedBodies.h"
#include "ConstraintChecks.h"
#include "RankAnalysis.h"
#include "RigidBodies.h"
#include "SystemChecks.h"
#include "coordinates.h"
#include <map>

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

double length(const Real3& a, const Real3& b) {
    const Real3 r = a - b;
    return std::sqrt(dot(r, r));
}

/** The longest distance in a body. */
double diameterOf(const RigidBody& body) {
    double largest = 0;
    for (const Real3& a : body.shape)
        for (const Real3& b : body.shape)
            largest = std::max(largest, length(a, b));
    return largest;
}

/** Constrain the distances among base particles, except those that are constrained already, and place all other
 * particles relative to them. These constraints replace declared ones of the same particle. */
void appendBody(ConstraintSet& set, const RigidBody& body, bool periodic, const Box& box,
                const std::vector<std::pair<int, int>>& constrained) {
    std::map<int, int> listedOf; // by particle
    for (int k : body.constraints)
        for (int p : set.constraints[k].particles)
            listedOf.emplace(p, k);
    auto append = [&](Constraint& c) {
        const auto listed = listedOf.find(c.particles[0]);
        c.replaces = listed == listedOf.end() ? -1 : listed->second;
        set.constraints.push_back(c);
    };
    double size = 0;
    for (const Real3& x : body.shape)
        size = std::max(size, length(body.shape[0], x));
    Constraint c;
    c.index = -1;
    c.periodic = periodic && diameterOf(body) <= box.halfWidth();
    for (std::size_t i = 0; i < body.base.size(); i++)
        for (std::size_t j = i + 1; j < body.base.size(); j++) {
            c.particles = {body.base[i], body.base[j]};
            c.target = length(body.shape[i], body.shape[j]);
            const std::pair<int, int> pair = std::minmax(body.base[i], body.base[j]);
            if (std::find(constrained.begin(), constrained.end(), pair) == constrained.end())
                append(c);
        }
    c.kind = CoordinateKind::AffinePosition;
    c.target = 0;
    for (std::size_t a = 0; a < body.others.size(); a++) {
        c.particles = {body.others[a]};
        c.particles.insert(c.particles.end(), body.base.begin(), body.base.end());
        for (const Real3& axis : {Real3{1, 0, 0}, Real3{0, 1, 0}, Real3{0, 0, 1}}) {
            c.form = (int) set.affine.size();
            set.affine.push_back({axis, body.weights[a], size});
            append(c);
        }
    }
}

/** Whether a linear body has only bonds and angles of pi: these are regular, because such an angle is two components of
 * the bend. */
bool isRegularRod(const ConstraintSet& set, const RigidBody& body) {
    auto count = [&](CoordinateKind kind) {
        return std::count_if(body.constraints.begin(), body.constraints.end(),
                             [&](int k) { return set.constraints[k].kind == kind; });
    };
    return body.base.size() == 2 && count(CoordinateKind::Distance) == body.size() - 1 &&
           count(CoordinateKind::Angle) == body.size() - 2;
}

/** The smallest height of a tetrahedron that has all its six lengths, nm; 0 where they fit no tetrahedron, or it has
 * any other constraints. */
double heightOf(const ConstraintSet& set, const RigidBody& body) {
    if (body.size() != 4 || body.constraints.size() != 6)
        return 0;
    std::vector<int> corners = body.base;
    corners.insert(corners.end(), body.others.begin(), body.others.end());
    double square[4][4] = {};
    for (int k : body.constraints) {
        const Constraint& c = set.constraints[k];
        if (c.kind != CoordinateKind::Distance)
            return 0;
        const auto at = [&](int s) {
            return std::find(corners.begin(), corners.end(), c.particles[s]) - corners.begin();
        };
        square[at(0)][at(1)] = square[at(1)][at(0)] = c.target * c.target;
    }
    double smallest = HUGE_VAL;
    for (int top = 0; top < 4; top++) {
        // Edges u and v of the face below from its first corner, and w to the top: |w|^2 less its part in the face.
        const int o = (top + 1) % 4, a = (top + 2) % 4, b = (top + 3) % 4;
        const auto product = [&](int i, int j) { return (square[o][i] + square[o][j] - square[i][j]) / 2; };
        const double uu = square[o][a], vv = square[o][b], uv = product(a, b), uw = product(a, top),
                     vw = product(b, top), det = uu * vv - uv * uv;
        if (!(det > 0)) // linear, or a pair is constrained twice and another not at all
            return 0;
        smallest = std::min(smallest, square[o][top] - (uw * uw * vv - 2 * uw * vw * uv + vw * vw * uu) / det);
    }
    return smallest > 0 ? std::sqrt(smallest) : 0;
}

/** Distances among base particles by pair. If bodies share an edge, all use the length of the first one. */
using Edges = std::map<std::pair<int, int>, double>;

/** The body with the lengths that its base actually has: with rounded lengths, bodies that share an edge have slightly
 *  different ones. */
RigidBody withSharedEdges(RigidBody body, Edges& edges) {
    auto edge = [&](int i, int j) {
        const std::pair<int, int> pair = std::minmax(body.base[i], body.base[j]);
        return edges.try_emplace(pair, length(body.shape[i], body.shape[j])).first->second;
    };
    const int n = (int) body.base.size();
    const double d01 = edge(0, 1), d02 = n == 3 ? edge(0, 2) : 0, d12 = n == 3 ? edge(1, 2) : 0;
    body.shape[0] = {};
    body.shape[1] = {d01, 0, 0};
    if (n == 3) {
        const double along = (d01 * d01 + d02 * d02 - d12 * d12) / (2 * d01);
        body.shape[2] = {along, std::sqrt(d02 * d02 - along * along), 0};
    }
    for (std::size_t a = 0; a < body.others.size(); a++) {
        Real3 sum;
        for (int b = 0; b < n; b++)
            sum += body.weights[a][b] * body.shape[b];
        body.shape[n + a] = sum;
    }
    return body;
}

/** Bond vectors of a constraint's particles in a body's shape. */
std::vector<Real3> bondsInShape(const Constraint& c, const std::map<int, Real3>& place) {
    std::vector<Real3> bonds;
    for (int s = 0; s + 1 < c.size(); s++)
        bonds.push_back(place.at(c.particles[s]) - place.at(c.particles[s + 1]));
    return bonds;
}

} // namespace

namespace {

/** What a recognized body changed. */
struct Conversion {
    double deviation = 0;  // largest of a target, by ConstraintSet::scale()
    int constraint = -1;   // whose
    std::vector<int> rows; // constraints that hold the body now
};

/** Replace the constraints of a body. Their targets become those of its shape. */
Conversion convert(ConstraintSet& set, const RigidBody& body, const Box& box) {
    Conversion conversion;
    std::map<int, Real3> place;
    for (std::size_t i = 0; i < body.base.size(); i++)
        place[body.base[i]] = body.shape[i];
    for (std::size_t a = 0; a < body.others.size(); a++)
        place[body.others[a]] = body.shape[body.base.size() + a];
    bool periodic = false;
    std::vector<std::pair<int, int>> constrained;
    for (int k : body.constraints) {
        Constraint& c = set.constraints[k];
        Real3 G[3];
        periodic = periodic || c.periodic;
        const double fitted = coordinate(c.kind, bondsInShape(c, place).data(), G),
                     deviation = std::abs(fitted - c.target) / set.scale(c);
        if (deviation > conversion.deviation || conversion.constraint < 0) {
            conversion.deviation = deviation;
            conversion.constraint = k;
        }
        c.target = fitted;
        auto isBase = [&](int p) { return std::find(body.base.begin(), body.base.end(), p) != body.base.end(); };
        const std::pair<int, int> pair = std::minmax(c.particles[0], c.particles[1]);
        const bool isOfBase = c.kind == CoordinateKind::Distance && isBase(pair.first) && isBase(pair.second) &&
                              std::find(constrained.begin(), constrained.end(), pair) == constrained.end();
        c.isReplaced = !isOfBase;
        if (isOfBase) {
            constrained.push_back(pair);
            conversion.rows.push_back(k);
        }
    }
    const std::size_t first = set.constraints.size();
    appendBody(set, body, periodic, box, constrained);
    for (std::size_t k = first; k < set.constraints.size(); k++)
        conversion.rows.push_back((int) k);
    return conversion;
}

} // namespace

void convertSingularSets(ConstraintSet& set, double tolerance, const Box& box) {
    std::vector<char> mayReplace;
    for (const Constraint& c : set.constraints)
        mayReplace.push_back(c.rate == 0 && !set.isIgnored(c));
    std::vector<RigidBody> bodies = findSingularBodies(set, tolerance, mayReplace);
    const auto isRegular = [&](const RigidBody& body) {
        return isRegularRod(set, body) || heightOf(set, body) > largestRoundedHeight;
    };
    bodies.erase(std::remove_if(bodies.begin(), bodies.end(), isRegular), bodies.end());
    while (!bodies.empty()) {
        ConstraintSet converted = set;
        Edges edges;
        std::vector<Conversion> conversions;
        for (const RigidBody& body : bodies)
            conversions.push_back(convert(converted, withSharedEdges(body, edges), box));
        // A fit contradicts further constraints that brace the body, which make it regular anyway. If it changes
        // lengths by a relative e, it moves particles by about sqrt(2 e) times the length.
        constexpr double rounding = 1e-13;
        const double harmless = std::max(0.5 * tolerance * tolerance, rounding);
        std::vector<std::vector<int>> fitted(bodies.size());
        for (std::size_t b = 0; b < bodies.size(); b++)
            if (conversions[b].deviation > harmless)
                fitted[b] = conversions[b].rows;
        const std::vector<char> isBraced = findBraced(converted, fitted);
        std::vector<RigidBody> others;
        for (std::size_t b = 0; b < bodies.size(); b++) {
            if (!isBraced[b])
                others.push_back(bodies[b]);
            for (int k : bodies[b].constraints)
                set.constraints[k].isBraced = set.constraints[k].isBraced || isBraced[b];
        }
        if (others.size() == bodies.size()) {
            set = std::move(converted);
            for (const RigidBody& body : bodies) {
                std::vector<int> particles = body.base;
                particles.insert(particles.end(), body.others.begin(), body.others.end());
                std::sort(particles.begin(), particles.end());
                set.recognized.push_back({body.constraints, std::move(particles), body.base.size() == 2});
            }
            for (const Conversion& conversion : conversions)
                if (conversion.deviation > set.fitDeviation || set.fittedConstraint < 0) {
                    set.fitDeviation = conversion.deviation;
                    set.fittedConstraint = conversion.constraint;
                }
            return;
        }
        bodies = std::move(others);
    }
}

namespace {

/** What is wrong with a body that the periodic box cannot hold. */
Found tooLarge(const DeclaredBody& body, const Box& box) {
    const double radius = body.closedForm.radius;
    if (!body.periodic || radius <= box.halfWidth())
        return {};
    return ConstraintProblem{"box",
                             {},
                             body.particles,
                             radius,
                             box.halfWidth(),
                             nameOf(body) + ": its radius " + std::to_string(radius) +
                                 " nm exceeds half the shortest width of the periodic box (" +
                                 std::to_string(box.halfWidth()) + " nm), so the minimum image cannot represent it.",
                             useLargerBox};
}

} // namespace

void addRigidBodies(const std::vector<DeclaredBody>& bodies, ConstraintSet& set, const Box& box,
                    const ProblemReport& report) {
    std::vector<char> isConstrained(set.numParticles());
    for (const Constraint& c : set.constraints)
        for (int p : set.isIgnored(c) ? std::vector<int>() : c.particles)
            isConstrained[p] = 1;
    for (const DeclaredBody& body : bodies) {
        if (Found problem = tooLarge(body, box))
            report(std::move(*problem));
        else if (body.particles.size() > 1 || !isConstrained[body.particles[0]]) // else it is that particle
            set.bodies.push_back(body.closedForm);
    }
}

} // namespace ConstraintPlugin
