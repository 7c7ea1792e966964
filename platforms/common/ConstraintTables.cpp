// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintTables.h"
#include "CentroidDistance.h"
#include <map>

namespace ConstraintPlugin {

namespace {

/** Rows and slots up to which one thread serves a general cluster; more are faster with a thread block. */
constexpr int maxThreadRows = 8, maxThreadSlots = 64;

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

RowKind kindOf(const ConstraintSet& set, const Constraint& c) {
    if (c.kind != CoordinateKind::Custom)
        return (RowKind) c.kind;
    return dynamic_cast<const CentroidDistance*>(set.custom[c.form].get()) != nullptr ? RowKind::Centroid
                                                                                      : RowKind::Expression;
}

/** Weights of bond vectors x_s - x_(s+1) in a row that is linear in them. */
std::vector<double> bondWeights(const ConstraintSet& set, const Constraint& c) {
    std::vector<double> weights;
    if (c.kind == CoordinateKind::Linear) {
        weights = set.linear[c.form].weights; // w_s = sum_(b>s) C_b
        for (int s = (int) weights.size() - 2; s >= 0; s--)
            weights[s] += weights[s + 1];
    } else if (kindOf(set, c) == RowKind::Centroid) {
        weights = dynamic_cast<const CentroidDistance&>(*set.custom[c.form]).getWeights(); // w_s = sum_(i<=s) of these
        for (std::size_t s = 1; s < weights.size(); s++)
            weights[s] += weights[s - 1];
    }
    weights.resize(c.size());
    return weights;
}

} // namespace

ConstraintTables::ConstraintTables(const ConstraintSolver& solver, bool smallInRegisters, bool hasBlocks)
    : smallInRegisters(smallInRegisters), hasBlocks(hasBlocks) {
    const ConstraintSet& set = solver.getSet();
    const ConstraintGraph& graph = solver.getGraph();
    std::vector<char> isTaken(set.numParticles(), 0); // by a cluster
    std::vector<int> others;
    for (const Cluster& cluster : graph.clusters)
        if (!isSmall(set, graph, cluster))
            others.insert(others.end(), graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end);
    for (int k : others)
        for (int p : set.constraints[k].particles)
            if (set.inverseMass[p] > 0)
                isTaken[p] = 1;
    addSmall(set, graph, isTaken);

    slotStart.assign(numRows + 1, 0);
    const int before = numRows;
    rowKind.assign(before, 0);
    rowForm = rowPeriodic = rowFirstParameter = rowKind;
    rowTarget.assign(before, 0.0);
    rowRate = rowInverseScale = rowTarget;
    rowDirection.assign(3 * before, 0.0);
    addGeneral(set, ConstraintGraph(set, others, solver.getMethod(), 0));
    for (int k : solver.getChecked())
        if (set.isMovable(set.constraints[k]) || set.isMoving(set.constraints[k])) {
            checked.push_back(k);
            addRow(set, k);
        }
}

bool ConstraintTables::isSmall(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster) const {
    if (!smallInRegisters || cluster.size() > maxSmallCluster)
        return false;
    std::vector<int> constraints(graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end);
    for (int k : constraints)
        if (set.constraints[k].kind != CoordinateKind::Distance || set.isMoving(set.constraints[k]))
            return false;
    return (int) particlesOf(set, constraints).size() <= cluster.size() + 1;
}

void ConstraintTables::addSmall(const ConstraintSet& set, const ConstraintGraph& graph, std::vector<char>& isTaken) {
    std::vector<std::vector<std::vector<int>>> bySize(maxSmallCluster + 1); // constraints of each cluster
    for (const Cluster& cluster : graph.clusters)
        if (isSmall(set, graph, cluster)) {
            std::vector<int> constraints(graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end);
            std::sort(constraints.begin(), constraints.end()); // so that equal molecules have equal tables
            bySize[constraints.size()].push_back(std::move(constraints));
        }
    smallGroups.resize(maxSmallCluster + 1);
    std::map<std::vector<double>, int> types;
    for (int size = maxSmallCluster; size > 0; size--) {
        const auto& clusters = bySize[size];
        const int count = (int) clusters.size(), firstPlace = (int) smallParticles.size();
        smallGroups[size] = {numSmallClusters, count, firstPlace, numRows};
        if (count == 0)
            continue;
        sizes.push_back(size);
        smallParticles.resize(firstPlace + (size + 1) * count, -1);
        for (int number = 0; number < count; number++) {
            const std::vector<int> particles = particlesOf(set, clusters[number]);
            for (std::size_t i = 0; i < particles.size(); i++) {
                smallParticles[firstPlace + i * count + number] = particles[i];
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
    // Particles without constraints come last, one each.
    smallGroups[0] = {numSmallClusters, 0, (int) smallParticles.size(), numRows};
    for (int p = 0; p < set.numParticles(); p++)
        if (!isTaken[p]) {
            smallParticles.push_back(p);
            smallGroups[0][1]++;
        }
    if (smallGroups[0][1] > 0)
        sizes.push_back(0);
}

void ConstraintTables::addRow(const ConstraintSet& set, int constraint) {
    const Constraint& c = set.constraints[constraint];
    const int row = (int) constraintOf.size();
    constraintOf.push_back(constraint);
    const std::vector<double> weights = bondWeights(set, c);
    for (int s = 0; s < c.size(); s++) {
        slotParticle.push_back(c.particles[s]);
        slotWeight.push_back(weights[s]);
        slotInverseMass.push_back(set.inverseMass[c.particles[s]]);
        slotRow.push_back(row);
    }
    slotStart.push_back((int) slotParticle.size());
    const RowKind kind = kindOf(set, c);
    rowKind.push_back((int) kind);
    rowForm.push_back(c.form);
    rowPeriodic.push_back(c.periodic);
    rowFirstParameter.push_back(c.firstParameter);
    rowTarget.push_back(c.target);
    rowRate.push_back(c.rate);
    rowInverseScale.push_back(1 / set.scale(c));
    const Real3 axis = kind == RowKind::Linear ? set.linear[c.form].axis : Real3();
    rowDirection.insert(rowDirection.end(), {axis.x, axis.y, axis.z});
    if (set.isMoving(c))
        movingRows.push_back(row);
}

void ConstraintTables::addGeneral(const ConstraintSet& set, const ConstraintGraph& graph) {
    auto needsBlock = [&](const Cluster& cluster) {
        return hasBlocks && (cluster.size() > maxThreadRows ||
                             graph.slotStart[cluster.end] - graph.slotStart[cluster.begin] > maxThreadSlots);
    };
    const auto serverOf = [&](const Cluster& cluster) {
        return std::pair(needsBlock(cluster), cluster.kind == ClusterSolverKind::Iterative);
    };
    std::vector<Cluster> clusters = graph.clusters;
    std::stable_sort(clusters.begin(), clusters.end(),
                     [&](const Cluster& a, const Cluster& b) { return serverOf(a) < serverOf(b); });
    numGeneralClusters = (int) clusters.size();
    for (int c = 0; c < numGeneralClusters; c++) {
        const auto [isBlock, isIterative] = serverOf(clusters[c]);
        if (c == 0 || serverOf(clusters[c - 1]) != serverOf(clusters[c]))
            ranges.push_back({isBlock, isIterative, c, c});
        ranges.back().last++;
    }
    rowStart = {numRows};
    particleStart = meetingStart = entryStart = couplingStart = {0};
    levelStart = levelTargetStart = levelEntryStart = updateStart = {0};
    colourStart = colourRowStart = {0};
    for (const Cluster& cluster : clusters) {
        const int first = numRows;
        for (int row = cluster.begin; row < cluster.end; row++)
            addRow(set, graph.rows[row]);
        numRows += cluster.size();
        rowStart.push_back(numRows);
        addParticles(set, first, numRows);
        const bool isIterative = cluster.kind == ClusterSolverKind::Iterative;
        rowIsLeaf.resize(numRows);
        if (isIterative)
            addColours(set, first, numRows);
        else
            addFactor(graph, cluster, first);
        entryStart.push_back((int) couplingStart.size() - 1);
        levelStart.push_back((int) levelTargetStart.size() - 1);
        colourStart.push_back((int) colourRowStart.size() - 1);
    }
}

void ConstraintTables::addParticles(const ConstraintSet& set, int firstRow, int lastRow) {
    std::map<int, std::vector<int>> slots;
    for (int s = slotStart[firstRow]; s < slotStart[lastRow]; s++)
        if (set.inverseMass[slotParticle[s]] > 0)
            slots[slotParticle[s]].push_back(s);
    for (const auto& [particle, list] : slots) {
        clusterParticle.push_back(particle);
        meetingSlot.insert(meetingSlot.end(), list.begin(), list.end());
        meetingStart.push_back((int) meetingSlot.size());
    }
    particleStart.push_back((int) clusterParticle.size());
}

void ConstraintTables::addFactor(const ConstraintGraph& graph, const Cluster& cluster, int firstRow) {
    const SymbolicFactor& factor = graph.factors[cluster.factor];
    const int n = factor.size(), numEntries = (int) factor.entryRow.size();
    const int slotShift = slotStart[firstRow] - graph.slotStart[cluster.begin];
    std::vector<Coupling> couplings(graph.couplings.begin() + cluster.couplingBegin,
                                    graph.couplings.begin() + cluster.couplingEnd);
    std::stable_sort(couplings.begin(), couplings.end(),
                     [](const Coupling& a, const Coupling& b) { return a.entry < b.entry; });
    for (int e = 0, i = 0; e < numEntries; e++) {
        for (; i < (int) couplings.size() && couplings[i].entry == e; i++)
            couplingSlots.push_back({couplings[i].slotRow + slotShift, couplings[i].slotColumn + slotShift});
        couplingStart.push_back((int) couplingSlots.size());
    }
    std::vector<std::vector<int>> columns(factor.numLevels);  // by level
    std::vector<std::vector<Int3>> entries(factor.numLevels); // by level of their rows
    std::vector<int> firstTarget(n);                          // of each column in factor.updateTarget
    for (int k = 0, sum = 0; k < n; k++) {
        columns[factor.level[k]].push_back(k);
        rowIsLeaf[firstRow + k] = factor.level[k] == 0;
        for (int e = factor.columnStart[k]; e < factor.columnStart[k + 1]; e++)
            entries[factor.level[factor.entryRow[e]]].push_back({e, k, factor.entryRow[e]});
        firstTarget[k] = sum;
        const int length = factor.columnStart[k + 1] - factor.columnStart[k];
        sum += length * (length - 1) / 2;
    }
    for (int level = 0; level < factor.numLevels; level++) {
        std::vector<std::pair<int, Int3>> updates; // target and source
        for (int k : columns[level])
            for (int a = factor.columnStart[k], next = firstTarget[k]; a < factor.columnStart[k + 1]; a++) {
                const int row = factor.entryRow[a], isLast = factor.level[row] == level + 1;
                updates.push_back({~(2 * row + isLast), {a, a, k}});
                for (int b = a + 1; b < factor.columnStart[k + 1]; b++)
                    updates.push_back({factor.updateTarget[next++], {b, a, k}});
            }
        std::stable_sort(updates.begin(), updates.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        levelDiagonalEnd.push_back((int) updateTarget.size());
        for (std::size_t i = 0; i < updates.size(); i++) {
            if (i == 0 || updates[i].first != updates[i - 1].first) {
                if (i > 0)
                    updateStart.push_back((int) updateSource.size());
                updateTarget.push_back(updates[i].first);
                levelDiagonalEnd.back() += updates[i].first < 0;
            }
            updateSource.push_back(updates[i].second);
        }
        if (!updates.empty())
            updateStart.push_back((int) updateSource.size());
        levelTargetStart.push_back((int) updateTarget.size());
        levelEntry.insert(levelEntry.end(), entries[level].begin(), entries[level].end());
        levelEntryStart.push_back((int) levelEntry.size());
    }
}

void ConstraintTables::addColours(const ConstraintSet& set, int firstRow, int lastRow) {
    std::map<int, std::vector<int>> coloursAt; // of rows at each particle
    std::vector<std::vector<int>> rowsOf;
    for (int row = firstRow; row < lastRow; row++) {
        std::vector<int> used;
        for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
            if (set.inverseMass[slotParticle[s]] > 0)
                used.insert(used.end(), coloursAt[slotParticle[s]].begin(), coloursAt[slotParticle[s]].end());
        int colour = 0;
        while (std::find(used.begin(), used.end(), colour) != used.end())
            colour++;
        for (int s = slotStart[row]; s < slotStart[row + 1]; s++)
            coloursAt[slotParticle[s]].push_back(colour);
        rowsOf.resize(std::max(rowsOf.size(), (std::size_t) colour + 1));
        rowsOf[colour].push_back(row);
    }
    for (const auto& rows : rowsOf) {
        colourRow.insert(colourRow.end(), rows.begin(), rows.end());
        colourRowStart.push_back((int) colourRow.size());
    }
}

} // namespace ConstraintPlugin
