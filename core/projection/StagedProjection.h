// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_STAGED_PROJECTION_H_
#define CONSTRAINTS_CORE_STAGED_PROJECTION_H_

#include "Jacobian.h"

namespace ConstraintPlugin {

/** Two particles whose distance stays what it is while constraints are taken far. */
struct HeldPair {
    int particle1, particle2;
    bool isBond;   ///< else the ends of two bonds, given up before bonds are where constraints contradict them
    bool periodic; ///< the minimum image is taken
};

/** Takes positions that are far off to their constraints in stages: the values of the constraints go on a straight
 *  path from what they are to their targets, dihedrals the shorter way round, while bonds and the distances of
 *  second neighbours stay what they are. In one go, or with nothing held, what a dihedral turns moves along a straight
 *  line: bonds stretch, angles open up to 180 degrees.
 *
 *  A stage is solved by Newton's method for sigma of the constraints and tau of the held distances,
 *
 *      dx = M^-1 J^T lambda,   (J M^-1 J^T + epsilon D) lambda = -(sigma, tau),
 *
 *  D the diagonal of J M^-1 J^T for what is held and 0 for constraints. Held distances depend on each other in rings
 * and in planar groups, which leaves J M^-1 J^T singular: with a small epsilon (Levenberg, Q. Appl. Math. 2, 164
 * (1944)) it has a factor L D L^T whatever is held.
 *
 *  Only molecules with a constraint that is far off move, and constraints that are off by little are held as they are
 *  there: what is left is for one solve afterwards. */
class StagedProjection {
public:
    /** @param set        its constraints
     *  @param solved     those to satisfy, independent of each other
     *  @param held       pairs of particles, not necessarily independent of these or of each other
     *  @param positions  [numParticles] nm, where it starts
     *  @param time       ps, of the targets */
    StagedProjection(const ConstraintSet& set, const std::vector<int>& solved, const std::vector<HeldPair>& held,
                     const Real3* positions, const Box& box, double time);
    /** Whether any pair is held in the molecules that move. */
    bool holdsAny() const {
        return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.kind != Kind::Constraint; });
    }
    /** Go there, to 1e-5 (relative for distances, else rad or nm).
     *  @param x  [numParticles] nm, in: the start; out: where it came
     *  @return whether that is all the way */
    bool run(Real3* x);
    /** Which part of the way it came, 0 to 1. */
    double progress() const {
        return done;
    }

private:
    enum class Kind { Constraint, Bond, SecondNeighbours };
    /** A constraint or a held distance, as a row of J. */
    struct Row {
        Kind kind;
        int constraint;            ///< in `set`
        double start = 0, way = 0; ///< value at the start, and how far it goes from there
    };
    class Equations;
    /** Find the molecules with a constraint that is far off, and take their constraints into the rows.
     *  @return [numParticles] whether a particle is in one of them */
    std::vector<char> findMoving(const std::vector<int>& solved, const std::vector<HeldPair>& pairs, const Real3* x);
    void addHeld(const std::vector<HeldPair>& pairs, const std::vector<char>& moves);
    /** Take x to a part of the way. @return false if that fails; x is then as it was */
    bool reach(double fraction, Real3* x);

    ConstraintSet set; // with the held distances behind the constraints
    Box box;
    double time, done = 0;
    std::vector<Row> rows;
};

} // namespace ConstraintPlugin

#endif
