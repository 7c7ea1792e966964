// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STATE_ERRORS_H_
#define OPENMM_CONSTRAINTS_STATE_ERRORS_H_

#include "ProblemReport.h"
#include "Projector.h"
#include "ThermostatChain.h"

namespace ConstraintPlugin {

// Error records of states; ConstraintErrors.h has those of solves. `activity` names the operation: "step 1041", "the
// projection of the positions".

/** Of Projection::Outcome::Unresolved. @param x  [numParticles] nm */
ConstraintProblem unresolvedPosition(const ConstraintSet& set, const Projection& projection, const Real3* x,
                                     const std::string& activity);

/** Of Projection::Outcome::TooFar, or Projected farther than others let it.
 *  @param x      [numParticles] nm, as given
 *  @param time   ps, of the targets
 *  @param bound  nm, of setMaxProjection(); infinite: there is none
 *  @param isOurs  whether the integrator has this function */
ConstraintProblem farOff(const ConstraintSet& set, const Projection& projection, const Real3* x, const Box& box,
                         double time, double bound, const std::string& activity, bool isOurs);

/** Whether the worst constraint or body of a report takes no minimum image, and would be met if it did. */
bool wouldFitWithImages(const ConstraintSet& set, const SolveReport& report, double time, const Real3* x,
                        const Box& box);

/** Of Projection::Outcome::Vanishing. Its value is |grad sigma| on the surface, per nm. */
ConstraintProblem vanishingGradient(const ConstraintSet& set, const VanishingGradient& vanishing,
                                    const std::string& activity);

/** Of Projection::Outcome::Misplaced. */
ConstraintProblem misplacedBody(const ConstraintSet& set, const ConstraintSolver::Misplaced& misplaced,
                                const std::string& activity);

/** The first of some vectors that is NaN or infinite, of begin ... end-1; -1: none is. */
int firstNotFinite(const Real3* v, int begin, int end);
/** What a particle has that is not finite. */
enum class Bad { Position, Velocity, Force };
/** Of the state from which a step or a projection began. */
ConstraintProblem notFinite(const ConstraintSet& set, Bad what, int particle, const std::string& activity);
/** Of a particle whose state became NaN or infinite on the way. @param what  "velocity", "displacement", ... */
ConstraintProblem becameNotFinite(const ConstraintSet& set, const std::string& what, int particle,
                                  const std::string& activity);

/** Of a Nose-Hoover chain that cannot follow its forces. @param twiceKineticEnergy  kJ/mol, before it acts */
ConstraintProblem bathLeftBehind(const HeatBath& bath, double twiceKineticEnergy, const std::string& activity);

/** Of steps with an explicit constraint force. @param bound  of setMaxDrift() */
ConstraintProblem tooMuchDrift(const ConstraintSet& set, const SolveReport& drift, double bound,
                               const std::string& activity);

/** Values of the Context parameters that constraints depend on. */
struct GlobalValues {
    std::vector<std::string> names;
    std::vector<double> now, met; ///< met: with which the positions were projected last
};
ConstraintProblem offParameter(const ConstraintSet& set, const SolveReport& report, const GlobalValues& globals,
                               double bound);

} // namespace ConstraintPlugin

#endif
