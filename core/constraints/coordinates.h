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

/** q of what users list from its bond vectors, and G = dq/db. Others take more than bond vectors: Jacobian.cpp. */
inline double coordinate(CoordinateKind kind, const Real3* bonds, Real3* G) {
    switch (kind) {
#define CASE(Name, name, numParticles, range)                                                                          \
    case CoordinateKind::Name:                                                                                         \
        return plain::name##Coordinate(bonds, G);
        LISTED_COORDINATES(CASE)
#undef CASE
    default:
        return 0.0;
    }
}

/** The same where the number of particles is known: one that has another is not even compiled. */
template <int size>
double coordinateOf(CoordinateKind kind, const Real3* bonds, Real3* G) {
    switch (kind) {
#define CASE(Name, name, numParticles, range)                                                                          \
    case CoordinateKind::Name:                                                                                         \
        if constexpr ((numParticles) == size)                                                                          \
            return plain::name##Coordinate(bonds, G);                                                                  \
        break;
        LISTED_COORDINATES(CASE)
#undef CASE
    default:
        break;
    }
    return 0.0;
}

/** d^2 q/dt^2 where its bond vectors change at constant rates. */
inline double coordinateCurvature(CoordinateKind kind, const Real3* bonds, const Real3* rates) {
    switch (kind) {
#define CASE(Name, name, numParticles, range)                                                                          \
    case CoordinateKind::Name:                                                                                         \
        return plain::name##Curvature(bonds, rates);
        LISTED_COORDINATES(CASE)
#undef CASE
    default:
        return 0.0;
    }
}

} // namespace ConstraintPlugin

#endif
