// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_ERRORS_H_
#define OPENMM_CONSTRAINTS_ERRORS_H_

#include "ConstraintSolver.h"
#include "ProblemReport.h"
#include <string>

namespace ConstraintPlugin {

/** "distance", "angle", "dihedral", ...; "nm", "rad", ... */
const char* nameOf(CoordinateKind kind);
const char* unitOf(CoordinateKind kind);

/** "System constraint 3 (particles 4 and 5)", "distance 0 of the ConstraintForce with index 2
 * (particles 4 and 5: A:LEU3:CA and A:LEU3:HA)". */
std::string describeConstraint(const ConstraintSet& set, int constraint);

/** The place in getMultipliers() of a constraint, or of the listed one that it completes or stands in for; -1 for what
 *  addRigidBody() declared. */
int listedIndex(const ConstraintSet& set, int constraint);

/** "particle 4", "particle 4 (A:LEU3:CA)". */
std::string describeParticle(const ConstraintSet& set, int particle);

/** "particles 0, 1 and 2" of some constraints, ascending; long lists are cut. */
std::string describeParticles(const ConstraintSet& set, const std::vector<int>& constraints);

/** A problem of some constraints: their places in getMultipliers(), and their particles in the order of appearance. */
ConstraintProblem problemOf(const ConstraintSet& set, std::string kind, const std::vector<int>& constraints,
                            std::string message, std::string remedy = "", double value = ConstraintProblem::none,
                            double bound = ConstraintProblem::none);

enum class Stage { Positions, Velocities };

/** What was being done when a solve failed. */
struct SolveContext {
    Stage stage;
    std::string activity; ///< "step 1041", "projection of the given positions", ...
    double tolerance, timeScale;
    double time;        ///< ps, of the targets
    double stepSize;    ///< ps
    std::string solver; ///< what served the cluster
    bool isIterative;   ///< whether that was the Iterative solver
    std::string note;   ///< why MatrixInversion cannot, as describeFallbacks() says; empty if it can
    int ending = -1;    ///< what moves to the end of its range (findEndingTarget) and made it fail; -1: nothing does
};

/** @throws ConstraintException that names the worst constraint, its particles, value, target, residual, the iterations
 *          and a remedy. Its value is the error, its bound the tolerance; "too-fast": rad in a step */
[[noreturn]] void throwSolveError(const ConstraintSet& set, const SolveReport& report, const SolveContext& context);

/** Of constraints of which it cannot be told how many are independent (GenericRank::undecided). */
ConstraintProblem undecidedRank(const ConstraintSet& set, const std::vector<int>& constraints);

/** @throws ConstraintException that names the particles of a singular set, its shape and a remedy. Its value is the
 *          smallest pivot, the squared sine of a gradient's angle with the span of others */
[[noreturn]] void throwSingularSet(const ConstraintSet& set, const RankAnalysis& analysis);

} // namespace ConstraintPlugin

#endif
