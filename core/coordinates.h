// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_COORDINATES_H_
#define CONSTRAINTS_CORE_COORDINATES_H_

#include "ConstraintSet.h"
#include "Dual.h"
#include "Real3.h"
#include <cmath>

namespace ConstraintPlugin {

// The text is compiled twice: for numbers, and for numbers with their rates of change.
#define DEVICE inline
namespace plain {
using mixed = double;
using mixed3 = Vector3<double>;
using std::atan2;
using std::sqrt;
#include "coordinates.cc"
} // namespace plain
namespace differentiated {
using mixed = Dual;
using mixed3 = Vector3<Dual>;
#include "coordinates.cc"
} // namespace differentiated
#undef DEVICE

/** q of a distance, an angle or a dihedral from its bond vectors, and G = dq/db. */
inline double coordinate(CoordinateKind kind, const Real3* bonds, Real3* G) {
    switch (kind) {
    case CoordinateKind::Distance:
        return plain::distanceCoordinate(bonds, G);
    case CoordinateKind::Angle:
        return plain::angleCoordinate(bonds, G);
    case CoordinateKind::Dihedral:
        return plain::dihedralCoordinate(bonds, G);
    default: // Straight, Linear and Custom take more than bond vectors: Jacobian.cpp
        return 0.0;
    }
}

/** The same with rates of change: of G, given those of the bond vectors. */
inline Dual coordinate(CoordinateKind kind, const Vector3<Dual>* bonds, Vector3<Dual>* G) {
    switch (kind) {
    case CoordinateKind::Distance:
        return differentiated::distanceCoordinate(bonds, G);
    case CoordinateKind::Angle:
        return differentiated::angleCoordinate(bonds, G);
    case CoordinateKind::Dihedral:
        return differentiated::dihedralCoordinate(bonds, G);
    default:
        return 0.0;
    }
}

} // namespace ConstraintPlugin

#endif
