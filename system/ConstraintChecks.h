// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_CHECKS_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_CHECKS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/System.h"
#include "openmmconstraints/ConstraintForce.h"
#include <optional>

namespace ConstraintPlugin {

/** What is wrong with one constraint by itself. */
using Found = std::optional<ConstraintProblem>;

/** Whether an angle (rad) is meant to be pi. */
bool isLinearAngle(double angle);

/** Leave a constraint out that was refused: it keeps its place, and nothing else. */
void leaveOut(ConstraintSet& set, int constraint);

/** Check one constraint by itself, of which the set has the parameters. */
Found findProblem(const OpenMM::System& system, const ConstraintSet& set, int constraint, const Box& box);

/** Check the groups of a centroid distance, which the set does not hold yet: both need particles with mass, each once.
 */
Found findGroupProblem(const ConstraintSet& set, const ConstraintForce& force, const Constraint& c);

/** A dihedral has no value where three of its particles in turn are held on one line: it is left out. */
void checkDihedrals(ConstraintSet& set, const ProblemReport& report);

/** Lengths that contradict each other: the last of each contradiction, of a ring the longest, is left out. */
void checkTogether(ConstraintSet& set, double tolerance, const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
