// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_LENGTH_GRAPH_H_
#define CONSTRAINTS_CORE_LENGTH_GRAPH_H_

#include "ConstraintSet.h"
#include <algorithm>
#include <vector>

namespace ConstraintPlugin {

/** Two nodes at a known distance. */
struct KnownLength {
    int i, j;
    double length; ///< nm
};

/** Nodes (particles, numbered anew) joined by known lengths; a pair is joined once. */
class LengthGraph {
public:
    struct Neighbour {
        int node;
        double length; ///< nm
    };
    struct Range {
        const Neighbour *first, *last;
        const Neighbour* begin() const {
            return first;
        }
        const Neighbour* end() const {
            return last;
        }
        int size() const {
            return (int) (last - first);
        }
    };

    /** @param particle  [nodes] ascending
     *  @param lengths   by node; of a pair that is there twice the first counts */
    LengthGraph(std::vector<int> particle, const std::vector<KnownLength>& lengths);

    int size() const {
        return (int) particle.size();
    }
    Range of(int node) const {
        return {list.data() + start[node], list.data() + start[node + 1]};
    }
    /** @return the length between two nodes, or a negative number */
    double find(int i, int j) const;
    std::vector<KnownLength> lengths() const;
    /** The part that consists of some nodes (ascending). */
    LengthGraph part(const std::vector<int>& nodes) const;
    /** Sets of nodes that lengths connect, each ascending. */
    std::vector<std::vector<int>> components() const;

    /** Call visit(a, b, c, |ab|, |ac|, |bc|) for each triangle of known lengths. Each length is listed at its end of
     *  fewer neighbours: a hub of a million bonds then costs no more than its bonds.
     *  @param groupOf  (a, b) -> number of a group that has both, and all whose triangles are to be left out, or -1; it
     *                  may change while triangles are visited */
    template <class Visit, class GroupOf>
    void visitTriangles(Visit visit, GroupOf groupOf) const {
        std::vector<Neighbour> higher;
        for (int a = 0; a < size(); a++) {
            higher.clear();
            for (const Neighbour& n : of(a))
                if (isBefore(a, n.node))
                    higher.push_back(n);
            for (std::size_t b = 0; b < higher.size(); b++) {
                const int group = groupOf(a, higher[b].node);
                for (std::size_t c = b + 1; c < higher.size(); c++) {
                    if (group >= 0 && groupOf(a, higher[c].node) == group)
                        continue;
                    const double third = find(higher[b].node, higher[c].node);
                    if (third >= 0)
                        visit(a, higher[b].node, higher[c].node, higher[b].length, higher[c].length, third);
                }
            }
        }
    }
    template <class Visit>
    void visitTriangles(Visit visit) const {
        visitTriangles(visit, [](int, int) { return -1; });
    }

    std::vector<int> particle; ///< [nodes] ascending

private:
    bool isBefore(int i, int j) const {
        return std::pair(of(i).size(), i) < std::pair(of(j).size(), j);
    }
    std::vector<int> start;
    std::vector<Neighbour> list;
};

/** The lengths that a ConstraintSet's distances and angles give, without particles that are not part of any ring.
 *  @param mayReplace  [constraints] which count; empty: all
 *  @param tolerance   an angle within it of 180 degrees is straight (rad) */
LengthGraph makeLengthGraph(const ConstraintSet& set, const std::vector<char>& mayReplace, double tolerance);

} // namespace ConstraintPlugin

#endif
