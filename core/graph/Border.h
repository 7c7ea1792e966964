// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BORDER_H_
#define CONSTRAINTS_CORE_BORDER_H_

#include "ConstraintSet.h"
#include "Elimination.h"
#include <vector>

namespace ConstraintPlugin {

/** What becomes of constraints of groups, which may have any number of particles: they are left out of the
 *  clusters and solved in the border of the matrix, or they merge all clusters of their particles into one.
 *  BorderedIfLarge: merged where no more than mostMergedRows rows come together, otherwise bordered. */
enum class Centroids { Bordered, Merged, BorderedIfLarge };

/** Rows of a cluster up to which constraints of groups merge it, if that is the choice: one launch of a device
 * solves it, and a border takes many. By an estimate (docs/guide/centroids.md), not by measurement. */
constexpr int mostMergedRows = 64;
/** Pairs of a coordination number up to which it is merged likewise: one thread has the row then. */
constexpr int mostMergedPairs = 256;

/** Whether a constraint is one of groups of particles: of their centroids, or a coordination number. */
bool isOfGroups(const ConstraintSet& set, const Constraint& c);

/** Rows that are eliminated last, so that they merge no clusters:
 *
 *      ( Z  B^T ) ( lambda )             Z = J M^-1 J^T of the clusters, block by block,
 *      ( B   D  ) (   mu   ) = rhs,      B = G M^-1 J^T, D = G M^-1 G^T with the gradients G of the bordered rows
 *
 *  What is left for mu after Z is eliminated is the Schur complement S = D - B Z^-1 B^T (BorderSolver). Two bordered
 *  rows are coupled in it where they reach the same node: their own nodes, and those of clusters that have any of them.
 */
struct Border {
    struct Row {
        int constraint;
        std::vector<int> clusters; ///< that have its nodes, ascending
        std::vector<int> reach;    ///< movable nodes, ascending
    };
    std::vector<Row> rows;                ///< in order of elimination
    SymbolicFactor factor;                ///< of S
    std::vector<std::vector<int>> fields; ///< rows that reach no node in common: one field holds the responses of all
    std::vector<int> clusters;            ///< that any row reaches, ascending

    /** [bodies] whether any row reaches a joined body. */
    std::vector<char> reachedBodies(const ConstraintSet& set) const;
};

/** Make a border of some constraints beside clusters of others. @return false if the factor of S would be too large */
bool findBorder(const ConstraintSet& set, const std::vector<int>& bordered,
                const std::vector<std::vector<int>>& clusters, Border& border);

} // namespace ConstraintPlugin

#endif
