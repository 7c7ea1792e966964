// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_ROTOR_H_
#define CONSTRAINTS_TESTS_ROTOR_H_

#include "support/Verifier.h"
#include <array>

namespace ConstraintTests {

/** A rigid body without forces: Euler's equations and a quaternion, by the classical Runge-Kutta method. It shares no
 *  code with the library. A massless particle, of which there may be one, holds its place. */
class Rotor {
public:
    Rotor(std::vector<double> masses, const Arrays& positions, const Arrays& velocities);
    /** Positions of the particles after a time. @param steps  of the method */
    Arrays positionsAfter(double time, int steps) const;
    Arrays velocities() const; ///< at the start, those of the rigid motion
    /** Moments of inertia, ascending, and the angular velocity along their axes at the start. */
    const std::array<double, 3>& moments() const {
        return inertia;
    }
    const std::array<double, 3>& angularVelocity() const {
        return omega;
    }

private:
    std::array<double, 3> inertia, omega;
    Real3 axes[3];           // at the start
    Real3 centre, drift;     // of mass, or of the massless particle
    std::vector<Real3> body; // places along the axes
};

/** Angular momentum about the origin, and kinetic energy. */
Real3 angularMomentum(const std::vector<double>& masses, const Arrays& x, const Arrays& v);
double kineticEnergy(const std::vector<double>& masses, const Arrays& v);

} // namespace ConstraintTests

#endif
