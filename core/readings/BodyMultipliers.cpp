// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BodyMultipliers.h"
#include "BodyFit.h"
#include "ConstraintForces.h"
#include "DisjointSets.h"
#include "Jacobian.h"
#include "LeastSquares.h"
#include "SpanningBase.h"
#include <map>

namespace ConstraintPlugin {

namespace {

/** Multipliers of the distances among the two or three particles of a base that give balanced forces on them: of the
 *  pairs (0,1), or (0,1), (0,2) and (1,2). */
std::vector<double> pairMultipliers(const std::vector<Real3>& x, const std::vector<Real3>& forces) {
    const auto unit = [&](int i, int j) {
        const Real3 r = x[i] - x[j];
        return (1 / std::sqrt(dot(r, r))) * r;
    };
    const Real3 e = unit(0, 1);
    if (x.size() == 2)
        return {0.5 * dot(e, forces[0] - forces[1])};
    // The part of a force along one of two directions in the plane, if the other part is along the second.
    const auto along = [](const Real3& f, const Real3& first, const Real3& second) {
        const Real3 normal = cross(first, second);
        return dot(cross(f, second), normal) / dot(normal, normal);
    };
    const Real3 a = unit(0, 2), b = unit(1, 2);
    return {0.5 * (along(forces[0], e, a) + along(forces[1], -e, b)), //
            0.5 * (along(forces[0], a, e) + along(forces[2], -a, -b)),
            0.5 * (along(forces[1], b, -e) + along(forces[2], -b, -a))};
}

/** Whether forces of a body are carried to its base: a narrow one was moved onto a line, whatever its lengths span. */
bool hasBase(const ConstraintSet& set, const RecognizedBody& recognized) {
    return recognized.dimension < 3 || set.bodies[recognized.body].isLinear;
}

/** Places of the particles of its base: on a line two. */
std::vector<int> placesOfBase(const RigidBody& body, const RecognizedBody& recognized) {
    std::vector<int> places;
    for (int i = 0; i < body.size(); i++)
        if (recognized.base.empty() ||
            std::count(recognized.base.begin(), recognized.base.end(), body.particles[i]) > 0)
            places.push_back(i);
    if (body.isLinear) {
        const auto [first, last] = std::minmax_element(places.begin(), places.end(),
                                                       [&](int i, int j) { return body.shape[i].x < body.shape[j].x; });
        places = {*first, *last};
    }
    return places;
}

/** Add the multipliers of a linear or planar body to those of its base's distances.
 *  @param forces  on its particles */
void addOfBase(const ConstraintSet& set, const RecognizedBody& recognized, const Real3* forces, const Real3* positions,
               const Box& box, std::vector<double>& multipliers) {
    const RigidBody& body = set.bodies[recognized.body];
    const std::vector<int> places = placesOfBase(body, recognized);
    std::vector<Real3> shape, x, onBase(places.size());
    for (int place : places) {
        shape.push_back(body.shape[place]);
        x.push_back(fromReference(body, place, positions, box));
    }
    for (int i = 0; i < body.size(); i++) {
        if (const auto at = std::find(places.begin(), places.end(), i); at != places.end()) {
            onBase[at - places.begin()] += forces[i];
            continue;
        }
        const std::vector<double> weights = affineWeights(shape, body.shape[i]);
        for (std::size_t b = 0; b < places.size(); b++)
            onBase[b] += weights[b] * forces[i];
    }
    const std::vector<double> ofPairs = pairMultipliers(x, onBase);
    std::map<std::pair<int, int>, std::vector<int>> listed;
    for (int k : recognized.constraints)
        if (const Constraint& c = set.constraints[k]; c.kind == CoordinateKind::Distance)
            listed[std::minmax(c.particles[0], c.particles[1])].push_back(k);
    int pair = 0;
    for (std::size_t a = 0; a < places.size(); a++)
        for (std::size_t b = a + 1; b < places.size(); b++, pair++)
            if (const auto at = listed.find(std::minmax({body.particles[places[a]], body.particles[places[b]]}));
                at != listed.end())
                for (int k : at->second) // a distance that is listed twice shares its force evenly
                    multipliers[k] += ofPairs[pair] / (double) at->second.size();
}

/** Bodies of full dimension, by constraints that they have in common. */
std::vector<std::vector<int>> groupBodies(const ConstraintSet& set) {
    const int n = (int) set.recognized.size();
    DisjointSets sets(n);
    std::vector<int> first(set.constraints.size(), -1);
    const auto isIncluded = [&](int b) { return set.recognized[b].body >= 0 && !hasBase(set, set.recognized[b]); };
    for (int b = 0; b < n; b++)
        for (int k : isIncluded(b) ? set.recognized[b].constraints : std::vector<int>())
            if (first[k] < 0)
                first[k] = b;
            else
                sets.join(first[k], b);
    std::vector<std::vector<int>> groups(n);
    for (int b = 0; b < n; b++)
        if (isIncluded(b))
            groups[sets.find(b)].push_back(b);
    groups.erase(std::remove_if(groups.begin(), groups.end(), [](const auto& group) { return group.empty(); }),
                 groups.end());
    return groups;
}

} // namespace

ForceMultipliers withBodyMultipliers(const ConstraintSet& set, ForceMultipliers multipliers, const Real3* positions,
                                     const Box& box, double time) {
    if (set.recognized.empty())
        return multipliers;
    const std::vector<Real3> forces = computeForcesOfBodies(set, multipliers, positions, box, time);
    if (forces.empty())
        return multipliers;
    std::vector<int> firstPlace; // of each body in these
    int next = 0;
    for (const RigidBody& body : set.bodies) {
        firstPlace.push_back(next);
        next += body.size();
    }
    for (const RecognizedBody& recognized : set.recognized)
        if (recognized.body >= 0 && hasBase(set, recognized))
            addOfBase(set, recognized, &forces[firstPlace[recognized.body]], positions, box, multipliers.values);

    std::vector<int> number(set.numParticles(), -1); // of a group's particles
    for (const std::vector<int>& group : groupBodies(set)) {
        std::vector<int> rows, particles;
        std::vector<double> right;
        for (int r : group) {
            const RecognizedBody& recognized = set.recognized[r];
            const RigidBody& body = set.bodies[recognized.body];
            rows.insert(rows.end(), recognized.constraints.begin(), recognized.constraints.end());
            for (int i = 0; i < body.size(); i++) {
                const int p = body.particles[i];
                if (number[p] < 0) {
                    number[p] = (int) particles.size();
                    particles.push_back(p);
                    right.resize(right.size() + 3);
                }
                const Real3& f = forces[firstPlace[recognized.body] + i];
                double* const sum = &right[3 * number[p]];
                sum[0] += f.x;
                sum[1] += f.y;
                sum[2] += f.z;
            }
        }
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        Jacobian J(set, rows);
        J.setStart(positions, box, time);
        SparseColumns gradients(right.size());
        for (int row = 0; row < J.numRows(); row++) {
            constexpr double straight = 1e-6; // rad: such an angle has no gradient
            const bool hasGradient =
                set.constraints[rows[row]].kind != CoordinateKind::Angle || std::sin(J.startValue(row)) > straight;
            for (int s = J.slotStart[row]; s < J.slotStart[row + 1] && hasGradient; s++)
                gradients.add(number[J.particle[s]], J.start[s]);
            gradients.endColumn();
        }
        const std::vector<double> lambda = solveLeastNorm(gradients, right);
        for (std::size_t row = 0; row < rows.size(); row++)
            multipliers.values[rows[row]] += lambda[row];
        for (int p : particles)
            number[p] = -1;
    }
    return multipliers;
}

} // namespace ConstraintPlugin
