// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_RIGID_BODY_SOLVER_H_
#define CONSTRAINTS_CORE_RIGID_BODY_SOLVER_H_

#include "BodyFit.h"
#include "BodyLoops.h"
#include "TaskRunner.h"
#include <memory>
#include <vector>

namespace ConstraintPlugin {

/** Baumgarte's feedback on violations of the constraints: J a + J-dot v + 2 alpha J v + beta^2 sigma = 0. */
struct Stabilization {
    double alpha = 0, beta = 0; ///< 1/ps
};

/** Error of the worst body, or why one cannot be solved. */
struct BodyReport {
    int body = -1;        ///< -1: there is none
    double error = 0;     ///< relative to the radius
    int particle = -1;    ///< with the largest error
    bool isSolved = true; ///< false: the body turns by more than 90 degrees, or its motion is not finite
    double rotation = 0;  ///< rad, in the step, about the axis with the largest; if it is not solved
};

/** Where a body is. @param place  moments of its positions relative to the reference */
bodyLoops::Frame frameOf(const RigidBody& body, const rigid::Moments& place, const Real3* positions, const Box& box);

/** From the position of a particle to its place in a body, nm. */
Real3 wayToPlace(const RigidBody& body, int place, const bodyLoops::Frame& frame, const Real3* positions,
                 const Box& box);

/** Motions of joined bodies, which a solver of constraints found. */
struct JoinedMotions {
    struct Motion {
        bodyLoops::Frame frame;
        rigid::RigidMotion motion;
    };
    std::vector<int> number; ///< [bodies] of the body's motion; -1: there is none. Empty: no body has one
    std::vector<Motion> motions;

    const Motion* of(int body) const {
        return number.empty() || number[body] < 0 ? nullptr : &motions[number[body]];
    }
};

/** Solves rigid bodies in closed form: sums over a body's particles, a 3x3 problem, and the motion of each particle.
 *  SHAKE and RATTLE with the distances of all pairs have the same result (rigidMotion.cc).
 *
 *  Joined bodies are given their motions. A particle that several of them share moves as its copies do on average,
 * which conserves momentum however well they agree.
 *
 *  Sums run over parts of fixed size, the parts in order, so results do not depend on the number of threads. */
class RigidBodySolver {
public:
    /** The bodies have to outlive this. */
    explicit RigidBodySolver(const std::vector<RigidBody>& bodies);
    /** Shapes or masses of the bodies have changed. */
    void takeShapes();
    /** Use the runner's threads. */
    void setTaskRunner(std::shared_ptr<TaskRunner> given) {
        runner = std::move(given);
    }

    /** Position stage: the particles keep the body's shape, to rounding.
     *  @param positions  [numParticles] nm, at the start of the step
     *  @param delta      [numParticles] nm; in: unconstrained displacement, out: constrained
     *  @param velocity   [numParticles] nm/ps; the impulse over a duration of 1/perTime is added. null: no velocities
     *  @param[out] impulses  [particles of all bodies in turn] amu nm: mass times the change of delta */
    BodyReport solvePositions(const Real3* positions, const Box& box, Real3* delta, double perTime, Real3* velocity,
                              std::vector<Real3>& impulses, const JoinedMotions& joined = {});
    /** Velocity stage: v_i = V + w x x_i, with the same momentum and angular momentum.
     *  @param[out] impulses  amu nm/ps: mass times the change of velocity */
    BodyReport solveVelocities(const Real3* positions, const Box& box, Real3* velocity, std::vector<Real3>& impulses,
                               const JoinedMotions& joined = {});
    /** Accelerations of the bodies, with feedback on what the particles deviate from their places and velocities.
     *  @param velocity      [numParticles] nm/ps
     *  @param acceleration  [numParticles] nm/ps^2; in: M^-1 F, out: constrained
     *  @param[out] forces   kJ/mol/nm */
    BodyReport solveAccelerations(const Real3* positions, const Box& box, const Real3* velocity, Real3* acceleration,
                                  const Stabilization& feedback, std::vector<Real3>& forces,
                                  const JoinedMotions& joined = {});
    /** Additional centripetal forces if half of a drift has the velocities v + w/2 and half v - w/2, beyond those for
     *  their mean v: those of a body without forces whose velocities are w/2. */
    void solveVelocitySpread(const Real3* positions, const Box& box, const Real3* w, std::vector<Real3>& forces,
                             const JoinedMotions& joined = {});

    /** Largest distance of a particle from its place in the shape that fits best. */
    BodyReport measurePositions(const Real3* positions, const Box& box) const;
    /** Largest difference of a velocity from that of rigid motion, times timeScale. */
    BodyReport measureVelocities(const Real3* positions, const Box& box, const Real3* velocity, double timeScale);

    int numPlaces() const { ///< particles of all bodies
        return firstPlace.back();
    }
    const std::vector<RigidBody>& getBodies() const {
        return bodies;
    }
    /** Place of a body's first particle in arrays over the particles of all bodies. */
    int firstPlaceOf(int body) const {
        return firstPlace[body];
    }

private:
    /** What is summed over the particles of a body. */
    struct Sums {
        rigid::Moments place, field;
        void add(const Sums& other);
    };
    using Frame = bodyLoops::Frame;
    /** Sum up each body, solve(body, frame, moments of the field) for its motion, then move(body, first and last place
     * in it, frame, motion) parts of its particles. */
    template <class Solve, class Move>
    BodyReport solveEach(const Real3* positions, const Box& box, const Real3* field, const JoinedMotions& joined,
                         Solve solve, Move move, bool isFitted = false);
    /** Set a field of particles that several bodies share to the mean of their copies.
     *  @param valueOf  (body, place in it, place of all) */
    template <class ValueOf>
    void averageShared(Real3* field, ValueOf valueOf) const;
    /** For solveEach(): move(body, place in it, place of all, frame, motion) each particle that it has alone, or each
     *  one that is not an anchor. */
    template <class Move>
    auto eachMoving(Move move) const {
        return eachOf(moving.empty() ? places : moving, move);
    }
    template <class Move>
    auto eachParticle(Move move) const {
        return eachOf(places, move);
    }
    template <class Move>
    auto eachOf(const std::vector<BodyPlace>& some, Move move) const;
    Sums sumOf(int body, int first, int last, const Real3* positions, const Box& box, const Real3* field) const;
    BodyRange rangeOf(int body, int first, int last, const std::vector<BodyPlace>& some) const {
        return {&bodies[body].particles[first], &some[firstPlace[body] + first], last - first};
    }
    BodyRange movingRangeOf(int body, int first, int last) const {
        return rangeOf(body, first, last, moving.empty() ? places : moving);
    }

    const std::vector<RigidBody>& bodies;
    std::vector<int> firstPlace;   // [bodies+1]
    std::vector<BodyPlace> places; // of all bodies in turn
    std::vector<BodyPlace> moving; // the same, mass 0 of particles that bodies share; empty if there are none
    struct Copy {
        int particle, body, placeInBody;
    };
    std::vector<Copy> copies; // by particle
    struct Task {             // small bodies, or a part of a large one
        int firstBody, lastBody, first, last;
    };
    std::vector<Task> tasks;
    std::shared_ptr<TaskRunner> runner;
};

} // namespace ConstraintPlugin

#endif
