// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PLATE_FINDER_H_
#define CONSTRAINTS_CORE_PLATE_FINDER_H_

#include "LengthGraph.h"
#include "ShapeFit.h"
#include <set>
#include <unordered_map>
#include <vector>

namespace ConstraintPlugin {

/** Nodes in a fixed shape: on the x axis (a line), in the plane z = 0 (a plate) or in space. */
struct PlacedNodes {
    std::vector<int> nodes;    ///< ascending
    std::vector<Real3> points; ///< [nodes] nm

    int size() const {
        return (int) nodes.size();
    }
    /** @return where a node stands in the lists, or -1 */
    int find(int node) const;
    void insert(int node, const Real3& point);
};

/** Find every straight body by triangles whose longest side is the sum of the others, and by nodes with two lengths to
 *  a body that fit a place on its line.
 *  @param tolerance  relative difference of lengths up to which they fit */
std::vector<PlacedNodes> findLines(const LengthGraph& graph, double tolerance);

/** Finds plates: flat sets of nodes that are rigid. A node is added that hangs by three lengths or more on nodes of the
 *  plate not on one line, and fits in its plane, or that lies on a line with two nodes of the plate. What it starts
 * from is a triangle, or a set that findStressedPlates proves rigid. */
class PlateFinder {
public:
    /** @param graph  lengths, those between any two nodes of a line included; only what every node has three of */
    PlateFinder(const LengthGraph& graph, std::vector<PlacedNodes> lines, double tolerance);

    void run();

    std::vector<PlacedNodes> plates;
    const LengthGraph& graph;
    const std::vector<PlacedNodes> lines;
    const double tolerance;
    /** Sets that trilateration holds rigid in space, with gradients independent of each other but for redundancy. */
    std::vector<PlacedNodes> spatialBodies;

    /** @return the length between two nodes, given or within a plate, or a negative number */
    double knownLength(int i, int j) const;
    /** Nodes that lie on lines with two others of the set, and that no length from beside the line holds. */
    std::vector<PointOnLine> pointsOnLines(const std::vector<int>& nodes) const;
    /** Whether nodes are flat for no other reason than that all but one lie on a line. */
    bool isLineAndOneMore(const std::vector<int>& nodes) const;
    /** Whether two nodes, or all of a set, are in one body of a list. */
    static bool contains(const std::vector<PlacedNodes>& bodies, const std::vector<std::vector<int>>& bodiesOf,
                         const std::vector<int>& nodes);
    std::vector<std::vector<int>> platesOf, linesOf, spatialOf; ///< [nodes] bodies that each is part of

private:
    std::set<int> linesThrough(const std::vector<int>& nodes) const;
    void growFromTriangles();
    void growFromPlates();
    void growInSpace(const std::vector<int>& nodes, const std::vector<Real3>& points);
    /** Grow a set proven rigid as far as it goes. @return whether a plate that was not there came of it */
    bool growInPlane(const PlacedNodes& seed);
    PlacedNodes extend(const PlacedNodes& seed, const std::set<int>& excluded) const;
    /** Take a plate in, in place of those that it contains. Of two that share a triangle and yet do not fit into one
     * plane within the tolerance the larger stays. @return whether it was taken in */
    bool addPlate(PlacedNodes plate);

    long long
        effortLeft; ///< for plates that come to nothing: a clique with one wrong length may fail from each triangle
};

/** Largest misfit of the lengths among some nodes; the node that fits worst. */
struct WorstFit {
    double misfit = 0;
    int node = -1;
};
WorstFit findWorstFit(const LengthGraph& graph, const PlacedNodes& body);

/** Lengths among some nodes, numbered by their place in the list. */
std::vector<KnownLength> lengthsAmong(const LengthGraph& graph, const std::vector<int>& nodes);

/** How much larger than the tolerance a misfit may be before all nodes of a body are fitted together. */
constexpr double slackBeforeFit = 4;

} // namespace ConstraintPlugin

#endif
