// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_MIXTURE_H_
#define CONSTRAINTS_TESTS_MIXTURE_H_

#include "support/Simulation.h"
#include <functional>

namespace ConstraintTests {

/** A random System with every kind of constraint, and positions that satisfy all of them. */
struct Mixture {
    /** One constraint, evaluated without any of the library's code. */
    struct Check {
        std::string name;
        std::vector<int> particles;
        /** Relative for a length, in radians for an angle, in nm (|sigma|/|grad sigma|) for an expression. */
        std::function<double(const Vectors& x, double time)> error;
    };
    std::unique_ptr<OpenMM::System> system;
    Vectors positions, velocities;
    std::vector<Check> checks;

    /** Whether every constraint holds at a time (ps) within a tolerance. */
    testing::AssertionResult holds(const Vectors& x, double time, double tolerance) const;
};

/** Linear and planar sets of distances and angles, rigid bodies, molecules held by distances, chains with angles and
 *  dihedrals, angles of 180 degrees, immovable anchors; within and between them distances, angles, dihedrals, centroid
 *  distances, expressions of 1 to 12 particles and expressions of centroids, some with moving targets. Some constraints
 * are redundant.
 *  @param periodic  in a triclinic box; particles are moved to periodic images, unless a constraint of theirs has no
 *                   minimum image
 *  @param moving    false: the same, but all targets stand still */
Mixture drawMixture(unsigned seed, bool periodic, bool moving = true);

} // namespace ConstraintTests

#endif
