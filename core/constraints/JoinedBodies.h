// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_JOINED_BODIES_H_
#define CONSTRAINTS_CORE_JOINED_BODIES_H_

#include "ConstraintSet.h"
#include "RigidBodySolver.h"

namespace ConstraintPlugin {

/** The joined bodies of a ConstraintSet as nodes of its equations: from the particles' displacements, velocities or
 *  accelerations to those of the bodies' origins and turns, and from these to the motion of each particle
 *  (rigidMotion.cc). Arrays over nodes are [ConstraintSet::numNodes()]; only those of joined bodies are used here. */
class JoinedBodies {
public:
    /** @param constraints  whose bodies these are; the set has to outlive this */
    JoinedBodies(const ConstraintSet& set, const std::vector<int>& constraints);
    const std::vector<int>& getBodies() const {
        return joined;
    }
    /** Set where the bodies are. @param positions  [numParticles] nm */
    void setStart(const Real3* positions, const Box& box);

    /** Set the nodes of the bodies. @param field  [numParticles] */
    void gather(const Real3* field, Real3* nodes) const;
    /** Add the accelerations of turns of bodies that rotate without forces, -I^-1 w x I w.
     *  @param velocity  [numNodes] */
    void addGyration(const Real3* velocity, Real3* accelerations) const;
    /** Move the bodies by a fraction of displacements of their nodes, to the places of their particles. Bodies that
     *  would turn by more than 90 degrees are not moved.
     *  @param x  [numParticles] where setStart() found them;  @param[out] moved  [numParticles] */
    void displace(const Real3* x, const Box& box, const Real3* nodes, double fraction, Real3* moved);

    /** From the position of a particle at the start to its place in the body, nm. */
    Real3 wayToPlace(const ConstraintSet::Place& of, const Real3* positions, const Box& box) const;
    const Real3& shapeOf(const ConstraintSet::Place& of) const {
        return set.bodies[of.body].shape[of.place];
    }
    const bodyLoops::Frame& frameOf(int body) const {
        return stateOf(body).frame;
    }
    const rigid::BodyAxes& axesOf(int body) const {
        return stateOf(body).frame.axes;
    }
    /** Displacements of a body. */
    struct Displaced {
        rigid::RigidMotion motion;
        Real3 v; ///< its rotation, a quaternion's vector part along the axes
    };
    /** Those of a body's particles by displacements of its nodes. Not finite if it turns by more than 90 degrees. */
    const Displaced& displaced(int body, const Real3* nodes);
    /** The rotation of the last call for a body. */
    const Real3& rotationOf(int body) const {
        return stateOf(body).displaced.v;
    }
    /** Velocities of a body's particles from those of its nodes. */
    rigid::RigidMotion velocityOf(int body, const Real3* nodes) const;
    /** Their accelerations. @param velocity  [numNodes] */
    rigid::RigidMotion accelerationOf(int body, const Real3* nodes, const Real3* velocity) const;
    /** The angular velocity along the axes. */
    Real3 angularVelocityOf(int body, const Real3* nodes) const {
        return rigid::angularVelocityOf(set.bodies[body].constants, nodes[set.turnNodeOf(body)]);
    }
    /** The body that turned by more than 90 degrees since setStart(), if any: BodyReport::isSolved is false. */
    const BodyReport& reportTurn() const {
        return failed;
    }

private:
    struct State {
        bodyLoops::Frame frame;
        Real3 turn; ///< of which `displaced` is
        Displaced displaced;
        bool isDisplaced = false;
        std::vector<BodyPlace> places;
    };
    BodyRange rangeOf(int body) const {
        return {set.bodies[body].particles.data(), stateOf(body).places.data(), set.bodies[body].size()};
    }
    const State& stateOf(int body) const {
        return states[number[body]];
    }

    const ConstraintSet& set;
    std::vector<int> joined, number; // [joined], and [bodies] of set.bodies: which of these
    std::vector<State> states;       // [joined]
    BodyReport failed;               // isSolved: none has
};

} // namespace ConstraintPlugin

#endif
