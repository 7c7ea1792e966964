// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_CHECKS_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_CHECKS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/System.h"
#include "openmmconstraints/CustomCentroidConstraintForce.h"
#include <optional>

namespace ConstraintPlugin {

/** A problem of one constraint, if there is one. */
using Found = std::optional<ConstraintProblem>;

/** Whether an angle (rad) is meant to be pi. */
bool isLinearAngle(double angle);

/** Make an invalid constraint ignored: it stays in the list without particles. */
void leaveOut(ConstraintSet& set, int constraint);

/** Check one constraint, independently of others. */
Found findProblem(const OpenMM::System& system, const ConstraintSet& set, int constraint, const Box& box);

/** Check the groups of a centroid expression, which the set does not hold yet. */
Found findGroupProblem(const OpenMM::System& system, const ConstraintSet& set,
                       const CustomCentroidConstraintForce& force, const Constraint& c, const std::vector<int>& groups);

/** A particle that is listed twice, -1: none. The list may have two or a hundred thousand entries. */
int findRepeated(const std::vector<int>& particles);

/** The particles of a valid group that have a weight, and their weights, of sum 1. */
std::vector<std::pair<int, double>> weightsIn(const ConstraintSet& set, const CustomCentroidConstraintForce& force,
                                              int group);

/** Report and ignore dihedrals of which three consecutive particles are constrained to a line: they have no value. */
void checkDihedrals(ConstraintSet& set, const ProblemReport& report);

} // namespace ConstraintPlugin

#endif
