// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_MIXTURE_H_
#define CONSTRAINTS_TESTS_MIXTURE_H_

#include "support/Simulation.h"
#include <functional>

namespace ConstraintTests {

/** A random System with every kind of constraint, at positions that satisfy all of them. */
struct Mixture {
    /** One constraint, evaluated without any of the library's code. */
    struct Check {
        std::string name;
        std::vector<int> particles;
        /** Relative of a length, radians of an angle, nm of an expression (|sigma|/|grad sigma|). */
        std::function<double(const Vectors& x, double time)> error;
    };
    std::unique_ptr<OpenMM::System> system;
    Vectors positions, velocities;
    std::vector<Check> checks;

    /** Whether every constraint holds at a time (ps) within a tolerance. */
    testing::AssertionResult holds(const Vectors& x, double time, double tolerance) const;
};

/** Straight and flat sets by distances and angles, rigid bodies, molecules by distances, chains with angles, angles of
 *  180 degrees and dihedrals, immovable anchors; within and between them distances, angles, dihedrals, centroid
 *  distances and expressions of 1 to 12 particles, some of which move; more constraints than are independent.
 *  @param periodic  in a triclinic box, wrapped where no constraint needs a particle's own place */
Mixture drawMixture(unsigned seed, bool periodic);

} // namespace ConstraintTests

#endif
