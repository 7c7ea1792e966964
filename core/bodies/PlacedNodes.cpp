// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PlacedNodes.h"

namespace ConstraintPlugin {

int PlacedNodes::find(int node) const {
    const auto it = std::lower_bound(nodes.begin(), nodes.end(), node);
    return it != nodes.end() && *it == node ? (int) (it - nodes.begin()) : -1;
}

void PlacedNodes::insert(int node, const Real3& point) {
    const auto at = std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin();
    nodes.insert(nodes.begin() + at, node);
    points.insert(points.begin() + at, point);
}

std::vector<KnownLength> lengthsAmong(const LengthGraph& graph, const std::vector<int>& nodes) {
    std::vector<KnownLength> lengths;
    const int n = (int) nodes.size();
    for (int i = 0; i < n; i++) {
        const LengthGraph::Range range = graph.of(nodes[i]);
        if (range.size() > 4 * n) { // a hub
            for (int j = i + 1; j < n; j++)
                if (const double length = graph.find(nodes[i], nodes[j]); length >= 0)
                    lengths.push_back({i, j, length});
            continue;
        }
        int j = i + 1;
        for (const LengthGraph::Neighbour& neighbour : range) { // both lists ascend
            while (j < n && nodes[j] < neighbour.node)
                j++;
            if (j < n && nodes[j] == neighbour.node)
                lengths.push_back({i, j, neighbour.length});
        }
    }
    return lengths;
}

WorstFit findWorstFit(const std::vector<KnownLength>& lengths, const PlacedNodes& body) {
    WorstFit worst;
    std::vector<double> sum(body.size());
    for (const KnownLength& l : lengths) {
        const double m = misfit(body.points, l);
        worst.misfit = std::max(worst.misfit, std::isfinite(m) ? m : HUGE_VAL);
        sum[l.i] += m * m;
        sum[l.j] += m * m;
    }
    if (!sum.empty())
        worst.node = body.nodes[std::max_element(sum.begin(), sum.end()) - sum.begin()];
    return worst;
}

} // namespace ConstraintPlugin
