// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Which threads solve a general cluster, and which clusters one launch takes.
#include "ConstraintTables.h"
#include <algorithm>
#include <iterator>

namespace ConstraintPlugin {

namespace {

/** Slots up to which one thread solves a general cluster. */
constexpr int maxThreadSlots = 64;

int blockSizeFor(int rows) {
    return rows > 1024 ? maxBlockSize : rows > 256 ? 256 : 128;
}

} // namespace

ThreadGroupKind ConstraintTables::threadGroupOf(const ConstraintGraph& graph, const Cluster& cluster,
                                                bool hasSubdomains) const {
    if (hasSubdomains)
        return ThreadGroupKind::Subdomain;
    const int numSlots = graph.slotStart[cluster.end] - graph.slotStart[cluster.begin];
    if (!available.hasBlocks || (cluster.size() <= maxThreadRows && numSlots <= maxThreadSlots))
        return ThreadGroupKind::Thread;
    return ThreadGroupKind::Block;
}

ConstraintTables::Server ConstraintTables::serverOf(const ConstraintSet& set, const ConstraintGraph& graph,
                                                    const Cluster& cluster, const InSubdomains& inSubdomains) const {
    const std::vector<Subdomain>& subdomains = inSubdomains.subdomains;
    const bool isJoined = std::any_of(graph.rows.begin() + cluster.begin, graph.rows.begin() + cluster.end,
                                      [&](int k) { return set.isJoined(set.constraints[k]); });
    const ThreadGroupKind group = threadGroupOf(graph, cluster, !subdomains.empty());
    Server server{isJoined,
                  isClusterAtBorder(set, graph.rows[cluster.begin]),
                  group,
                  cluster.kind == ClusterSolverKind::Iterative,
                  64,
                  false,
                  subdomains.size() > 1,
                  (int) subdomains.size() > available.waitingBlocks,
                  false,
                  inSubdomains.cut};
    if (group == ThreadGroupKind::Subdomain) {
        int rows = 0, numbers = 0;
        for (const Subdomain& subdomain : subdomains) {
            rows = std::max(rows, subdomain.factor.size() + (int) subdomain.ring.size());
            numbers = std::max(numbers, 2 * (subdomain.factor.size() + (int) subdomain.factor.entryRow.size()));
        }
        SubdomainCounts largest;
        for (const SubdomainCounts& each : inSubdomains.counts)
            largest.include(each);
        server.blockSize = blockSizeOfSubdomain(rows, largest);
        server.isShared = numbers <= available.sharedNumbers(server.blockSize);
        server.isLocal = !inSubdomains.counts.empty() && fitsShared(largest, server.blockSize);
    }
    if (group == ThreadGroupKind::Block) {
        server.blockSize = std::min(blockSizeFor(cluster.size()), available.largestBlock);
        server.isShared =
            cluster.factor >= 0 && 2LL * (cluster.size() + (int) graph.factors[cluster.factor].entryRow.size()) <=
                                       available.sharedNumbers(server.blockSize);
    }
    return server;
}

void ConstraintTables::addGeneral(const ConstraintSet& set, const ConstraintGraph& graph) {
    std::vector<Served> served;
    for (const Cluster& cluster : graph.clusters) {
        InSubdomains inSubdomains = subdomainsFor(set, graph, cluster, available.hasSubdomains);
        const Server server = serverOf(set, graph, cluster, inSubdomains);
        served.push_back({server, {&cluster}, std::move(inSubdomains.subdomains), std::move(inSubdomains.counts)});
    }
    std::stable_sort(served.begin(), served.end(),
                     [](const Served& a, const Served& b) { return a.server < b.server; });
    rowStart = {numRows};
    particleStart = particleSlotStart = entryStart = couplingStart = {0};
    levelStart = levelTargetStart = levelEntryStart = updateStart = {0};
    colourStart = colourRowStart = clusterBodyStart = {0};
    for (int row = 0; row < numRows; row++) {
        rowOwner.push_back(row);
        rowWhole.push_back(row);
    }
    for (std::size_t first = 0, last = 0; first < served.size(); first = last) {
        last = endOfRange(served, first);
        std::vector<Served> ofRange(std::make_move_iterator(served.begin() + (std::ptrdiff_t) first),
                                    std::make_move_iterator(served.begin() + (std::ptrdiff_t) last));
        addRange(set, graph, ofRange[0].server.isLocal ? inBundles(std::move(ofRange)) : ofRange);
    }
}

/** Those that are served alike, and after them others that need less, if they are few. Subdomains that stay in shared
 * memory fill a multiprocessor each, whatever they need, as long as the most of all fits: those that are served alike
 * are not taken apart. */
std::size_t ConstraintTables::endOfRange(const std::vector<Served>& served, std::size_t first) const {
    const Server& server = served[first].server;
    SubdomainCounts largest;
    int blockSize = 0;
    std::size_t last = first;
    while (last < served.size()) {
        const Server& next = served[last].server;
        blockSize = std::max(blockSize, next.blockSize);
        std::size_t end = last;
        for (; end < served.size() && !(next < served[end].server); end++)
            for (const SubdomainCounts& counts : served[end].counts)
                largest.include(counts);
        const bool isOther = next.isJoined != server.isJoined || next.isAtBorder != server.isAtBorder ||
                             next.group != server.group || next.isIterative != server.isIterative ||
                             next.exceedsDevice != server.exceedsDevice || next.isLocal != server.isLocal ||
                             next.cut != server.cut;
        const bool needsOwn = server.isLocal ? !fitsShared(largest, blockSize) : (int) (end - last) >= minOwnRange;
        if (last > first && (isOther || needsOwn))
            break;
        last = end;
    }
    return last;
}

void ConstraintTables::addRange(const ConstraintSet& set, const ConstraintGraph& graph,
                                const std::vector<Served>& served) {
    const Server& server = served[0].server;
    Range range{server.group,       server.isIterative,
                server.isJoined,    server.isAtBorder,
                server.isSplit,     server.exceedsDevice,
                server.blockSize,   numGeneralClusters,
                numGeneralClusters, 0,
                server.cut};
    for (const Served& one : served) {
        range.last += std::max((int) one.subdomains.size(), 1);
        range.blockSize = std::max(range.blockSize, one.server.blockSize);
    }
    int whole = range.last; // of the next cluster that has several subdomains
    for (const Served& one : served)
        if (one.subdomains.size() > 1)
            addSubdomains(set, graph, *one.clusters[0], one.subdomains, whole++);
        else
            addWhole(set, graph, one.clusters, !one.subdomains.empty(), false);
    std::size_t subdomain = (std::size_t) range.first;
    for (const Served& one : served) {
        const std::size_t end = subdomain + std::max(one.subdomains.size(), (std::size_t) 1);
        if (one.subdomains.size() > 1) {
            for (int row = rowStart[subdomain]; row < rowStart[end]; row++)
                rowWhole[row] += numRows;
            addWhole(set, graph, one.clusters, true, true);
        }
        subdomain = end;
    }
    range.end = numGeneralClusters;
    ranges.push_back(range);
    addSubdomainTables(set, range, served);
}

} // namespace ConstraintPlugin
