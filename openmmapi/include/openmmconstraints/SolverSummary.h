// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SOLVER_SUMMARY_H_
#define OPENMM_CONSTRAINTS_SOLVER_SUMMARY_H_

#include <string>
#include <vector>

namespace ConstraintPlugin {

/** What the solver did in the last step (position and velocity stage together). Plain data, copied out. */
struct SolverSummary {
    bool converged = true;    ///< every constraint met the tolerance (true before the first solve)
    int iterations = 0;       ///< largest number of iterations any cluster needed in any stage
    double maxError = 0.0;    ///< error of the worst constraint, dependent ones included: relative for distances
    double tolerance = 0.0;   ///< what was solved to: the integrator's, or the smallest that the precision reaches
    int worstConstraint = -1; ///< its index: System constraints first, then each Force's; -1 if there is none
    std::string solver;       ///< what served the clusters, e.g. "MatrixInversion (closed form, sparse LDLT/LU)"
    int clusters = 0;         ///< number of independent clusters
    std::string note;         ///< clusters for which Automatic had to take the slower solver, and why; empty: none
    /** Distances and angles of a straight or flat set are those of the straight or flat shape that fits the given ones
     *  best, within 1e-4: maxError is measured against these. Here, the largest difference of a fitted value from the
     *  given one: relative for distances, rad for angles. Zero if there is no such set. */
    double fitDeviation = 0.0;
    int fittedConstraint = -1; ///< index of the constraint with that difference; -1 if there is no such set

    /** One readable line with all of the above. */
    std::string str() const;
};

/** Clusters of one shape, all served by the same solver. */
struct ClusterInfo {
    int count = 0;               ///< how many such clusters
    int constraints = 0;         ///< independent constraints in each
    int particles = 0;           ///< particles in each
    std::string solver;          ///< "iterative", "closed form 1x1" ... "closed form 3x3", "dense LU", "sparse LDLT/LU"
    int levels = 0;              ///< depth of the elimination tree; 1 where there is none
    long long factorEntries = 0; ///< off-diagonal entries of the triangular factor (fill included)
    std::string note; ///< why Automatic took the slower solver: how large the factor would be; empty: it did not
};

} // namespace ConstraintPlugin

#endif
