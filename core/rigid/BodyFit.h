// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BODY_FIT_H_
#define CONSTRAINTS_CORE_BODY_FIT_H_

#include "Box.h"
#include "RigidBody.h"

namespace ConstraintPlugin {

/** A body's shape where it fits given positions best: least squares, weighted by mass; anchors stay where they are. */
struct BodyFit {
    Real3 origin; ///< nm, relative to the position of the reference particle
    rigid::BodyAxes axes;
    double deviation = 0;    ///< nm, largest distance of a particle from its place
    int particle = -1;       ///< which particle
    double ofAnchors = 0;    ///< nm, largest distance of an anchor from its place
    int anchor = -1;         ///< which particle
    bool isMirrored = false; ///< the positions are a mirror image of the shape
};

/** Position of a body's particle relative to its reference particle. @param place  in RigidBody::particles */
inline Real3 fromReference(const RigidBody& body, int place, const Real3* positions, const Box& box) {
    const Real3 r = positions[body.particles[place]] - positions[body.particles[body.reference]];
    return body.periodic ? box.minimumImage(r) : r;
}

/** @param positions  [numParticles] nm
 *  Source: Horn, J. Opt. Soc. Am. A 4, 629 (1987), doi 10.1364/JOSAA.4.000629. */
BodyFit fitBody(const RigidBody& body, const Real3* positions, const Box& box);

/** Whether the mirror image of a body's shape fits positions better. Not of a linear or planar one, which is its own.
 */
bool fitsBetterMirrored(const RigidBody& body, const Real3* positions, const Box& box);

/** Move the particles with mass to their places, each in its image of the box. */
void moveToFit(const RigidBody& body, const BodyFit& fit, Real3* positions, const Box& box);

} // namespace ConstraintPlugin

#endif
