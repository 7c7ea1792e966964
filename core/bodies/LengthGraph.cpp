// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "LengthGraph.h"
#include <unordered_map>

namespace ConstraintPlugin {

LengthGraph::LengthGraph(std::vector<int> particle, const std::vector<KnownLength>& lengths)
    : particle(std::move(particle)), start(this->particle.size() + 1) {
    for (const KnownLength& l : lengths) {
        start[l.i + 1]++;
        start[l.j + 1]++;
    }
    for (int i = 0; i < size(); i++)
        start[i + 1] += start[i];
    list.resize(2 * lengths.size());
    std::vector<int> next(start.begin(), start.end() - 1);
    for (const KnownLength& l : lengths) {
        list[next[l.i]++] = {l.j, l.length};
        list[next[l.j]++] = {l.i, l.length};
    }
    // Sort each node's neighbours and take out those that are there twice.
    int end = 0;
    for (int i = 0; i < size(); i++) {
        const auto first = list.begin() + start[i], last = list.begin() + next[i];
        std::stable_sort(first, last, [](const Neighbour& a, const Neighbour& b) { return a.node < b.node; });
        start[i] = end;
        for (auto n = first; n != last; ++n)
            if (end == start[i] || list[end - 1].node != n->node)
                list[end++] = *n;
    }
    start[size()] = end;
    list.resize(end);
}

double LengthGraph::find(int i, int j) const {
    if (of(i).size() > of(j).size())
        std::swap(i, j);
    const Range range = of(i);
    const Neighbour* n =
        std::lower_bound(range.begin(), range.end(), j, [](const Neighbour& a, int node) { return a.node < node; });
    return n != range.end() && n->node == j ? n->length : -1;
}

std::vector<KnownLength> LengthGraph::lengths() const {
    std::vector<KnownLength> lengths;
    for (int i = 0; i < size(); i++)
        for (const Neighbour& n : of(i))
            if (i < n.node)
                lengths.push_back({i, n.node, n.length});
    return lengths;
}

LengthGraph LengthGraph::part(const std::vector<int>& nodes) const {
    std::vector<int> particles;
    std::vector<KnownLength> inside;
    for (int i = 0; i < (int) nodes.size(); i++) {
        particles.push_back(particle[nodes[i]]);
        int j = i; // both lists ascend
        for (const Neighbour& n : of(nodes[i])) {
            j = (int) (std::lower_bound(nodes.begin() + j, nodes.end(), n.node) - nodes.begin());
            if (j < (int) nodes.size() && nodes[j] == n.node && j > i)
                inside.push_back({i, j, n.length});
        }
    }
    return LengthGraph(std::move(particles), inside);
}

std::vector<std::vector<int>> LengthGraph::components() const {
    std::vector<std::vector<int>> components;
    std::vector<char> seen(size());
    for (int i = 0; i < size(); i++) {
        if (seen[i])
            continue;
        std::vector<int> component{i};
        seen[i] = 1;
        for (std::size_t k = 0; k < component.size(); k++)
            for (const Neighbour& n : of(component[k]))
                if (!seen[n.node]) {
                    seen[n.node] = 1;
                    component.push_back(n.node);
                }
        std::sort(component.begin(), component.end());
        components.push_back(std::move(component));
    }
    return components;
}

namespace {

long long key(int i, int j) {
    return (long long) std::min(i, j) << 32 | std::max(i, j);
}

/** The third side of each angle between two known distances. */
void addSidesOfAngles(const ConstraintSet& set, const std::vector<int>& angles, double flatness,
                      std::vector<KnownLength>& lengths) {
    std::unordered_map<long long, double> bonds;
    for (int k : angles) {
        const auto& p = set.constraints[k].particles;
        bonds[key(p[0], p[1])] = bonds[key(p[1], p[2])] = -1;
    }
    for (const KnownLength& l : lengths) {
        const auto bond = bonds.find(key(l.i, l.j));
        if (bond != bonds.end() && bond->second < 0)
            bond->second = l.length;
    }
    for (int k : angles) {
        const Constraint& c = set.constraints[k];
        const auto& p = c.particles;
        const double a = bonds[key(p[0], p[1])], b = bonds[key(p[1], p[2])];
        const double square = a * a + b * b - 2 * a * b * std::cos(c.target);
        // Near 0 and 180 degrees the side hardly tells the angle.
        const bool isStraight = std::abs(c.target - std::acos(-1.0)) <= flatness;
        const bool isClear = isStraight || std::sin(c.target) > 0.03;
        if (a > 0 && b > 0 && p[0] != p[2] && square > 0 && isClear)
            lengths.push_back({p[0], p[2], std::sqrt(square)});
    }
}

/** Take out lengths that no ring contains: one end after another that has no other. */
void pruneTrees(int numParticles, std::vector<KnownLength>& lengths) {
    // The exclusive or of a particle's lengths is its last one when one is left: no lists are needed.
    struct Ends {
        int count = 0, combined = 0;
    };
    std::vector<Ends> at(numParticles);
    auto toggle = [&](int p, int l, int change) {
        at[p].count += change;
        at[p].combined ^= l;
    };
    for (int l = 0; l < (int) lengths.size(); l++) {
        toggle(lengths[l].i, l, 1);
        toggle(lengths[l].j, l, 1);
    }
    std::vector<char> isOut(lengths.size());
    for (int first = 0; first < numParticles; first++)
        for (int p = first; at[p].count == 1;) {
            const int l = at[p].combined;
            isOut[l] = 1;
            const int other = lengths[l].i == p ? lengths[l].j : lengths[l].i;
            toggle(p, l, -1);
            toggle(other, l, -1);
            p = other;
        }
    std::size_t kept = 0;
    for (std::size_t l = 0; l < lengths.size(); l++)
        if (!isOut[l])
            lengths[kept++] = lengths[l];
    lengths.resize(kept);
}

} // namespace

LengthGraph makeLengthGraph(const ConstraintSet& set, const std::vector<char>& mayReplace, double tolerance) {
    std::vector<KnownLength> lengths;
    std::vector<int> angles;
    lengths.reserve(set.constraints.size());
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (!mayReplace.empty() && !mayReplace[k])
            continue;
        if (c.kind == CoordinateKind::Distance && c.particles[0] != c.particles[1] && c.target > 0)
            lengths.push_back({c.particles[0], c.particles[1], c.target});
        else if (c.kind == CoordinateKind::Angle)
            angles.push_back(k);
    }
    if (!angles.empty())
        addSidesOfAngles(set, angles, tolerance, lengths);
    pruneTrees(set.numParticles(), lengths);
    if (lengths.empty())
        return LengthGraph({}, {});
    std::vector<int> node(set.numParticles(), -1), particle;
    for (const KnownLength& l : lengths)
        node[l.i] = node[l.j] = 0;
    for (int p = 0; p < set.numParticles(); p++)
        if (node[p] == 0) {
            node[p] = (int) particle.size();
            particle.push_back(p);
        }
    for (KnownLength& l : lengths)
        l = {node[l.i], node[l.j], l.length};
    return LengthGraph(std::move(particle), lengths);
}

} // namespace ConstraintPlugin
