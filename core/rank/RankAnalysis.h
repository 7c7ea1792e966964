// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RANK_ANALYSIS_H_
#define CONSTRAINTS_CORE_RANK_ANALYSIS_H_

#include "MatrixInversionSolver.h"
#include <vector>

namespace ConstraintPlugin {

/** The shape that a dependent set of constraints has. */
enum class Shape { Spatial, Flat, Straight };

/** Which constraints are independent, and how close the others come to it. */
struct RankAnalysis {
    std::vector<int> independent; ///< constraint indices, ascending: a full-rank subset
    std::vector<int> dependent;   ///< the rest, ascending
    double smallestPivot = 1;     ///< of the independent: squared sine of a gradient's angle with the span of those
                                  ///< before; where peel() shows it to be clear, a lower bound
    std::vector<int> circuit;     ///< constraints that nearly depend on each other there
    Shape shape = Shape::Spatial; ///< of the circuit

    /** Whether the gradients depend on each other at these positions, though not at others nearby: the pivot vanishes,
     *  or nearly so in a set that is flat or straight within the rounding of its lengths (1e-4, a bend of 0.02). */
    bool isSingular() const;
    /** The pivot below which it is. */
    double leastPivot() const;
};

/** Rank of the constraints' gradients at some positions: what peel() clearly leaves, by sparse LDLT of the scaled
 * matrix J J^T with unit masses (rank does not depend on masses).
 *
 *  @param candidates  constraints with at least one movable particle
 *  @param positions   [numParticles] nm
 *  @param threshold   pivots up to it count as zero
 *  @param time        ps, of moving constraints
 */
RankAnalysis analyzeRank(const ConstraintSet& set, const std::vector<int>& candidates, const Real3* positions,
                         const Box& box, double threshold, double time = 0);

/** The matrix J J^T of a sparse cluster's rows, scaled to unit diagonal; J has unit masses. */
void assembleUnitMatrix(const ConstraintGraph& graph, const Cluster& cluster, const Jacobian& J, SparseMatrix& matrix);

/** Up to this height (nm) a set of particles may be a plane whose coordinates were rounded: ten times what three digits
 *  leave, as in GRO files. Higher ones were meant, however small they are relative to the lengths. */
constexpr double largestRoundedHeight = 0.005;

/** Pivots up to this count as zero. */
constexpr double rankThreshold = 1e-9;

} // namespace ConstraintPlugin

#endif
