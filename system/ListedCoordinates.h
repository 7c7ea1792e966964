// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_LISTED_COORDINATES_H_
#define OPENMM_CONSTRAINTS_LISTED_COORDINATES_H_

#include "Kinds.h"
#include "openmmconstraints/ConstraintForce.h"

namespace ConstraintPlugin {

/** The distances, angles and dihedrals of a ConstraintForce, for code that treats them alike. */
struct ListedCoordinates {
    using Coordinate = ConstraintForce::Coordinate;
    using Interpolation = ConstraintForce::Interpolation;

    /** visit(kind, coordinates) for each kind in turn. */
    template <class Force, class Visit>
    static void forEachKind(Force& force, Visit visit) {
#define VISIT(Name, name, numParticles, range) visit(CoordinateKind::Name, force.name##s);
        LISTED_COORDINATES(VISIT)
#undef VISIT
    }
};

} // namespace ConstraintPlugin

#endif
