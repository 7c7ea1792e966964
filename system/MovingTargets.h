// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_MOVING_TARGETS_H_
#define OPENMM_CONSTRAINTS_MOVING_TARGETS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include <optional>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Targets that change, in time or with a Context parameter, have a range: a length must be positive, an angle between
 * 0 and pi, a coordination number between 0 and the number of pairs. */

/** A length of a Force, or the cutoff of a coordination number, whose minimum image does not fit into a box at a time
 *  (ps).
 *  @param useLarger  what to do about the box */
std::optional<ConstraintProblem> findTooLong(const ConstraintSet& set, int constraint, const Box& box, double time,
                                             const std::string& useLarger);

/** @throws ConstraintException naming a length whose minimum image does not fit into a box at a time (ps) */
void requireLengthsInBox(const ConstraintSet& set, const Box& box, double time);

/** @throws ConstraintException naming that, or a listed constraint whose target is out of its range, or no number */
void requireTargetsInRange(const ConstraintSet& set, const Box& box, double time);

/** A constraint whose target is out of its range at a time (ps), or no number; nothing if it is in its range. */
std::optional<ConstraintProblem> findTargetOutOfRange(const ConstraintSet& set, int constraint, double time);

/** " with the Context parameter "lambda" at 1.5 (0.3 nm at 0, 0.1 nm at 1)"; "" if there is none. */
std::string describeInterpolation(const ConstraintSet& set, int constraint);

/** What to do about a length that the box cannot hold: what there is to do about any, or another parameter. */
std::string remedyForLength(const ConstraintSet& set, int constraint, const std::string& ofAny);

/** Find a target that moves towards the limit of its range and is so close to it that the next steps cannot be solved:
 *  particles that cross the limit within a step have no solution, and coupled constraints then fail too.
 *  @param among  constraints of the cluster that could not be solved
 *  @param time   ps, of the targets
 *  @return the one closest to its limit, or -1 */
int findTargetNearLimit(const ConstraintSet& set, const std::vector<int>& among, double time, double stepSize);

/** "distance 0 of the ConstraintForce with index 2 (particles 4 and 5) would be ... at ... ps: it is ... at its
 *  startTime, ... It has to stay positive": of a constraint whose target changes. */
std::string describeMotion(const ConstraintSet& set, int constraint, double time);

/** How to hold two particles, or centroids, at one place, which a distance of zero cannot. */
std::string remedyForNoLength(const Constraint& c);

/** "take fewer steps, or call setDistanceRate(0, rate, startTime) ..." */
std::string remedyForMotion(const ConstraintSet& set, int constraint);

} // namespace ConstraintPlugin

#endif
