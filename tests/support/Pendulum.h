// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_PENDULUM_H_
#define CONSTRAINTS_TESTS_PENDULUM_H_

#include "support/Verifier.h"

namespace ConstraintTests {

/** Two rigid bodies, the first of which turns about a fixed point and the second about a point of the first: Newton's
 *  and Euler's equations with the forces in both points, by the classical Runge-Kutta method. It shares no code with
 * the library. */
class DoublePendulum {
public:
    /** Particles of a body, of which the one at `joint` holds it: in the first body the fixed point, without mass, in
     * the second the point that both share, which has its mass in the first body. */
    struct Body {
        std::vector<double> masses;
        Arrays places; ///< at the start, nm
        Real3 joint;
    };
    /** @param rates    angular velocities at the start (1/ps)
     *  @param gravity  acceleration (nm/ps^2) */
    DoublePendulum(const Body& first, const Body& second, const Real3& firstRate, const Real3& secondRate,
                   const Real3& gravity);
    /** Positions of the particles of each body after a time. @param steps  of the method */
    std::pair<Arrays, Arrays> positionsAfter(double time, int steps) const;

private:
    struct Part {
        double mass = 0;
        Real3 centre;              // at the start
        double inertia[3][3] = {}; // there, about the centre
        Arrays places;             // from the centre
        Real3 joint;               // likewise
    };
    struct State;
    State slopeOf(const State& s) const;
    Part parts[2];
    Real3 jointInFirst; // of the second body, from the centre of the first
    Real3 rates[2], gravity;
};

} // namespace ConstraintTests

#endif
