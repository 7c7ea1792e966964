// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_DENSE_ORACLE_H_
#define CONSTRAINTS_TESTS_DENSE_ORACLE_H_

#include "support/Verifier.h"

namespace ConstraintTests {

/** Expected results of the solvers, by dense linear algebra of Eigen, without code of the library. */
struct OracleSolution {
    Arrays x;                       ///< [numParticles] constrained displacements or velocities
    std::vector<double> multiplier; ///< [constraints]; the least-norm ones where constraints depend on each other
};

/** Newton's method for sigma(start + delta + M^-1 J(0)^T lambda) = 0, to 1e-14 relative. */
OracleSolution denseSolvePositions(const ConstraintSet& set, const Box& box, const Arrays& start, const Arrays& delta);
/** mu of J (v + M^-1 J^T mu) = 0. */
OracleSolution denseSolveVelocities(const ConstraintSet& set, const Box& box, const Arrays& start,
                                    const Arrays& velocity);

} // namespace ConstraintTests

#endif
