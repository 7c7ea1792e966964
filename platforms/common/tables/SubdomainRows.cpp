// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The subdomains of large clusters in ConstraintTables: their rows, places and tables.
#include "ConstraintTables.h"
#include <algorithm>
#include <map>

namespace ConstraintPlugin {

void ConstraintTables::addSubdomains(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster,
                                     const std::vector<Subdomain>& subdomains, int whole) {
    const int n = cluster.size(), firstSubdomain = numGeneralClusters;
    const auto constraintAt = [&](int r) { return graph.rows[cluster.begin + r]; };
    std::vector<std::vector<int>> couplingsOf(n); // by their later row
    for (int i = cluster.couplingBegin; i < cluster.couplingEnd; i++)
        couplingsOf[graph.couplings[i].row - cluster.begin].push_back(i);
    std::vector<int> ownerOf(n), subdomainOf(n), placeIn(n, -1); // placeIn: among the solved rows of the one at hand
    std::map<int, int> mover; // of a node: the first subdomain that owns a row with it
    for (int p = 0, row = numRows; p < (int) subdomains.size(); p++) {
        for (int r : subdomains[p].own)
            subdomainOf[r] = p;
        for (std::size_t i = 0; i < subdomains[p].solved.size(); i++)
            if (subdomainOf[subdomains[p].solved[i]] == p)
                ownerOf[subdomains[p].solved[i]] = row + (int) i;
        row += (int) (subdomains[p].solved.size() + subdomains[p].ring.size());
        for (int r : subdomains[p].own)
            for (int node : set.nodesOf(set.constraints[constraintAt(r)]))
                mover.emplace(nodeOf(node), p);
    }
    for (int p = 0; p < (int) subdomains.size(); p++) {
        const int first = numRows, numSolved = (int) subdomains[p].solved.size();
        for (const std::vector<int>* rows : {&subdomains[p].solved, &subdomains[p].ring})
            for (int r : *rows) {
                rowOwner.push_back(ownerOf[r]);
                rowWhole.push_back(r); // and the first row of the whole cluster
                addRow(set, constraintAt(r), true, ownerOf[r] == (int) rowOwner.size() - 1);
            }
        numRows = (int) rowOwner.size();
        solvedEnd.push_back(first + numSolved);
        addParticles(first, first + numSolved, numRows, true);
        // Every subdomain adds the impulses on a particle in the same order.
        for (std::size_t i = (std::size_t) particleStart[particleStart.size() - 2]; i < clusterParticle.size(); i++) {
            const auto constraintOfSlot = [&](int s) { return constraintOf[slotRow[s]]; };
            std::sort(
                particleSlot.begin() + particleSlotStart[i], particleSlot.begin() + particleSlotStart[i + 1],
                [&](int s, int t) { return std::pair(constraintOfSlot(s), s) < std::pair(constraintOfSlot(t), t); });
            ownsNode.push_back(mover.at(clusterParticle[i]) == p);
        }
        addClusterBodies(first, first + numSolved);
        addPlaces(first, numRows);
        for (int i = 0; i < numSolved; i++)
            placeIn[subdomains[p].solved[i]] = i;
        std::vector<Coupling> couplings;
        for (int r : subdomains[p].solved)
            for (int i : couplingsOf[r]) {
                Coupling c = graph.couplings[i];
                const int slotOfRow = c.slotRow - graph.slotStart[c.row],
                          slotOfColumn = c.slotColumn - graph.slotStart[c.column];
                c.row = placeIn[c.row - cluster.begin];
                c.column = placeIn[c.column - cluster.begin];
                if (c.column < 0)
                    continue;
                c.slotRow = slotStart[first + c.row] + slotOfRow;
                c.slotColumn = slotStart[first + c.column] + slotOfColumn;
                if (c.row < c.column) {
                    std::swap(c.row, c.column);
                    std::swap(c.slotRow, c.slotColumn);
                }
                c.entry = subdomains[p].factor.findEntry(c.row, c.column);
                couplings.push_back(c);
            }
        for (int r : subdomains[p].solved)
            placeIn[r] = -1;
        rowIsLeaf.resize(numRows);
        addFactor(subdomains[p].factor, std::move(couplings), first);
        subdomainsOfCluster.push_back({firstSubdomain, firstSubdomain + (int) subdomains.size(), whole, 0});
        endCluster(1);
    }
}

/** Let the rows of a subdomain refer to its places and its copies of bodies. */
void ConstraintTables::addPlaces(int firstRow, int lastRow) {
    const int firstPlace = particleStart[particleStart.size() - 2], firstBody = clusterBodyStart[numGeneralClusters];
    for (int i = firstPlace; i < (int) clusterParticle.size(); i++)
        placeOf[clusterParticle[i]] = i;
    for (int s = slotStart[firstRow]; s < slotStart[lastRow]; s++)
        if (placeOf[slotParticle[s]] >= 0)
            slotNode[s] = numNodes() + placeOf[slotParticle[s]];
    placeBodies.resize(clusterParticle.size(), -1);
    std::map<int, int> copyOf; // of joined bodies
    for (int n = firstBody; n < (int) clusterBody.size(); n++) {
        copyOf[clusterBody[n]] = numJoinedBodies() + n;
        bodyPlace.push_back(placeOf[numParticles + 2 * clusterBody[n]]);
        placeBodies[bodyPlace.back()] = placeBodies[bodyPlace.back() + 1] = n;
    }
    for (int row = firstRow; row < lastRow && numJoinedBodies() > 0; row++)
        if (isJoinedRow[row])
            for (int n = rowPoints[row][0]; n < rowPoints[row][1]; n++)
                if (const auto found = copyOf.find(pointNodes[n][2]); found != copyOf.end())
                    pointNodes[n][2] = found->second;
    for (int i = firstPlace; i < (int) clusterParticle.size(); i++)
        placeOf[clusterParticle[i]] = -1;
}

/** Angles have warps of their own, and so have expressions and rows in global memory, if there is room. */
int ConstraintTables::blockSizeOfSubdomain(int rows, const SubdomainCounts& counts) const {
    int threads = rows;
    const auto add = [&](int others) { threads += others > 0 ? 32 + others : 0; };
    for (CoordinateKind kind : listedKinds)
        if (isAngular(kind))
            add(counts.angles);
    add(counts.expressions);
    add(counts.globalRows);
    add(std::max(counts.joints, counts.bodies));
    return std::min(std::min(64 * ((threads + 63) / 64), maxSubdomainBlock), available.largestBlock);
}

/** Whether subdomains with at most so much stay in shared memory. */
bool ConstraintTables::fitsShared(const SubdomainCounts& counts, int blockSize) const {
    const SubdomainLayout layout(counts);
    return layout.fits() && layout.bytes(available.mixedBytes, available.numberBytes) <=
                                (long long) sizeof(float) * available.sharedNumbers(blockSize);
}

/** @param firstWhole  the first cluster of one subdomain  @param mostRows  of a bundle of more than one cluster */
ConstraintTables::Bundling ConstraintTables::bundlingOf(const std::vector<Served>& served, std::size_t firstWhole,
                                                        int mostRows) const {
    Bundling bundling;
    for (std::size_t i = 0; i < firstWhole; i++)
        for (const SubdomainCounts& counts : served[i].counts) {
            bundling.largest.include(counts);
            bundling.blocks++;
        }
    SubdomainCounts sum;
    for (std::size_t i = firstWhole; i < served.size(); i++) {
        const SubdomainCounts& next = served[i].counts[0];
        if (bundling.ends.empty() || sum.rows + next.rows > mostRows) {
            sum = next;
            bundling.ends.push_back(i + 1);
        } else {
            sum.add(next);
            bundling.ends.back() = i + 1;
        }
        bundling.largest.include(sum);
    }
    bundling.blocks += (long long) bundling.ends.size();
    return bundling;
}

/** Put clusters of one subdomain into bundles where blocks take fewer turns then. A block takes little longer for a
 * bundle than for one of its clusters, whose levels it goes through at the same time. */
std::vector<ConstraintTables::Served> ConstraintTables::inBundles(std::vector<Served> served) const {
    const auto whole =
        std::find_if(served.begin(), served.end(), [](const Served& one) { return !one.server.isSplit; });
    const auto firstWhole = (std::size_t)(whole - served.begin());
    std::stable_sort(whole, served.end(),
                     [](const Served& a, const Served& b) { return a.numRows() > b.numRows(); }); // largest first
    constexpr int step = 64, mostRows = 512;
    const Bundling alone = bundlingOf(served, firstWhole, 0);
    const auto tablesOf = [](const Bundling& b) { return b.blocks * SubdomainLayout(b.largest).tableInts(); };
    const auto turnsOf = [&](const Bundling& b) { return (b.blocks - 1) / available.waitingBlocks; };
    Bundling best = alone;
    // Without blocks that wait for each other nothing says how many there are at once.
    for (int rows = step; rows <= mostRows && available.waitingBlocks > 1; rows += step) {
        Bundling next = bundlingOf(served, firstWhole, rows);
        if (turnsOf(next) < turnsOf(best) && tablesOf(next) <= tablesOf(alone) &&
            fitsShared(next.largest, blockSizeOfSubdomain(next.largest.rows, next.largest)))
            best = std::move(next);
    }
    std::vector<Served> result(std::make_move_iterator(served.begin()), std::make_move_iterator(whole));
    std::size_t i = firstWhole;
    for (std::size_t end : best.ends) {
        result.push_back(std::move(served[i]));
        Served& bundle = result.back();
        for (i++; i < end; i++) {
            bundle.clusters.push_back(served[i].clusters[0]);
            bundle.counts[0].add(served[i].counts[0]);
        }
        bundle.server.blockSize = blockSizeOfSubdomain(bundle.counts[0].rows, bundle.counts[0]);
    }
    return result;
}

/** Tables of subdomains that stay in shared memory. */
void ConstraintTables::addSubdomainTables(const ConstraintSet& set, const Range& range,
                                          const std::vector<Served>& served) {
    if (!served[0].server.isLocal)
        return;
    SubdomainCounts counts;
    subdomainCounts.resize(range.first);
    for (const Served& one : served) {
        subdomainCounts.insert(subdomainCounts.end(), one.counts.begin(), one.counts.end());
        for (const SubdomainCounts& each : one.counts)
            counts.include(each);
    }
    const SubdomainLayout layout(counts);
    if (!layout.fits())
        return;
    layouts.emplace(range.first, SubdomainTable{layout, (int) subdomainTables.size()});
    for (int c = range.first; c < range.last; c++) {
        const std::vector<int> table = tablesOfSubdomain(layout, set, *this, c);
        subdomainTables.insert(subdomainTables.end(), table.begin(), table.end());
    }
}

} // namespace ConstraintPlugin
