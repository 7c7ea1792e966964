// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RANK_ANALYSIS_H_
#define CONSTRAINTS_CORE_RANK_ANALYSIS_H_

#include "MatrixInversionSolver.h"
#include <vector>

namespace ConstraintPlugin {

/** The shape that a dependent set of constraints has. */
enum class Shape { Spatial, Flat, Straight };

/** Which constraints are independent at given positions. */
struct RankAnalysis {
    std::vector<int> independent; ///< constraint indices, ascending: a full-rank subset
    std::vector<int> dependent;   ///< the rest, ascending
    double smallestPivot = 1; ///< of the independent ones: squared sine of a gradient's angle with the span of those
                              ///< before; a lower bound for constraints that peel() removes
    std::vector<int> circuit; ///< constraints that are nearly dependent on each other there
    Shape shape = Shape::Spatial; ///< of the circuit

    /** Whether the gradients are dependent at these positions but not at others nearby: the pivot is zero, or nearly
     * zero in a set that is linear or planar within the rounding of its lengths (1e-4, a bend of 0.02 rad). */
    bool isSingular() const;
    /** The set is singular if its pivot is below this. */
    double leastPivot() const;
};

/** Rank of the constraints' gradients at some positions: by peel(), and for the rest by sparse LDLT of the scaled
 * matrix J J^T with unit masses (the rank does not depend on masses).
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

/** Up to this height (nm) a set of particles may be planar with rounded coordinates: ten times the rounding error of
 * the three decimals of GRO files. A larger height is not attributed to rounding, however small it is relative to the
 *  lengths. */
constexpr double largestRoundedHeight = 0.005;

/** Pivots up to this count as zero. */
constexpr double rankThreshold = 1e-9;

} // namespace ConstraintPlugin

#endif
