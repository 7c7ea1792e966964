// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SpanningBase.h"
#include <set>

namespace ConstraintPlugin {

std::vector<double> affineWeights(const std::vector<Real3>& base, const Real3& place) {
    const Real3 u = base[1] - base[0], d = place - base[0];
    if (base.size() == 2) {
        const double w = dot(d, u) / dot(u, u);
        return {1 - w, w};
    }
    const Real3 v = base[2] - base[0], n = cross(u, v);
    const double v1 = dot(cross(d, v), n) / dot(n, n), v2 = dot(cross(u, d), n) / dot(n, n);
    return {1 - v1 - v2, v1, v2};
}

namespace {

/** A few places of a body that a base is worth choosing from: immovable particles, and extremes of the shape. */
std::vector<int> candidatesOf(const ConstraintSet& set, const RigidSet& body, int most) {
    const int n = (int) body.particles.size();
    std::vector<int> chosen;
    if (n <= most) {
        for (int i = 0; i < n; i++)
            chosen.push_back(i);
        return chosen;
    }
    std::vector<double> nearest(n, HUGE_VAL);
    const auto choose = [&](int i) {
        chosen.push_back(i);
        for (int j = 0; j < n; j++)
            nearest[j] = std::min(nearest[j], norm(body.shape[j] - body.shape[i]));
    };
    for (int i = 0; i < n && (int) chosen.size() < most / 2; i++)
        if (set.inverseMass[body.particles[i]] == 0)
            choose(i);
    if (chosen.empty())
        choose(0);
    while ((int) chosen.size() < most) // the one farthest from all others
        choose((int) (std::max_element(nearest.begin(), nearest.end()) - nearest.begin()));
    return chosen;
}

/** How good some places are as a base. */
double scoreOf(const ConstraintSet& set, const RigidSet& body, const std::set<std::pair<int, int>>& given,
               const std::vector<int>& places) {
    constexpr double largestWeight = 20, moderateWeight = 2.5; // up to the latter, preferences count
    std::vector<Real3> base;
    for (int i : places)
        base.push_back(body.shape[i]);
    double score = 0, largest = 1, sum = 0;
    for (const Real3& r : body.shape)
        for (double w : affineWeights(base, r)) {
            if (!std::isfinite(w))
                return -HUGE_VAL;
            largest = std::max(largest, std::abs(w));
            sum += w * w;
        }
    if (largest > largestWeight)
        score -= 1e6;
    for (std::size_t b = 0; b < places.size(); b++) {
        score += 1000 * (set.inverseMass[body.particles[places[b]]] == 0);
        for (std::size_t c = 0; c < b && largest <= moderateWeight; c++)
            score += given.count(std::minmax(body.particles[places[c]], body.particles[places[b]]));
    }
    return score - std::atan(0.1 * std::log(sum / (double) body.shape.size() + 1));
}

} // namespace

std::vector<int> chooseBase(const ConstraintSet& set, const RigidSet& body) {
    std::set<std::pair<int, int>> given;
    for (int k : body.constraints)
        if (const Constraint& c = set.constraints[k]; c.kind == CoordinateKind::Distance)
            given.insert(std::minmax(c.particles[0], c.particles[1]));
    const std::vector<int> candidates = candidatesOf(set, body, body.dimension == 1 ? 60 : 24);
    const int n = (int) candidates.size();
    std::vector<int> best;
    double bestScore = -HUGE_VAL;
    const auto judge = [&](const std::vector<int>& places) {
        const double score = scoreOf(set, body, given, places);
        if (score > bestScore + 1e-9) { // of equal ones the first wins, so that rounding does not decide
            bestScore = score;
            best = places;
        }
    };
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            if (body.dimension == 1)
                judge({candidates[i], candidates[j]});
            for (int k = j + 1; k < n && body.dimension == 2; k++)
                judge({candidates[i], candidates[j], candidates[k]});
        }
    for (int& place : best)
        place = body.particles[place];
    return best;
}

} // namespace ConstraintPlugin
