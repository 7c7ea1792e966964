// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_ERRORS_H_
#define OPENMM_CONSTRAINTS_ERRORS_H_

#include "ConstraintSolver.h"
#include "LengthConflict.h"
#include "ProblemReport.h"
#include <string>

namespace ConstraintPlugin {

/** "distance", "angle", "dihedral", ... */
const char* nameOf(const ConstraintSet& set, const Constraint& c);
/** What follows a value: " nm", " rad", "". */
const char* unitOf(const ConstraintSet& set, const Constraint& c);

/** The end of a remedy for NaN of particles with System constraints. */
extern const char* const singularSystemConstraints;

/** "System constraint 3 (particles 4 and 5)", "the joint of rigid body 0 and rigid body 1 of the ConstraintForce with
 * index 2 at particle 7", "distance 0 of the ConstraintForce with index 2
 * (particles 4 and 5: A:LEU3:CA and A:LEU3:HA)". */
std::string describeConstraint(const ConstraintSet& set, int constraint);

/** Names of some, with semicolons between them; long lists are cut. */
std::string describeConstraints(const ConstraintSet& set, const std::vector<int>& constraints);

/** "rigid body 0 of the ConstraintForce with index 2 (particles 4, 5 and 6: ...)", of ConstraintSet::bodies. */
std::string describeBody(const ConstraintSet& set, int body);

/** A problem of a rigid body. */
ConstraintProblem problemOfBody(const ConstraintSet& set, std::string kind, int body, std::string message,
                                std::string remedy = "", double value = ConstraintProblem::none,
                                double bound = ConstraintProblem::none);

/** The index in getMultipliers() of a constraint, or of the declared one that it completes or replaces; -1 for rigid
 * bodies declared by addRigidBody(). */
int listedIndex(const ConstraintSet& set, int constraint);

/** "particle 4", "particle 4 (A:LEU3:CA)". */
std::string describeParticle(const ConstraintSet& set, int particle);

/** "particles 0, 1 and 2" of some constraints, ascending; long lists are cut. */
std::string describeParticles(const ConstraintSet& set, const std::vector<int>& constraints);

/** A problem of some constraints: their indices in getMultipliers(), and their particles in the order of appearance. */
ConstraintProblem problemOf(const ConstraintSet& set, std::string kind, const std::vector<int>& constraints,
                            std::string message, std::string remedy = "", double value = ConstraintProblem::none,
                            double bound = ConstraintProblem::none);

/** How many constraints are independent depends on positions, which are not set.
 *  @param call  that asks for it */
ConstraintProblem rankWithoutPositions(const ConstraintSolver& solver, const Box& box, const std::string& call,
                                       const std::string& remedy);

enum class Stage { Positions, Velocities };

/** The circumstances of a failed solve. */
struct SolveContext {
    Stage stage;
    std::string activity; ///< "step 1041", "projection of the given positions", ...
    double tolerance, timeScale;
    double time;        ///< ps, of the targets
    double stepSize;    ///< ps
    std::string solver; ///< the solver of the cluster
    bool isIterative;   ///< whether that was the Iterative solver
    std::string note;   ///< why MatrixInversion cannot be used (describeFallbacks()); empty if it can
    int nearLimit = -1; ///< constraint whose target is near the limit of its range (findTargetNearLimit); -1: none
    bool isProjection = false; ///< of given positions or velocities: no step, so that its size is no remedy
    bool isOurs = true;        ///< whether the integrator is of this library, and has its settings
    bool isOneStage = false;   ///< of a projection, which might succeed in stages
};

/** @throws ConstraintException that names the worst constraint, its particles, value, target, residual, the iterations
 *          and a remedy. Its value is the error, its bound the tolerance; "too-fast": rad in a step */
[[noreturn]] void throwSolveError(const ConstraintSet& set, const SolveReport& report, const SolveContext& context);

/** The problem of lengths that contradict each other, so that no projection succeeds.
 *  @param activity  as SolveContext's */
ConstraintProblem contradictoryLengths(const ConstraintSet& set, const LengthConflict& conflict, double tolerance,
                                       const std::string& activity);

/** The problem of constraints whose rank could not be determined (GenericRank::undecided). */
ConstraintProblem undecidedRank(const ConstraintSet& set, const std::vector<int>& constraints);

/** @throws ConstraintException that names the particles of a singular set, its shape and a remedy. Its value is the
 *          smallest pivot, the squared sine of a gradient's angle with the span of others */
[[noreturn]] void throwSingularSet(const ConstraintSet& set, const RankAnalysis& analysis);

} // namespace ConstraintPlugin

#endif
