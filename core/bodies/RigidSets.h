// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RIGID_SETS_H_
#define CONSTRAINTS_CORE_RIGID_SETS_H_

#include "ConstraintSet.h"
#include <map>
#include <optional>
#include <vector>

namespace ConstraintPlugin {

/** Distances and angles that hold particles rigid. */
struct RigidSet {
    std::vector<int> particles; ///< ascending
    std::vector<Real3> shape;   ///< [particles] nm, or its mirror image: lengths do not tell which
    bool isRounded = false;     ///< some particles are in a plane, though perhaps within rounding only
    int dimension = 3;          ///< 1: on the x axis, 2: in the plane z = 0, or within rounding of it
    /** Distances and angles among the particles that the shape meets, ascending. */
    std::vector<int> constraints;
};

/** Positions (nm) at which lengths were measured, by particle. */
using MeasuredPositions = std::map<int, Real3>;

/** Relative difference up to which lengths count as rounded: a set that is straight or flat within it is so. */
constexpr double flatnessBound = 1e-4;

/** The same of sets whose shape is measured: a ring of an aromatic molecule that vibrates is not quite flat. */
constexpr double bendBound = 5e-3;

/** Find the sets that are to be solved as rigid bodies, from lengths alone: those that are redundant, or singular
 *  because they are linear or planar, and what is rigid beside them.
 *
 *  - A distance is a known length; so is the third side of an angle between two such distances.
 *  - A fitted shape meets each known length within max(tolerance, flatnessBound), relative, and each angle within
 *    three times as many radians: lengths that are within it change an angle by that much.
 *  - Rigid: by trilateration (RigidPieces), or a ring that cannot leave its plane (FlatRings).
 *  - Linear sets of bonds and angles of 180 degrees are regular, and so are tetrahedra and whatever else has no more
 *    lengths than it needs. Those that share two particles with a set that is found are found with it, as parts of a
 *    chain of bodies on hinges; others stay constraints.
 *
 *  A set that is flat within rounding, and that constraints outside it brace, is none.
 *
 *  The shape of a set that is not linear is that of the positions at which its lengths were measured, if all of them
 *  have their values there. Then a ring is rigid if it is flat within bendBound: it may not be quite flat, and where it
 *  is flexible at all, it moves by no more than that.
 *
 *  Two sets share at most two particles, or particles on one line.
 *
 *  @param mayReplace  [constraints] whether a constraint may be counted in; empty: all may
 *  @param measured    where lengths were measured
 *  @param braced      if not null: receives the constraints of sets that are flat within rounding, but braced
 *  @return in the order of their first particles */
std::vector<RigidSet> findRigidSets(const ConstraintSet& set, double tolerance,
                                    const std::vector<char>& mayReplace = {}, const MeasuredPositions& measured = {},
                                    std::vector<int>* braced = nullptr);

/** @param c          a distance or an angle
 *  @param particles  ascending
 *  @return its value in a shape, nm or rad; nothing if the shape lacks a particle of it */
std::optional<double> valueInShape(const Constraint& c, const std::vector<int>& particles,
                                   const std::vector<Real3>& shape);

} // namespace ConstraintPlugin

#endif
