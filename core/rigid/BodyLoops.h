// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BODY_LOOPS_H_
#define CONSTRAINTS_CORE_BODY_LOOPS_H_

#include "Box.h"
#include "rigidMotion.h"

namespace ConstraintPlugin {

/** A particle of a body: all that a loop over particles needs besides the particle's number. */
struct BodyPlace {
    Real3 shape; ///< nm, along the body's axes
    double mass; ///< amu, 0: it does not move
};

/** Consecutive particles of a body. */
struct BodyRange {
    const int* particles;
    const BodyPlace* places;
    int count;
};

/** Loops over the particles of a body, for several instruction sets. What is on the other side of a periodic box from
 *  the reference takes the image next to it. */
namespace bodyLoops {

/** Moments of the positions relative to a reference, and of a field.
 *  @param field  [numParticles] displacements, velocities or accelerations
 *  @param box    empty: without images */
void findMoments(const BodyRange& range, const Real3* positions, const Real3& reference, const Box& box,
                 const Real3* field, rigid::Moments& ofPlaces, rigid::Moments& ofField);

/** Moments of a field alone. */
void findMoments(const BodyRange& range, const Real3* field, rigid::Moments& ofField);

/** Where a body is: the origin of its shape relative to the reference, and its axes. */
struct Frame {
    Real3 origin;
    rigid::BodyAxes axes;
};

/** Make displacements those of rigid motion, and add the particle's distance from its place to them.
 *  @param frame     null: the body has no axes, and its particles no places
 *  @param velocity  [numParticles] takes perTime times the change, without that distance. null: no velocities
 *  @param[out] impulses  [count] mass times the same change */
void displace(const BodyRange& range, const rigid::RigidMotion& motion, const Frame* frame, const Real3* positions,
              const Real3& reference, const Box& box, Real3* delta, double perTime, Real3* velocity, Real3* impulses);

/** Make velocities those of rigid motion. @param[out] impulses  [count] mass times the change */
void setVelocities(const BodyRange& range, const rigid::RigidMotion& motion, Real3* velocity, Real3* impulses);

} // namespace bodyLoops

} // namespace ConstraintPlugin

#endif
