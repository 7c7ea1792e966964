// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_GROUP_CONSTRAINTS_H_
#define OPENMM_CONSTRAINTS_GROUP_CONSTRAINTS_H_

#include "ConstraintChecks.h"
#include "openmmconstraints/ConstraintForce.h"
#include <functional>

namespace ConstraintPlugin {

/** What a constraint follows a Context parameter by: its name, and the target where it is 1. */
using Interpolate = std::function<void(Constraint& c, const std::string& parameter, double target1)>;

/** visit(constraint, what is wrong with it) for the distances of centroids, then the coordination numbers of a Force.
 * Their coordinates and parameters go to the set. What is wrong may leave one without particles. */
void forEachOfGroups(const OpenMM::System& system, ConstraintSet& set, const ConstraintForce& force, int forceIndex,
                     const Interpolate& interpolate, const std::function<void(Constraint&& c, Found found)>& visit);

/** visit(particles) of each: those of both groups, one after the other. */
void forEachPairOfGroups(const ConstraintForce& force, const std::function<void(const std::vector<int>&)>& visit);

} // namespace ConstraintPlugin

#endif
