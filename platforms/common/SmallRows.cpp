// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The small clusters in ConstraintTables, and the particles without constraints.
#include "ConstraintTables.h"
#include <algorithm>
#include <map>

namespace ConstraintPlugin {

namespace {

/** Particles of a cluster's rows, each once, in the order of first appearance. */
std::vector<int> particlesOf(const ConstraintSet& set, const std::vector<int>& constraints) {
    std::vector<int> particles;
    for (int k : constraints)
        for (int p : set.constraints[k].particles)
            if (std::find(particles.begin(), particles.end(), p) == particles.end())
                particles.push_back(p);
    return particles;
}

/** w_kl = sum_i (e_ki e_li)/m_i of two distances, where e_ki is 1 for the first and -1 for the second particle. */
double couplingOf(const ConstraintSet& set, int k, int l) {
    double sum = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const int particle = set.constraints[k].particles[i];
            if (particle == set.constraints[l].particles[j])
                sum += (i == j ? 1 : -1) * set.inverseMass[particle];
        }
    return sum;
}

} // namespace

bool ConstraintTables::isSmall(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster) {
    if (cluster.size() > maxSmallCluster)
        return false;
    std::vector<int> constraints(graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end);
    for (int k : constraints)
        if (set.constraints[k].kind != CoordinateKind::Distance || !set.constraints[k].isFixed() ||
            set.isJoined(set.constraints[k]))
            return false;
    return (int) particlesOf(set, constraints).size() <= cluster.size() + 1;
}

void ConstraintTables::addSmall(const ConstraintSet& set, const ConstraintGraph& graph, std::vector<char>& isTaken) {
    using BySize = std::vector<std::vector<std::vector<int>>>; // constraints of each cluster
    BySize others(maxSmallCluster + 1), atBorder(maxSmallCluster + 1);
    for (const Cluster& cluster : graph.clusters)
        if (smallInRegisters && isSmall(set, graph, cluster)) {
            std::vector<int> constraints(graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end);
            std::sort(constraints.begin(), constraints.end()); // so that equal molecules have equal tables
            (cluster.isAtBorder ? atBorder : others)[constraints.size()].push_back(std::move(constraints));
        }
    smallGroups.resize(numSmallGroups);
    std::map<std::vector<double>, int> types;
    addSmallOf(set, others, false, types, isTaken);
    addSmallOf(set, atBorder, true, types, isTaken);
    // Particles without constraints and immovable ones come last, one each.
    int first = numSmallClusters;
    for (bool border : {false, true}) {
        Int4 &group = smallGroups[smallGroup(0, border)], &all = smallGroups[allSmallGroups(border)];
        group = {first, 0, (int) smallParticles.size(), numRows};
        for (int p = 0; p < set.numParticles(); p++)
            if (!isTaken[p] && isAtBorder(p) == border) {
                smallParticles.push_back(p);
                group[1]++;
            }
        SmallClusters& clusters = border ? smallAtBorder : small;
        if (group[1] > 0)
            clusters.sizes.push_back(0);
        all[2] = first;
        all[3] = group[1];
        clusters.count = all[1] + all[3];
        first += group[1];
    }
}

void ConstraintTables::addSmallOf(const ConstraintSet& set, const std::vector<std::vector<std::vector<int>>>& bySize,
                                  bool isAtBorder, std::map<std::vector<double>, int>& types,
                                  std::vector<char>& isTaken) {
    const int firstCluster = numSmallClusters;
    for (int size = maxSmallCluster; size > 0; size--) {
        const auto& clusters = bySize[size];
        const int count = (int) clusters.size(), firstPlace = (int) smallParticles.size();
        smallGroups[smallGroup(size, isAtBorder)] = {numSmallClusters, count, firstPlace, numRows};
        if (count == 0)
            continue;
        (isAtBorder ? smallAtBorder : small).sizes.push_back(size);
        smallParticles.resize(firstPlace + (size + 1) * count, -1);
        for (int number = 0; number < count; number++) {
            const std::vector<int> particles = particlesOf(set, clusters[number]);
            for (std::size_t i = 0; i < particles.size(); i++) {
                smallParticles[firstPlace + i * count + number] = particles[i];
                if (set.inverseMass[particles[i]] > 0)
                    isTaken[particles[i]] = 1;
            }
            int firsts = 0, seconds = 0, periodic = 0;
            std::vector<double> numbers;
            for (int k = 0; k < size; k++) {
                const Constraint& c = set.constraints[clusters[number][k]];
                auto place = [&](int p) {
                    return int(std::find(particles.begin(), particles.end(), p) - particles.begin());
                };
                firsts |= int((unsigned) place(c.particles[0]) << (4 * k));
                seconds |= int((unsigned) place(c.particles[1]) << (4 * k));
                periodic |= c.periodic ? 1 << k : 0;
                numbers.push_back(c.target);
                ownRows.push_back((int) constraintOf.size());
                constraintOf.push_back(clusters[number][k]);
            }
            for (int k = 0; k < size; k++)
                for (int l = k; l < size; l++)
                    numbers.push_back(couplingOf(set, clusters[number][k], clusters[number][l]));
            std::vector<double> key = numbers;
            key.insert(key.end(), {(double) firsts, (double) seconds, (double) periodic, (double) size});
            const auto [type, isNew] = types.emplace(key, (int) types.size());
            if (isNew) {
                smallTypes.push_back({firsts, seconds, periodic, (int) smallNumbers.size()});
                smallNumbers.insert(smallNumbers.end(), numbers.begin(), numbers.end());
            }
            smallClusterType.push_back(type->second);
        }
        numSmallClusters += count;
        numRows += size * count;
    }
    smallGroups[allSmallGroups(isAtBorder)] = {firstCluster, numSmallClusters - firstCluster, 0, 0};
}

} // namespace ConstraintPlugin
