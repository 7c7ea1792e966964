// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_GROUPS_H_
#define CONSTRAINTS_TESTS_GROUPS_H_

#include "support/Simulation.h"
#include <functional>

namespace ConstraintTests {

/** Molecules of all sorts, and constraints of centroids of groups of them: groups overlap, several constraints have a
 *  group in common, one has all its particles in one molecule, some have particles of rigid bodies, one has an anchor.
 *  Where there are others than waters, also a coordination number of some of all sorts. */
struct Groups {
    std::unique_ptr<OpenMM::System> system;
    Vectors positions; ///< constraints hold there
    /** What is constrained, evaluated without the library, and its value. The first constraints are the centroids'. */
    struct Check {
        std::function<double(const Vectors& x)> q;
        double value;
    };
    std::vector<Check> checks;

    /** The largest error of any. */
    double error(const Vectors& x) const;
    /** Random, for all particles with mass. */
    Vectors random(double size, unsigned seed) const;
    /** Springs between particles of small difference in index. */
    void addSprings(double k = 500);
};

/** What groups are made of, besides waters. Molecules: all but rigid bodies. AllSorts: one body, in a small cluster.
 *  ManyBodies: besides, two that share a particle, bonded to a chain, and a large one that only groups reach. */
enum class Among { WatersOnly, Molecules, AllSorts, ManyBodies };

/** @param periodic  in a triclinic box: distances take minimum images, and two groups are in different ones */
Groups makeGroups(Among among, int numWaters, bool periodic = false);

} // namespace ConstraintTests

#endif
