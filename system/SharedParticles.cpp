// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SharedParticles.h"
#include "BodyFit.h"
#include "ConstraintErrors.h"
#include "RigidSets.h"
#include <numeric>
#include <sstream>
#include <unordered_map>

namespace ConstraintPlugin {

namespace {

/** The index below n with the largest measure. */
template <class Measure>
int farthest(std::size_t n, Measure measure) {
    int best = 0;
    for (int s = 1; s < (int) n; s++)
        if (measure(s) > measure(best))
            best = s;
    return best;
}

/** Positions of a body's particles. A linear one is on its line. */
const std::vector<Real3>& shapeOf(const CollectedBody& body) {
    return body.closedForm.isLinear ? body.closedForm.shape : body.positions;
}

/** The positions of a body where some of them fit given ones best.
 *  @param fixed  which, by place, and where */
std::vector<Real3> superposed(const CollectedBody& body, const std::vector<std::pair<int, Real3>>& fixed) {
    RigidBody weighted; // by one, and zero
    weighted.particles.resize(body.particles.size());
    std::iota(weighted.particles.begin(), weighted.particles.end(), 0);
    weighted.shape = shapeOf(body);
    weighted.mass.assign(body.particles.size(), 0);
    weighted.constants.inverseMass = 1;
    weighted.reference = fixed[0].first;
    std::vector<Real3> positions(body.particles.size());
    for (const auto& [place, x] : fixed) {
        weighted.mass[place] = 1;
        positions[place] = x;
    }
    const BodyFit fit = fitBody(weighted, positions.data(), {});
    for (std::size_t i = 0; i < positions.size(); i++)
        positions[i] = fixed[0].second + fit.origin + rigid::alongAxes(fit.axes, weighted.shape[i]);
    return positions;
}

} // namespace

SharedParticles::SharedParticles(const CollectedBody& one, const CollectedBody& other) : one(one), other(other) {
    const bool isFirstSmaller = one.particles.size() < other.particles.size();
    const std::vector<int>&smaller = isFirstSmaller ? one.particles : other.particles,
          &larger = isFirstSmaller ? other.particles : one.particles;
    std::unordered_map<int, int> placeOf;
    for (int i = 0; i < (int) smaller.size(); i++)
        placeOf.emplace(smaller[i], i);
    for (int j = 0; j < (int) larger.size(); j++)
        if (const auto found = placeOf.find(larger[j]); found != placeOf.end())
            places.push_back({larger[j], isFirstSmaller ? found->second : j, isFirstSmaller ? j : found->second});
    std::sort(places.begin(), places.end(), [](const Place& p, const Place& q) { return p.particle < q.particle; });

    const std::size_t n = places.size();
    const int any = 0, a = farthest(n, [&](int s) { return norm(at(0, s) - at(0, any)); }),
              b = farthest(n, [&](int s) { return norm(at(0, s) - at(0, a)); });
    const Real3 axis = at(0, b) - at(0, a);
    const auto fromAxis = [&](int s) { return cross(at(0, s) - at(0, a), axis); };
    const int c = farthest(n, [&](int s) { return norm(fromAxis(s)); });
    const Real3 normal = fromAxis(c);
    const int d = farthest(n, [&](int s) { return std::abs(dot(at(0, s) - at(0, a), normal)); });
    corners = {a, b, c, d};
}

bool SharedParticles::isMirrored() const {
    const double size = std::max(one.closedForm.radius, other.closedForm.radius);
    const auto volume = [&](int body) {
        const auto edge = [&](int i) { return at(body, corners[i]) - at(body, corners[0]); };
        return dot(cross(edge(1), edge(2)), edge(3));
    };
    return std::abs(volume(0)) > 1e-6 * size * size * size && volume(0) * volume(1) < 0;
}

std::optional<ConstraintProblem> SharedParticles::findDisagreement(const ConstraintSet& set, double tolerance) const {
    const auto lengthIn = [&](int body, int s, int t) { return norm(at(body, s) - at(body, t)); };
    double worst = 0;
    int p = 0, q = 0;
    for (int s = 0; s < (int) places.size(); s++)
        for (int t : corners)
            if (const double deviation = std::abs(lengthIn(0, s, t) - lengthIn(1, s, t)); deviation > worst) {
                worst = deviation;
                p = s;
                q = t;
            }
    const bool isFitted = one.recognized >= 0 || other.recognized >= 0; // to lengths that may be rounded
    const double size = std::max(one.closedForm.radius, other.closedForm.radius),
                 bound = (isFitted ? std::max(tolerance, 4 * flatnessBound) : tolerance) * size;
    const char* const remedy =
        "Give both bodies the places that these particles have in the same positions, or declare one body with the "
        "particles of both.";
    std::ostringstream out;
    out << nameOf(other) << ": ";
    if (worst > bound) {
        const std::vector<int> pair = {places[p].particle, places[q].particle};
        out << "the distance of " << describeParticle(set, pair[0]) << " and " << describeParticle(set, pair[1])
            << " is " << lengthIn(1, p, q) << " nm in its shape, but " << lengthIn(0, p, q) << " nm in that of "
            << nameOf(one) << ", which has both particles, too.";
        return ConstraintProblem{"contradictory", {}, pair, worst, bound, out.str(), remedy};
    }
    if (!isMirrored())
        return {};
    out << "its " << places.size() << " particles that " << nameOf(one)
        << " has, too, are the mirror image of their places there.";
    ConstraintProblem problem{"contradictory",         {},        {},    ConstraintProblem::none,
                              ConstraintProblem::none, out.str(), remedy};
    for (const Place& place : places)
        problem.particles.push_back(place.particle);
    return problem;
}

bool SharedParticles::areOnALine() const {
    const Real3 axis = at(0, corners[1]) - at(0, corners[0]);
    const double extent = norm(axis),
                 width = extent > 0 ? norm(cross(at(0, corners[2]) - at(0, corners[0]), axis)) / extent : 0;
    return ConstraintPlugin::areOnALine(extent, width);
}

bool SharedParticles::fixBodies() const {
    const std::size_t n = places.size();
    const bool isOneLinear = one.closedForm.isLinear || other.closedForm.isLinear,
               isAll = n == one.particles.size() || n == other.particles.size();
    return n > 0 && (isAll || (isOneLinear && n > 1) || !areOnALine());
}

CollectedBody SharedParticles::mergedBody() const {
    // Particles that both have stay where the body with the wider shape has them.
    const bool isFirstWider =
        places.size() == other.particles.size() ||
        (places.size() < one.particles.size() && (other.closedForm.isLinear || !one.closedForm.isLinear));
    const CollectedBody &kept = isFirstWider ? one : other, &moved = isFirstWider ? other : one;
    std::vector<char> isShared(moved.particles.size());
    std::vector<std::pair<int, Real3>> fixed;
    const std::vector<Real3>& shape = shapeOf(kept);
    for (const Place& place : places) {
        const int inKept = isFirstWider ? place.inOne : place.inOther,
                  inMoved = isFirstWider ? place.inOther : place.inOne;
        isShared[inMoved] = 1;
        fixed.emplace_back(inMoved, shape[inKept]);
    }
    CollectedBody merged = one;
    merged.particles = kept.particles;
    merged.positions = shape;
    if (fixed.size() < moved.particles.size()) {
        const std::vector<Real3> positions = superposed(moved, fixed);
        for (std::size_t i = 0; i < moved.particles.size(); i++)
            if (!isShared[i]) {
                merged.particles.push_back(moved.particles[i]);
                merged.positions.push_back(positions[i]);
            }
    }
    merged.merged.push_back({other.force, other.index});
    merged.merged.insert(merged.merged.end(), other.merged.begin(), other.merged.end());
    merged.periodic = one.periodic || other.periodic;
    merged.lineShift = std::max({one.lineShift, other.lineShift, kept.closedForm.lineShift,
                                 merged.particles.size() > kept.particles.size() ? moved.closedForm.lineShift : 0});
    merged.closedForm = {};
    merged.closedForm.shape = merged.positions;
    merged.closedForm.isLinear = one.closedForm.isLinear && other.closedForm.isLinear;
    merged.closedForm.radius = std::max(one.closedForm.radius, other.closedForm.radius);
    return merged;
}

double SharedParticles::alignOnLine(CollectedBody& first, CollectedBody& second) const {
    constexpr double rounding = 1e-12; // of what is at its place already
    const int n = (int) places.size(), a = corners[0], b = corners[1];
    const auto lengthTo = [&](int body, int s) { // along the line
        const Real3 way = at(body, b) - at(body, a);
        return dot(at(body, s) - at(body, a), way) / norm(way);
    };
    double difference = 0; // of their centres, if the ends a are at one place
    for (int s = 0; s < n; s++)
        difference += (lengthTo(1, s) - lengthTo(0, s)) / n;
    double largest = 0;
    for (int body : {0, 1}) {
        const Real3 start = at(body, a), way = at(body, b) - start, axis = (1 / norm(way)) * way;
        std::vector<Real3> moved;
        for (int s = 0; s < n; s++) {
            const Real3 onLine = start + lengthTo(body, s) * axis;
            const double shift = norm(at(body, s) - onLine);
            if (shift > rounding * norm(way))
                largest = std::max(largest, shift);
            moved.push_back(body == 0 ? onLine : start + (lengthTo(0, s) + difference) * axis);
        }
        for (int s = 0; s < n; s++) {
            Real3& x = body == 0 ? first.positions[places[s].inOne] : second.positions[places[s].inOther];
            if (norm(x - moved[s]) > rounding * norm(way))
                x = moved[s];
        }
    }
    return largest;
}

} // namespace ConstraintPlugin
