// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DistanceBatch.h"
#include <algorithm>
#include <cstring>

namespace ConstraintPlugin {

template <class Number>
static bool areEqual(const Aligned<Number>& a, const Aligned<Number>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0;
}

template <class Number>
DistanceData<Number>::DistanceData(const DistancePattern& pattern, const std::vector<const DistanceCluster*>& clusters,
                                   const DistanceData* like)
    : pattern(pattern), isConsecutive((int) clusters.size() == Traits::width), count((int) clusters.size()),
      particle(pattern.numParticles() * Traits::width) {
    const int n = pattern.numRows();
    auto own = std::make_shared<Parameters>();
    own->inverseMass.resize(pattern.numParticles());
    own->firstWeight.resize(n);
    own->secondWeight.resize(n);
    own->square.resize(n);
    own->inverseSquare.resize(n);
    for (int lane = 0; lane < Traits::width; lane++) {
        const DistanceCluster& cluster = *clusters[lane < count ? lane : 0];
        for (int p = 0; p < pattern.numParticles(); p++) {
            particle[p * Traits::width + lane] = cluster.particles[p];
            Traits::setLane(own->inverseMass[p], lane, cluster.inverseMass[p]);
            isConsecutive = isConsecutive && cluster.particles[p] == cluster.particles[0] + p;
        }
        for (int k = 0; k < n; k++) {
            const auto [first, second] = pattern.pairs[k];
            Traits::setLane(own->firstWeight[k], lane, cluster.inverseMass[first]);
            Traits::setLane(own->secondWeight[k], lane, cluster.inverseMass[second]);
        }
    }
    takeLengths(std::move(own), clusters, like);
}

template <class Number>
void DistanceData<Number>::setLengths(const std::vector<const DistanceCluster*>& clusters, const DistanceData* like) {
    takeLengths(std::make_shared<Parameters>(*parameters), clusters, like);
}

template <class Number>
void DistanceData<Number>::takeLengths(std::shared_ptr<Parameters> own,
                                       const std::vector<const DistanceCluster*>& clusters, const DistanceData* like) {
    own->shortest = own->longest = clusters[0]->lengths[0];
    for (int lane = 0; lane < Traits::width; lane++) {
        const DistanceCluster& cluster = *clusters[lane < count ? lane : 0];
        for (int k = 0; k < pattern.numRows(); k++) {
            const double length = cluster.lengths[k];
            own->shortest = std::min(own->shortest, length);
            own->longest = std::max(own->longest, length);
            Traits::setLane(own->square[k], lane, length * length);
            Traits::setLane(own->inverseSquare[k], lane, 1 / (length * length));
        }
    }
    const bool isShared = like != nullptr && areEqual(like->parameters->inverseMass, own->inverseMass) &&
                          areEqual(like->parameters->square, own->square) &&
                          like->parameters->shortest == own->shortest; // squares have no sign
    if (isShared) {
        parameters = like->parameters;
        return;
    }
    if (own->weight.empty())
        for (const auto& place : pattern.sharedParticles)
            own->weight.push_back(place.sign * own->inverseMass[place.particle]);
    parameters = std::move(own);
}

template class DistanceData<double>;
template class DistanceData<Lanes>;
template class DistanceData<WideLanes>;

} // namespace ConstraintPlugin
