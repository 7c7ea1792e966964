// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SOLVER_SUMMARY_H_
#define OPENMM_CONSTRAINTS_SOLVER_SUMMARY_H_

#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Result of the solver in the last step (position and velocity stage together). Plain data. */
struct SolverSummary {
    bool converged = true;    ///< every constraint met the tolerance (true before the first solve)
    int iterations = 0;       ///< largest number of iterations any cluster needed in any stage
    double maxError = 0.0;    ///< error of the worst constraint, dependent ones included: relative for distances
    double tolerance = 0.0;   ///< the tolerance used: the integrator's, or the smallest that the precision allows
    int worstConstraint = -1; ///< its index: System constraints first, then each Force's; -1 if there is none
    /** Solvers of the clusters, e.g. "MatrixInversion (closed form, sparse LDLT/LU)". Constraints of groups join no
     *  clusters on the Reference and CPU platforms: "and a border of 2 rows" are two of these. */
    std::string solver;
    int clusters = 0; ///< number of clusters; a rigid body that nothing joins is one, too, and the border is one
    std::string note; ///< clusters for which Automatic selected Iterative, and why; empty: none
    /** Distances and angles that hold a rigid body are replaced by those of the shape that fits them best, within 1e-4.
     * This is the largest difference of a fitted value from the given one: relative for distances, rad for angles. Zero
     * if there is no such body. maxError does not count these constraints: the body has its shape to rounding. */
    double fitDeviation = 0.0;
    int fittedConstraint = -1; ///< index of the constraint with that difference; -1 if there is no such body
    /** Constraints whose particles are all in one rigid body, other than those that it is recognized from: it holds
     *  them, so they are not solved, their multipliers are 0, and maxError does not count them. */
    int absorbed = 0;
    /** The largest difference of their values from those in the body's shape, which are held: relative for distances,
     *  rad for angles and dihedrals. */
    double absorbedDeviation = 0.0;
    int absorbedConstraint = -1; ///< index of the constraint with that difference; -1 if none is absorbed
    /** The largest distance (nm) by which a particle of a linear body, or of a hinge, was moved onto a line, from the
     * positions given to addRigidBody(). */
    double lineShift = 0.0;
    int joinedBodies = 0; ///< rigid bodies that constraints or other bodies join
    int joints = 0;       ///< particles that such bodies share, once for each body beyond the first: a hinge has two

    /** One readable line with all of the above. */
    std::string str() const;
};

/** Clusters of one shape, all served by the same solver. */
struct ClusterInfo {
    int count = 0;               ///< how many such clusters
    int constraints = 0;         ///< degrees of freedom that each removes, with those of its rigid bodies
    int particles = 0;           ///< particles in each
    std::string solver;          ///< "iterative", "closed form 1x1" ... "closed form 3x3", "dense LU",
                                 ///< "sparse LDLT/LU", "rigid body", "border": constraints of groups
    int levels = 0;              ///< depth of the elimination tree; 1 where there is none
    long long factorEntries = 0; ///< off-diagonal entries of the triangular factor (fill included)
    std::string note;    ///< why Automatic selected Iterative: how large the factor would be; empty if it did not
    int equations = 0;   ///< independent constraints that are solved together; as many as constraints, but for bodies
    int rigidBodies = 0; ///< rigid bodies of addRigidBody() in each, which the equations join if there are any
};

} // namespace ConstraintPlugin

#endif
