// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_COORDINATES_H_
#define CONSTRAINTS_CORE_COORDINATES_H_

#include "ConstraintSet.h"
#include "Real3.h"
#include <cmath>

namespace ConstraintPlugin {

#define DEVICE inline
using mixed = double;
using mixed3 = Real3;
using std::sqrt;
#include "coordinates.cc"
#undef DEVICE

/** q of a constraint from its bond vectors, and G = dq/db. */
inline double coordinate(CoordinateKind kind, const Real3* bonds, Real3* G) {
    switch (kind) {
    case CoordinateKind::Distance:
        return distanceCoordinate(bonds, G);
    }
    return 0.0; // unreachable: every kind has its case, and the compiler warns of a missing one
}

} // namespace ConstraintPlugin

#endif
