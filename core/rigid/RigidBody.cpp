// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidBody.h"
#include "SymmetricEigen.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

/** sum_i w_i x_i x_i^T about an origin, row-major. */
std::vector<double> secondMoments(const std::vector<Real3>& positions, const std::vector<double>& weights,
                                  const Real3& origin) {
    std::vector<double> S(9);
    for (std::size_t i = 0; i < positions.size(); i++) {
        const Real3 d = positions[i] - origin;
        const double x[3] = {d.x, d.y, d.z};
        for (int k = 0; k < 9; k++)
            S[k] += weights[i] * x[k / 3] * x[k % 3];
    }
    return S;
}

/** Right-handed axes. */
struct Axes {
    Real3 e[3];
    Real3 along(const Real3& x) const {
        return {dot(x, e[0]), dot(x, e[1]), dot(x, e[2])};
    }
};

/** Axes of a symmetric 3x3 matrix, that of the largest eigenvalue first. */
Axes principalAxes(const std::vector<double>& S) {
    const SymmetricEigen eigen = solveSymmetricEigen(3, S);
    const auto axis = [&](int k) { return Real3{eigen.vectors[k][0], eigen.vectors[k][1], eigen.vectors[k][2]}; };
    return {{axis(2), axis(1), cross(axis(2), axis(1))}};
}

/** Axes the first of which is given, and the second the principal one perpendicular to it. */
Axes axesAbout(const Real3& axis, std::vector<double> S) {
    const Real3 u = perpendicular(axis, 0), v = cross(axis, u);
    const auto times = [&](const Real3& a, const Real3& b) {
        const double x[3] = {a.x, a.y, a.z}, y[3] = {b.x, b.y, b.z};
        double sum = 0;
        for (int k = 0; k < 9; k++)
            sum += S[k] * x[k / 3] * y[k % 3];
        return sum;
    };
    const double angle = 0.5 * std::atan2(2 * times(u, v), times(u, u) - times(v, v));
    const Real3 second = std::cos(angle) * u + std::sin(angle) * v;
    return {{axis, second, cross(axis, second)}};
}

/** Places of the anchors, and what they hold. */
struct Anchors {
    std::vector<int> places;
    int farthest = -1; ///< place of the one farthest from the first
    bool areOnALine = true;
};

Anchors findAnchors(const std::vector<Real3>& positions, const std::vector<double>& mass, double size) {
    Anchors anchors;
    for (std::size_t i = 0; i < mass.size(); i++)
        if (mass[i] == 0)
            anchors.places.push_back((int) i);
    if (anchors.places.size() < 2)
        return anchors;
    const Real3& first = positions[anchors.places[0]];
    const auto distance = [&](int i) { return norm(positions[i] - first); };
    anchors.farthest = *std::max_element(anchors.places.begin(), anchors.places.end(),
                                         [&](int i, int j) { return distance(i) < distance(j); });
    const Real3 axis = (1 / distance(anchors.farthest)) * (positions[anchors.farthest] - first);
    for (int i : anchors.places)
        if (norm(cross(positions[i] - first, axis)) > 1e-4 * size)
            anchors.areOnALine = false;
    return anchors;
}

/** Project the shape onto the first axis. */
void straighten(RigidBody& body, double size) {
    constexpr double rounding = 1e-12; // of what is on a line already
    for (Real3& s : body.shape) {
        const double shift = norm({0, s.y, s.z});
        body.lineShift = std::max(body.lineShift, shift > rounding * size ? shift : 0);
        s.y = s.z = 0;
    }
    body.isLinear = true;
}

/** Particles at one place are neighbours along any axis. */
void requireDifferentPlaces(const std::vector<int>& particles, const std::vector<Real3>& positions, double size) {
    const int n = (int) particles.size();
    const Real3 direction{0.48, 0.62, std::sqrt(1 - 0.48 * 0.48 - 0.62 * 0.62)}; // none of a lattice
    std::vector<std::pair<double, int>> along;
    for (int i = 0; i < n; i++)
        along.push_back({dot(positions[i] - positions[0], direction), i});
    std::sort(along.begin(), along.end());
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n && along[j].first - along[i].first <= 1e-6 * size; j++)
            if (norm(positions[along[i].second] - positions[along[j].second]) <= 1e-6 * size) {
                const auto [p, q] = std::minmax(particles[along[i].second], particles[along[j].second]);
                throw BadShape("are at one place.", {p, q});
            }
}

std::string describeFault(const std::vector<int>& particles, const std::string& fault) {
    if (particles.empty())
        return "A rigid body " + fault;
    std::string text = particles.size() == 1 ? "Particle " : "Particles ";
    for (std::size_t i = 0; i < particles.size(); i++)
        text += (i == 0 ? "" : " and ") + std::to_string(particles[i]);
    return text + " of a rigid body " + fault;
}

} // namespace

BadShape::BadShape(const std::string& fault, std::vector<int> given)
    : std::invalid_argument(describeFault(given, fault)), particles(std::move(given)), fault(fault) {
}

void requireShape(const std::vector<int>& particles, const std::vector<Real3>& positions, int numParticles,
                  int fewest) {
    const int n = (int) particles.size();
    if (positions.size() != particles.size())
        throw BadShape("of " + std::to_string(n) + " particles has " + std::to_string(positions.size()) +
                       " positions.");
    if (n < fewest)
        throw BadShape("needs at least " + std::to_string(fewest) + " particle" + (fewest == 1 ? "" : "s") + ", not " +
                       std::to_string(n) + ".");
    double size = 0;
    for (int i = 0; i < n; i++) {
        const Real3& r = positions[i];
        if (particles[i] < 0 || particles[i] >= numParticles)
            throw BadShape("is not in the System.", {particles[i]});
        if (!std::isfinite(norm(r)))
            throw BadShape("has a position that is not finite.", {particles[i]});
        size = std::max(size, norm(r - positions[0]));
    }
    std::vector<int> order(particles);
    std::sort(order.begin(), order.end());
    const auto twice = std::adjacent_find(order.begin(), order.end());
    if (twice != order.end())
        throw BadShape("is listed twice.", {*twice});
    requireDifferentPlaces(particles, positions, size);
}

namespace {

/** @param mass  of the particles (amu) */
RigidBody makeBody(const std::vector<int>& particles, const std::vector<Real3>& positions,
                   const std::vector<double>& mass) {
    const int n = (int) particles.size();
    RigidBody body;
    body.particles = particles;
    body.mass = mass;
    Real3 centre;
    double size = 0;
    for (int i = 0; i < n; i++) {
        const double m = mass[i];
        body.totalMass += m;
        body.numMassive += m > 0;
        centre += m * (positions[i] - positions[0]);
        size = std::max(size, norm(positions[i] - positions[0]));
    }
    const Anchors anchors = findAnchors(positions, body.mass, size);
    const bool isAnchored = !anchors.places.empty();
    const Real3 origin = isAnchored ? positions[anchors.places[0]] : positions[0] + (1 / body.totalMass) * centre;
    const std::vector<double> S = secondMoments(positions, body.mass, origin);
    const bool hasAxis = anchors.places.size() > 1;
    Axes axes;
    if (hasAxis) {
        const Real3 axis = positions[anchors.farthest] - origin;
        axes = axesAbout((1 / norm(axis)) * axis, S);
    } else
        axes = principalAxes(S);

    Real3 square; // sum_i m_i s_ik^2
    for (int i = 0; i < n; i++) {
        const Real3 s = axes.along(positions[i] - origin);
        body.shape.push_back(s);
        square += body.mass[i] * Real3{s.x * s.x, s.y * s.y, s.z * s.z};
    }
    rigid::BodyConstants& c = body.constants;
    const auto beside = [](const Real3& s) { return norm({0, s.y, s.z}); };
    double width = 0;
    for (const Real3& s : body.shape)
        width = std::max(width, beside(s));
    const bool isNarrow = square.y + square.z < smallestInertia && width <= std::max(largestLineShift, 0.02 * size);
    if (!hasAxis && isNarrow) {
        straighten(body, size);
        square.y = square.z = 0;
    } else if (hasAxis)
        body.axisAnchor = anchors.farthest;
    body.isHeld = !anchors.areOnALine;
    c.inertia = {square.y + square.z, square.x + square.z, square.x + square.y};
    const bool rotatesAboutFirst = !isNarrow && (!hasAxis || anchors.areOnALine),
               rotatesAboutOthers = !hasAxis && square.x > 0;
    c.inverseInertia.x = rotatesAboutFirst ? 1 / c.inertia.x : 0;
    c.inverseInertia.y = rotatesAboutOthers ? 1 / c.inertia.y : 0;
    c.inverseInertia.z = rotatesAboutOthers ? 1 / c.inertia.z : 0;
    c.rotations = (rotatesAboutFirst ? 1 : 0) + (rotatesAboutOthers ? 2 : 0);
    c.mass = body.totalMass;
    const double perMass = 1 / std::sqrt(c.mass);
    c.radii = {perMass * std::sqrt(c.inertia.x), perMass * std::sqrt(c.inertia.y), perMass * std::sqrt(c.inertia.z)};
    c.inverseMass = isAnchored ? 0 : 1 / body.totalMass;

    const auto fromOrigin = [](const Real3& a, const Real3& b) { return dot(a, a) < dot(b, b); };
    body.reference =
        isAnchored ? anchors.places[0]
                   : (int) (std::min_element(body.shape.begin(), body.shape.end(), fromOrigin) - body.shape.begin());
    for (const Real3& s : body.shape)
        body.radius = std::max(body.radius, norm(s - body.shape[body.reference]));
    return body;
}

/** Their parts of the masses of particles (amu). @param sharers  as RigidBody::sharers */
std::vector<double> massesOf(const std::vector<int>& particles, const std::vector<int>& sharers,
                             const std::vector<double>& inverseMass) {
    std::vector<double> mass;
    for (std::size_t i = 0; i < particles.size(); i++) {
        const double w = inverseMass[particles[i]] * (sharers.empty() ? 1 : sharers[i]);
        mass.push_back(w > 0 ? 1 / w : 0);
    }
    return mass;
}

} // namespace

RigidBody makeRigidBody(const std::vector<int>& particles, const std::vector<Real3>& positions,
                        const std::vector<double>& inverseMass) {
    requireShape(particles, positions, (int) inverseMass.size(), 1);
    return makeBody(particles, positions, massesOf(particles, {}, inverseMass));
}

RigidBody withMasses(RigidBody body, const std::vector<double>& inverseMass) {
    const std::vector<double> mass = massesOf(body.particles, body.sharers, inverseMass);
    if (mass == body.mass)
        return body;
    RigidBody other = makeBody(body.particles, body.shape, mass);
    other.lineShift = std::max(other.lineShift, body.lineShift);
    other.periodic = body.periodic;
    other.force = body.force;
    other.index = body.index;
    other.sharers = body.sharers;
    other.isJoined = body.isJoined;
    other.mayBeMirrored = body.mayBeMirrored;
    return other;
}

RigidBody withSharers(RigidBody body, std::vector<int> sharers, const std::vector<double>& inverseMass) {
    body.sharers = std::move(sharers);
    return withMasses(std::move(body), inverseMass);
}

void mirrorShape(RigidBody& body) {
    for (Real3& s : body.shape)
        s.z = -s.z;
}

} // namespace ConstraintPlugin
