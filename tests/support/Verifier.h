// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_VERIFIER_H_
#define CONSTRAINTS_TESTS_VERIFIER_H_

#include "ConstraintSet.h"
#include <gtest/gtest.h>
#include <vector>

namespace ConstraintTests {

using ConstraintPlugin::Box;
using ConstraintPlugin::ConstraintSet;
using ConstraintPlugin::Real3;
using Arrays = std::vector<Real3>;

/** Checks the positions and velocities of a solver or an integrator. It shares no code with them: bond vectors, images
 * and gradients are computed here, with Eigen's algebra. Every failure contains the cause. */
class Verifier {
public:
    /** @param start  positions on the constraints (nm), where a step began: for the gradients and the right root */
    Verifier(const ConstraintSet& set, const Box& box, const Arrays& start);

    /** Every length is its target within a relative tolerance. A compressed bond is as wrong as a stretched one. */
    testing::AssertionResult holdsLengths(const Arrays& positions, double tolerance) const;
    /** No bond is reversed since the start: lengths alone do not distinguish the two roots. */
    testing::AssertionResult isOnRightRoot(const Arrays& positions) const;
    /** Both of the above. */
    testing::AssertionResult accepts(const Arrays& positions, double tolerance) const;
    /** Every |dq/dt| * timeScale / q0 at the start is within the tolerance. */
    testing::AssertionResult holdsVelocities(const Arrays& velocities, double timeScale, double tolerance) const;
    /** A correction is one that constraint forces can make: it moves no centre of mass and gives no angular momentum
     * (where no particle is immovable), moves nothing immovable, and is a combination of M^-1 grad sigma(0): orthogonal
     * in the mass metric to the constraint surface.
     *  @param before, after  displacements or velocities [numParticles]; what a solver was given and returned
     *  @param tolerance      relative to the largest correction; at least rounding of the values themselves */
    testing::AssertionResult isConstraintImpulse(const Arrays& before, const Arrays& after, double tolerance) const;

    /** Vector from the second to the first particle of a constraint: the shortest of all periodic images. */
    Real3 bond(int constraint, const Arrays& positions) const;

private:
    const ConstraintSet& set;
    Box box;
    Arrays start;
};

} // namespace ConstraintTests

#endif
