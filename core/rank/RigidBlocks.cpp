// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RigidBlocks.h"
#include "BodyFit.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

/** Particles by number, then bodies, then what does not move. */
class Vertices {
public:
    Vertices(const ConstraintSet& set, const Real3* positions, const Box& box)
        : set(set), positions(positions), box(box), isHeld(set.bodies.size()) {
        for (std::size_t b = 0; b < set.bodies.size(); b++) {
            const RigidBody& body = set.bodies[b];
            isHeld[b] = std::any_of(body.particles.begin(), body.particles.end(),
                                    [&](int p) { return !(set.inverseMass[p] > 0); });
            for (int i = 0; i < body.size() && body.isJoined && body.periodic; i++) {
                const Real3 r = positions[body.particles[i]] - positions[body.particles[body.reference]];
                isHeld[b] = isHeld[b] || norm(fromReference(body, i, positions, box) - r) > 1e-6;
            }
        }
    }
    int count() const {
        return set.numParticles() + (int) set.bodies.size() + 1;
    }
    /** What a constraint connects. */
    std::vector<int> of(const Constraint& c) const {
        std::vector<int> vertices;
        bool isInvariant = isInternal(c);
        for (int node : set.nodesOf(c)) {
            const int i = node - set.numParticles();
            isInvariant = isInvariant && (i >= 0 ? !isHeld[i / 2] : set.inverseMass[node] > 0);
            if (i >= 0 ? i % 2 == 0 : set.inverseMass[node] > 0) // a body's turn comes with its origin
                vertices.push_back(i >= 0 ? set.numParticles() + i / 2 : node);
        }
        for (int p : c.particles) // an anchor of a body
            isInvariant = isInvariant && set.inverseMass[p] > 0;
        if (!isInvariant || vertices.size() == 1)
            vertices.push_back(count() - 1);
        return vertices;
    }

private:
    /** Whether no rigid motion of all its particles changes it. */
    bool isInternal(const Constraint& c) const {
        if (c.joint[0] >= 0)
            return true;
        if (c.kind == CoordinateKind::Custom || c.kind == CoordinateKind::AffinePosition)
            return false;
        for (int s = 0; s + 1 < c.size() && c.periodic; s++) {
            const Real3 r = positions[c.particles[s]] - positions[c.particles[s + 1]];
            if (norm(box.minimumImage(r) - r) > 1e-6)
                return false;
        }
        return true;
    }
    const ConstraintSet& set;
    const Real3* positions;
    const Box& box;
    std::vector<char> isHeld; // [bodies] it has an anchor, or particles at different images
};

struct Edge {
    int to, row;
};

/** Numbers of the blocks that edges are in, by depth-first search.
 *  Source: Hopcroft, Tarjan, Commun. ACM 16, 372 (1973), doi:10.1145/362248.362272. */
class BlockSearch {
public:
    /** @param edges  [vertices] both ways */
    BlockSearch(const std::vector<std::vector<Edge>>& edges, int numRows)
        : blockOf(numRows, -1), edges(edges), depth(edges.size(), -1), low(edges.size()), next(edges.size()) {
        for (int v = 0; v < (int) edges.size(); v++)
            if (depth[v] < 0)
                search(v);
    }
    std::vector<int> blockOf; ///< [rows]
    int numBlocks = 0;

private:
    void search(int root) {
        std::vector<int> path{root}, rows; // rows: of edges whose block is not complete
        std::vector<std::size_t> firstRow{0};
        depth[root] = low[root] = 0;
        while (!path.empty()) {
            const int v = path.back();
            if (next[v] < edges[v].size()) {
                const Edge& edge = edges[v][next[v]++];
                if (depth[edge.to] < 0) {
                    depth[edge.to] = low[edge.to] = (int) path.size();
                    path.push_back(edge.to);
                    firstRow.push_back(rows.size());
                    rows.push_back(edge.row);
                } else {
                    if (path.size() < 2 || edge.to != path[path.size() - 2])
                        low[v] = std::min(low[v], depth[edge.to]);
                    rows.push_back(edge.row);
                }
                continue;
            }
            path.pop_back();
            if (path.empty())
                return;
            const int before = path.back();
            low[before] = std::min(low[before], low[v]);
            if (low[v] >= depth[before]) { // all that is behind it is connected to the rest there only
                for (std::size_t i = firstRow.back(); i < rows.size(); i++)
                    if (blockOf[rows[i]] < 0)
                        blockOf[rows[i]] = numBlocks;
                rows.resize(firstRow.back());
                numBlocks++;
            }
            firstRow.pop_back();
        }
    }
    const std::vector<std::vector<Edge>>& edges;
    std::vector<int> depth, low;
    std::vector<std::size_t> next;
};

} // namespace

std::vector<std::vector<int>> findRigidBlocks(const ConstraintSet& set, const std::vector<int>& constraints,
                                              const Real3* positions, const Box& box) {
    const Vertices vertices(set, positions, box);
    std::vector<std::vector<Edge>> edges(vertices.count());
    for (int row = 0; row < (int) constraints.size(); row++) { // a ring through all vertices keeps them in one block
        const std::vector<int> of = vertices.of(set.constraints[constraints[row]]);
        for (std::size_t i = 0; i < of.size() && of.size() > 1; i++) {
            const int a = of[i], b = of[(i + 1) % of.size()];
            edges[a].push_back({b, row});
            edges[b].push_back({a, row});
        }
    }
    const BlockSearch search(edges, (int) constraints.size());
    std::vector<std::vector<int>> blocks(search.numBlocks);
    for (std::size_t row = 0; row < constraints.size(); row++)
        if (search.blockOf[row] >= 0)
            blocks[search.blockOf[row]].push_back(constraints[row]);
        else // of nothing that moves
            blocks.push_back({constraints[row]});
    blocks.erase(std::remove_if(blocks.begin(), blocks.end(), [](const auto& block) { return block.empty(); }),
                 blocks.end());
    return blocks;
}

} // namespace ConstraintPlugin
