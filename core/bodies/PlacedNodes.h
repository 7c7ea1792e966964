// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PLACED_NODES_H_
#define CONSTRAINTS_CORE_PLACED_NODES_H_

#include "LengthGraph.h"
#include "ShapeFit.h"
#include <vector>

namespace ConstraintPlugin {

/** Nodes in a fixed shape: on the x axis, in the plane z = 0 or in space. */
struct PlacedNodes {
    std::vector<int> nodes;    ///< ascending
    std::vector<Real3> points; ///< [nodes] nm
    int dimension = 3;         ///< 1, 2 or 3
    bool isSingular = false;   ///< plain distances would be singular: it is on a line, in a plane, or has such a part
    /** Within rounding of a plane: it was put there, though its lengths may say otherwise by what rounding explains. */
    bool isRounded = false;
    /** Pairs of nodes, the smaller one first, whose length contradicts all others. */
    std::vector<std::pair<int, int>> wrong{};

    int size() const {
        return (int) nodes.size();
    }
    /** @return where a node stands in the lists, or -1 */
    int find(int node) const;
    const Real3& at(int node) const {
        return points[find(node)];
    }
    void insert(int node, const Real3& point);
};

/** How much larger than the tolerance a misfit may be before all nodes of a body are fitted together. */
constexpr double slackBeforeFit = 4;

/** Largest misfit of the lengths among some nodes; the node that fits worst. */
struct WorstFit {
    double misfit = 0;
    int node = -1;
};
/** @param lengths  by place in the body's list */
WorstFit findWorstFit(const std::vector<KnownLength>& lengths, const PlacedNodes& body);

/** Lengths among some nodes, numbered by their place in the list. */
std::vector<KnownLength> lengthsAmong(const LengthGraph& graph, const std::vector<int>& nodes);

/** Whether the longest side of a triangle is the sum of the others. */
inline bool isStraight(double ab, double ac, double bc, double tolerance) {
    const double longest = std::max({ab, ac, bc});
    return std::abs(2 * longest - ab - ac - bc) <= tolerance * longest;
}

/** Find every straight body by triangles whose longest side is the sum of the others, and by nodes with two lengths to
 *  a body that fit a place on its line.
 *  @param tolerance  relative difference of lengths up to which they fit */
std::vector<PlacedNodes> findLines(const LengthGraph& graph, double tolerance);

} // namespace ConstraintPlugin

#endif
