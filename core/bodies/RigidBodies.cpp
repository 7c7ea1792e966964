// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidBodies.h"
#include "FreeBody.h"
#include "SymmetricEigen.h"
#include <stdexcept>
#include <string>

namespace ConstraintPlugin {

namespace {

double norm(const Real3& a) {
    return std::sqrt(dot(a, a));
}

/** Weights C_b of p = sum_b C_b r_b, sum_b C_b = 1, by ratios of lengths, areas or volumes.
 *  @return false if the base does not span its dimension */
bool affineWeights(const Real3* base, int dimension, const Real3& p, double* weights) {
    const Real3 u = base[1] - base[0], d = p - base[0];
    if (dimension == 1) {
        weights[1] = dot(d, u) / dot(u, u);
    } else {
        const Real3 v = base[2] - base[0], n = cross(u, v);
        if (dimension == 2) {
            const double square = dot(n, n);
            weights[1] = dot(cross(d, v), n) / square;
            weights[2] = dot(cross(u, d), n) / square;
        } else {
            const Real3 w = base[3] - base[0];
            const double volume = dot(n, w);
            weights[1] = dot(cross(d, v), w) / volume;
            weights[2] = dot(cross(u, d), w) / volume;
            weights[3] = dot(n, d) / volume;
        }
    }
    weights[0] = 1;
    for (int b = 1; b <= dimension; b++)
        weights[0] -= weights[b];
    return std::isfinite(weights[0]);
}

/** A few places of the list that a base is worth choosing from: the preferred ones, and extremes of the shape. */
std::vector<int> baseCandidates(const std::vector<int>& particles, const std::vector<Real3>& positions, int most,
                                const std::vector<double>& inverseMass, const BasePreference& preference) {
    const int n = (int) particles.size();
    std::vector<int> chosen;
    std::vector<double> nearest(n, HUGE_VAL);
    auto choose = [&](int i) {
        chosen.push_back(i);
        for (int j = 0; j < n; j++)
            nearest[j] = std::min(nearest[j], norm(positions[j] - positions[i]));
    };
    if (n <= most) {
        for (int i = 0; i < n; i++)
            chosen.push_back(i);
        return chosen;
    }
    for (bool fixed : {true, false}) // immovable ones first
        for (int i = 0; i < n && (int) chosen.size() < most / 2; i++)
            if ((inverseMass[particles[i]] == 0) == fixed && (fixed || preference.isShared(i)))
                choose(i);
    if (chosen.empty())
        choose(0);
    while ((int) chosen.size() < most) // the one farthest from all others
        choose((int) (std::max_element(nearest.begin(), nearest.end()) - nearest.begin()));
    return chosen;
}

/** Beyond such weights a base is taken only if there is no better; up to the smaller one preferences count. */
constexpr double largestWeight = 20, moderateWeight = 2.5;

} // namespace

RigidBody chooseBase(const std::vector<int>& particles, const std::vector<Real3>& positions, int dimension,
                     const std::vector<double>& inverseMass, const BasePreference& preference) {
    const int n = (int) particles.size(), size = dimension + 1;
    const std::vector<int> candidates = baseCandidates(particles, positions,
                                                       dimension == 1   ? 60
                                                       : dimension == 2 ? 24
                                                                        : 14,
                                                       inverseMass, preference);
    std::vector<int> place(size), best;
    double bestScore = -HUGE_VAL;
    auto judge = [&] {
        Real3 base[4];
        double score = 0, largest = 1, sum = 0, weights[4];
        for (int b = 0; b < size; b++)
            base[b] = positions[place[b]];
        for (int i = 0; i < n; i++) {
            if (!affineWeights(base, dimension, positions[i], weights))
                return;
            for (int b = 0; b < size; b++) {
                largest = std::max(largest, std::abs(weights[b]));
                sum += weights[b] * weights[b];
            }
        }
        if (largest > largestWeight)
            score -= 1e6;
        for (int b = 0; b < size; b++) {
            score += 1000 * (inverseMass[particles[place[b]]] == 0);
            if (largest <= (preference.holdsForLargeWeights ? largestWeight : moderateWeight)) {
                score += 10 * preference.isShared(place[b]);
                for (int c = 0; c < b; c++)
                    score += preference.isKnown(place[c], place[b]);
            }
        }
        // Of equal ones the first in order wins, so that rounding does not decide.
        score -= std::atan(0.1 * std::log(sum / n + 1));
        if (score > bestScore + 1e-9) {
            bestScore = score;
            best = place;
        }
    };
    std::function<void(int, std::size_t)> visit = [&](int depth, std::size_t from) {
        if (depth == size)
            return judge();
        for (std::size_t i = from; i < candidates.size(); i++) {
            place[depth] = candidates[i];
            visit(depth + 1, i + 1);
        }
    };
    visit(0, 0);
    if (best.empty())
        throw std::invalid_argument("The particles of a rigid body do not span it.");

    RigidBody body;
    std::vector<Real3> base;
    for (int i : best) {
        body.base.push_back(particles[i]);
        base.push_back(positions[i]);
    }
    std::vector<int> rest;
    for (int i = 0; i < n; i++)
        if (std::find(best.begin(), best.end(), i) == best.end())
            rest.push_back(i);
    std::sort(rest.begin(), rest.end(), [&](int i, int j) { return particles[i] < particles[j]; });
    body.shape = base;
    for (int i : rest) {
        body.others.push_back(particles[i]);
        body.shape.push_back(positions[i]);
        body.weights.emplace_back(size);
        affineWeights(base.data(), dimension, positions[i], body.weights.back().data());
    }
    return body;
}

RigidBody makeRigidBody(const std::vector<int>& particles, const std::vector<Real3>& positions,
                        const std::vector<double>& inverseMass, const BasePreference& preference) {
    requireShape(particles, positions, (int) inverseMass.size(), 2);
    const int n = (int) particles.size();
    Real3 centre;
    for (const Real3& r : positions)
        centre += (1.0 / n) * r;

    std::vector<Real3> r;
    std::vector<double> moments(9);
    double size = 0;
    for (const Real3& position : positions) {
        const Real3 d = position - centre;
        const double x[3] = {d.x, d.y, d.z};
        for (int i = 0; i < 9; i++)
            moments[i] += x[i / 3] * x[i % 3];
        size = std::max(size, norm(d));
        r.push_back(d);
    }
    const SymmetricEigen axes = solveSymmetricEigen(3, moments);
    auto axis = [&](int i) { return Real3{axes.vectors[i][0], axes.vectors[i][1], axes.vectors[i][2]}; };
    int dimension = n == 2 ? 1 : 3;
    for (int d : {2, 1}) { // project onto the plane, then the line, as long as no particle moves
        const Real3 normal = axis(2 - d);
        if (!std::all_of(r.begin(), r.end(),
                         [&](const Real3& x) { return std::abs(dot(x, normal)) <= flatnessBound * size; }))
            break;
        for (Real3& x : r)
            x = x - dot(x, normal) * normal;
        dimension = d;
    }
    return chooseBase(particles, r, dimension, inverseMass, preference);
}

} // namespace ConstraintPlugin
