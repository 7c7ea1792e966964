// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_STAGED_PROJECTION_H_
#define CONSTRAINTS_CORE_STAGED_PROJECTION_H_

#include "Jacobian.h"

namespace ConstraintPlugin {

/** Two particles whose distance is kept during a projection from far off. */
struct HeldPair {
    int particle1, particle2;
    bool isBond; ///< otherwise second neighbours, whose distance is released before bonds if constraints contradict it
    bool periodic; ///< whether the minimum image is used
};

/** Projects positions that are far off onto their constraints in stages: the values of the constraints change linearly
 *  from their present values to their targets, dihedrals in the shorter direction, while bond lengths and the distances
 *  of second neighbours are kept. In a single stage, or if no distances are kept, particles that a dihedral rotates
 * would move along a straight line: bonds would stretch, and angles would open up to 180 degrees.
 *
 *  A stage is solved by Newton's method for sigma of the constraints and tau of the held distances,
 *
 *      dx = M^-1 J^T lambda,   (J M^-1 J^T + epsilon D) lambda = -(sigma, tau),
 *
 *  D the diagonal of J M^-1 J^T for held distances and 0 for constraints. Held distances depend on each other in rings
 * and in planar groups, so J M^-1 J^T is singular. With a small epsilon (Levenberg, Q. Appl. Math. 2, 164 (1944)) it
 * always has a factor L D L^T.
 *
 *  Only molecules with a constraint that is far off are moved. Their other constraints keep their present values; a
 * solve afterwards removes the remaining small errors. */
class StagedProjection {
public:
    /** @param set        the constraints
     *  @param solved     those to satisfy, independent of each other
     *  @param held       pairs of particles, not necessarily independent of these or of each other
     *  @param positions  [numParticles] nm, initial positions
     *  @param time       ps, of the targets */
    StagedProjection(const ConstraintSet& set, const std::vector<int>& solved, const std::vector<HeldPair>& held,
                     const Real3* positions, const Box& box, double time);
    /** Whether a distance is kept in the molecules that are moved. */
    bool holdsAny() const {
        return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.kind != Kind::Constraint; });
    }
    /** Project, to an accuracy of 1e-5 (relative for distances, else rad or nm).
     *  @param x  [numParticles] nm, in: initial positions; out: those after the last successful stage
     *  @return whether the targets were reached */
    bool run(Real3* x);
    /** The fraction of the change that was reached, 0 to 1. */
    double progress() const {
        return done;
    }

private:
    enum class Kind { Constraint, Bond, SecondNeighbours };
    /** A constraint or a held distance, as a row of J. */
    struct Row {
        Kind kind;
        int constraint;               ///< in `set`
        double start = 0, change = 0; ///< initial value, and difference of the target from it
    };
    class Equations;
    /** Find the molecules with a constraint that is far off, and add their constraints to the rows.
     *  @return [numParticles] whether a particle is in one of them */
    std::vector<char> findMoving(const std::vector<int>& solved, const std::vector<HeldPair>& pairs, const Real3* x);
    void addHeld(const std::vector<HeldPair>& pairs, const std::vector<char>& moves);
    /** Move x to a fraction of the change. @return false if that fails; x is then unchanged */
    bool reach(double fraction, Real3* x);

    ConstraintSet set; // with the held distances behind the constraints
    Box box;
    double time, done = 0;
    std::vector<Row> rows;
};

} // namespace ConstraintPlugin

#endif
