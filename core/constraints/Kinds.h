// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_KINDS_H_
#define CONSTRAINTS_CORE_KINDS_H_

// kinds.cc says what the names mean.
#include "kinds.cc"

namespace ConstraintPlugin {

#define KIND(Name, name, numParticles, range) Name,
/** Custom: sigma as an object gives it, a CustomCoordinate. */
enum class CoordinateKind { COORDINATE_KINDS(KIND) Custom };
enum class RowKind { ROW_KINDS(KIND) };
#undef KIND
#define ENUMERATOR(name) name,
enum class Range { RANGES(ENUMERATOR) };
enum class Outcome { OUTCOMES(ENUMERATOR) };
enum class DeviceOutcome { DEVICE_OUTCOMES(ENUMERATOR) };
enum class StepSolve { STEP_SOLVES(ENUMERATOR) };
#undef ENUMERATOR
constexpr int numStepSolves = (int) StepSolve::Projection + 1; // it is the last

/** What is to be known of a kind of coordinate besides its equations. */
struct CoordinateTraits {
    const char* method; ///< "Dihedral", as in addDihedral()
    const char* name;   ///< "dihedral", as in messages and expressions
    int numParticles;   ///< 0 if it may be any
    Range range;
};
constexpr CoordinateTraits coordinateTraits[] = {
#define KIND(Name, name, numParticles, range) {#Name, #name, numParticles, Range::range},
    COORDINATE_KINDS(KIND){"Custom", "custom", 0, Range::Other}
#undef KIND
};
inline constexpr const CoordinateTraits& traitsOf(CoordinateKind kind) {
    return coordinateTraits[(int) kind];
}

/** Distance, Angle, ...: what users list. */
constexpr CoordinateKind listedKinds[] = {
#define KIND(Name, name, numParticles, range) CoordinateKind::Name,
    LISTED_COORDINATES(KIND)
#undef KIND
};
constexpr bool isListed(CoordinateKind kind) {
    return (int) kind < (int) (sizeof(listedKinds) / sizeof(listedKinds[0]));
}
/** Angles and dihedrals. */
constexpr bool isAngular(CoordinateKind kind) {
    return traitsOf(kind).range == Range::HalfTurn || traitsOf(kind).range == Range::FullTurn;
}
constexpr bool isAngular(RowKind kind) {
    switch (kind) {
#define KIND(Name, name, numParticles, range) case RowKind::Name:
        ANGULAR_COORDINATES(KIND)
#undef KIND
        return true;
    default:
        return false;
    }
}

} // namespace ConstraintPlugin

#endif
