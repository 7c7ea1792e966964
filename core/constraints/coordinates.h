// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_COORDINATES_H_
#define CONSTRAINTS_CORE_COORDINATES_H_

#include "ConstraintSet.h"
#include "Real3.h"
#include <cmath>

namespace ConstraintPlugin {

namespace plain {
using mixed = double;
using mixed3 = Real3;
using std::atan2;
using std::sqrt;
#define DEVICE inline
#include "coordinates.cc"
#undef DEVICE
} // namespace plain

/** q of a distance, an angle or a dihedral from its bond vectors, and G = dq/db. */
inline double coordinate(CoordinateKind kind, const Real3* bonds, Real3* G) {
    switch (kind) {
    case CoordinateKind::Distance:
        return plain::distanceCoordinate(bonds, G);
    case CoordinateKind::Angle:
        return plain::angleCoordinate(bonds, G);
    case CoordinateKind::Dihedral:
        return plain::dihedralCoordinate(bonds, G);
    default: // LinearAngle, AffinePosition and Custom take more than bond vectors: Jacobian.cpp
        return 0.0;
    }
}

/** d^2 q/dt^2 where its bond vectors change at constant rates. */
inline double coordinateCurvature(CoordinateKind kind, const Real3* bonds, const Real3* rates) {
    switch (kind) {
    case CoordinateKind::Distance:
        return plain::distanceCurvature(bonds, rates);
    case CoordinateKind::Angle:
        return plain::angleCurvature(bonds, rates);
    case CoordinateKind::Dihedral:
        return plain::dihedralCurvature(bonds, rates);
    default:
        return 0.0;
    }
}

} // namespace ConstraintPlugin

#endif
