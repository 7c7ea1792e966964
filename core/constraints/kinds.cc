// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Numbers that C++ and kernels share, each list written once. C++ makes scoped enums of them (Kinds.h), kernels plain
// ones, whose names begin with the enum's: RowKind::Angle is RowKind_Angle there (state.cc).

/** Which values a coordinate takes.
 *  Length: positive (nm). HalfTurn: between 0 and pi (rad). FullTurn: any multiple of 2 pi may be added (rad).
 *  Number: between 0 and a number of pairs. */
#define RANGES(RANGE) RANGE(Length) RANGE(HalfTurn) RANGE(FullTurn) RANGE(Number) RANGE(Other)

/** Coordinates that users declare by ConstraintForce::add<Name>(): KIND(Name, name, number of particles, range).
 *  coordinates.cc has their equations, <name>Coordinate and <name>Curvature, as functions of the bond vectors, and of
 *  angular ones <name>SineCosine.
 *  Distance: of two particles. Angle: at the second of three particles. Dihedral: of four particles. */
#define ANGULAR_COORDINATES(KIND) KIND(Angle, angle, 3, HalfTurn) KIND(Dihedral, dihedral, 4, FullTurn)
#define LISTED_COORDINATES(KIND) KIND(Distance, distance, 2, Length) ANGULAR_COORDINATES(KIND)

/** The coordinate q that a constraint keeps at its target.
 *  LinearAngle: one of the two components of the bend of three particles on a line, since an angle of pi has no
 *  gradient. AffinePosition: a component of r_a - sum_b C_ab r_b, a place in a rigid body; of any number of particles. */
#define COORDINATE_KINDS(KIND)                                                                                         \
    LISTED_COORDINATES(KIND) KIND(LinearAngle, linearAngle, 3, Other) KIND(AffinePosition, affinePosition, 0, Other)

/** The same for kernels, which know two kinds of CustomCoordinate. */
#define ROW_KINDS(KIND) COORDINATE_KINDS(KIND) KIND(Centroid, centroid, 0, Other) KIND(Expression, expression, 0, Other)

/** How a solve ended.
 *  NotConverged: iterations exhausted. Singular: a pivot vanished, because constraints depend on each other here, or a
 *  bond rotated by 90 degrees. NotFinite: a coordinate is NaN or infinite. Inconsistent: a dependent or immovable
 *  constraint does not hold although all others do. NoGradient: a constraint has no gradient at the start, or a zero
 *  one. */
#define OUTCOMES(OUTCOME)                                                                                              \
    OUTCOME(Converged) OUTCOME(NotConverged) OUTCOME(Singular) OUTCOME(NotFinite) OUTCOME(Inconsistent)                \
    OUTCOME(NoGradient)

/** On devices also FarOff: positions are too far off for the device, and the host projects them. Drifted: an explicit
 *  constraint force did not hold a constraint within its bound. MoreTurns: bordered rows need more turns than were launched,
 *  and the host takes the step again. WholeCluster: so it does with kernels that solve what subdomains left to their
 *  cluster. */
#define DEVICE_OUTCOMES(OUTCOME)                                                                                       \
    OUTCOMES(OUTCOME) OUTCOME(FarOff) OUTCOME(Drifted) OUTCOME(MoreTurns) OUTCOME(WholeCluster)

/** Solves of a step on a device write their reports apart: of positions, of velocities, of velocities fresh from the
 *  heat bath, and of projections. An explicit constraint force writes the accelerations at the step's start and at its
 *  end to the first two. */
#define STEP_SOLVES(SOLVE) SOLVE(Positions) SOLVE(Velocities) SOLVE(HeatedVelocities) SOLVE(Projection)
