// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RIGID_BODY_H_
#define CONSTRAINTS_CORE_RIGID_BODY_H_

#include "rigidMotion.h"
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** A rigid body, solved in closed form (rigidMotion.cc).
 *
 *  The shape is given along the principal axes of inertia, the axis of the smallest moment first, from the centre of
 *  mass. Immovable (massless) particles of the body are anchors. One is the origin instead, and the axes are principal
 *  about it. Two or more on a line are the first axis, and the first of them is the origin; particles on this line are
 *  immovable, too. Three that are not on a line hold the whole body. */
struct RigidBody {
    std::vector<int> particles;
    std::vector<Real3> shape; ///< [particles] nm, along the axes, from the origin
    std::vector<double> mass; ///< [particles] amu, 0 for anchors
    std::vector<int> sharers; ///< [particles] bodies that share a particle, and its mass in equal parts; empty: 1
    rigid::BodyConstants constants;
    double totalMass = 0;       ///< amu
    int numMassive = 0;         ///< particles with mass
    int reference = 0;          ///< place in `particles`: positions are relative to its one, and take its image
    int axisAnchor = -1;        ///< place of a second anchor, on the first axis; -1: none
    bool isLinear = false;      ///< all particles are on the first axis
    bool isHeld = false;        ///< three anchors that are not on a line hold it
    bool mayBeMirrored = false; ///< it was recognized from lengths: positions decide which mirror image it is
    bool isJoined = false;      ///< constraints join it to others: it is two nodes in their equations
    double radius = 0;          ///< nm, largest distance from the reference
    double lineShift = 0;       ///< nm, by which a particle was moved onto the line that fits best
    bool periodic = false;      ///< positions relative to the reference take the minimum image
    int force = -1, index = -1; ///< as Constraint's

    int size() const {
        return (int) particles.size();
    }
    /** 6, 5 if it is linear, 3 of one particle, fewer with anchors. */
    int degreesOfFreedom() const {
        return (constants.inverseMass > 0 ? 3 : 0) + constants.rotations;
    }
};

/** Why particles and positions are not those of a rigid body: "Particles 1 and 2 of a rigid body are at one place." */
class BadShape : public std::invalid_argument {
public:
    /** @param particles  that have the fault; none: the body has it */
    explicit BadShape(const std::string& fault, std::vector<int> particles = {});
    const std::vector<int> particles;
    const std::string fault; ///< "are at one place."
};

/** Moments of inertia below this (amu nm^2) do not count as a degree of freedom: a body that rotates about such an axis
 *  with the kinetic energy kT/2 at 300 K turns by more than 0.2 rad in 2 fs. CO2 with coordinates rounded to 0.001 nm
 * is below, any molecule with atoms on two sides of a line above. */
constexpr double smallestInertia = 2.5e-4;

/** Such a body is linear if no particle is farther from the line than this (nm), or than 2 % of the body's size. One
 *  of light particles that is wider keeps its shape. */
constexpr double largestLineShift = 0.002;

/** Whether particles that two bodies share are the axis of a hinge, as far as rounded coordinates can tell.
 *  @param extent, width  of these particles (nm), along a line and beside it */
inline bool areOnALine(double extent, double width) {
    constexpr double rounding = 1e-4, largestPart = 0.05;
    return width <= std::max(rounding * extent, std::min(largestLineShift, largestPart * extent));
}

/** The body that particles form at some positions.
 *
 *  A narrow body whose smallest moment of inertia is below smallestInertia is linear: its shape is moved onto the line
 *  that
 *  fits best.
 *  @param particles    at least one, all different
 *  @param positions    of the particles, in the same order (nm)
 *  @param inverseMass  of all particles of the System (1/amu), 0: immovable
 *  @throws BadShape if there is no such body */
RigidBody makeRigidBody(const std::vector<int>& particles, const std::vector<Real3>& positions,
                        const std::vector<double>& inverseMass);

/** The same body with other masses. @param inverseMass  of all particles of the System (1/amu) */
RigidBody withMasses(RigidBody body, const std::vector<double>& inverseMass);

/** The same body where others share some of its particles. @param sharers  as RigidBody::sharers */
RigidBody withSharers(RigidBody body, std::vector<int> sharers, const std::vector<double>& inverseMass);

/** Make a shape its mirror image in the plane of its first two axes. */
void mirrorShape(RigidBody& body);

/** Check that particles and positions can be those of a rigid body, which needs at least some number of particles.
 *  @throws BadShape */
void requireShape(const std::vector<int>& particles, const std::vector<Real3>& positions, int numParticles, int fewest);

} // namespace ConstraintPlugin

#endif
