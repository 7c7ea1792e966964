// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_HELD_COORDINATES_H_
#define CONSTRAINTS_CORE_HELD_COORDINATES_H_

#include "ConstraintSet.h"
#include <array>
#include <vector>

namespace ConstraintPlugin {

/** The target of a constraint at time 0, nm or rad. That of a straight angle, which is solved as a bend of 0, is pi. */
double declaredTarget(const Constraint& c);

/** Constraints of one coordinate: of the same kind and particles, whatever their targets. Expressions have to be the
 * same text with the same parameters, tables and weights.
 *  @return groups of two or more, each ascending */
std::vector<std::vector<int>> findSameCoordinates(const ConstraintSet& set);

/** Constraints of the same expression and the same particles as one that is given by an expression, whatever their
 *  parameters, which may make other coordinates of it. Without that one. */
std::vector<int> findSameExpressions(const ConstraintSet& set, int constraint);

/** A declared constraint whose coordinate others hold already, as one sees from what is declared. */
struct HeldCoordinate {
    int constraint;
    std::vector<int> by; ///< constraints: one of the same coordinate; or the distances of its particles, all pairs
    int body = -1;       ///< or a rigid body that has all its particles
};

/** Find the second and further constraints of a coordinate, of Forces; angles and dihedrals of particles all of whose
 * distances are held; and whatever a rigid body holds, but distances, which are measured in its shape as often as not.
 * Constraints that make a rigid body together are not among them: they were given to be one. */
std::vector<HeldCoordinate> findHeldCoordinates(const ConstraintSet& set);

} // namespace ConstraintPlugin

#endif
