// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_LENGTH_CONFLICT_H_
#define CONSTRAINTS_CORE_LENGTH_CONFLICT_H_

#include "Box.h"
#include "ConstraintSet.h"
#include <optional>

namespace ConstraintPlugin {

/** Particles whose distances and angles no positions hold. Without any one of the particles, the rest hold. */
struct LengthConflict {
    std::vector<int> particles;    ///< ascending
    std::vector<int> constraints;  ///< distances and angles among them, ascending
    double error = 0;              ///< nm, root mean square of what a fit in the least-squares sense leaves
    int worst = -1;                ///< the constraint that the fit misses most, relative to its length
    double length = 0, fitted = 0; ///< nm, of this one: of an angle, the distance of its ends
};

/** Find a smallest set of distances and angles that contradict each other, close to some particles. Sets of neighbours
 *  are fitted in the least-squares sense, from the given positions and from others near them.
 *  @param set     targets are those of the present
 *  @param x       [numParticles] nm
 *  @param near    particles where to look first
 *  @param bound   relative error that is none
 *  @return the smallest of those found first, and of these the one with the largest error; nothing if there is none
 * that is found by as many fits as a failed projection costs */
std::optional<LengthConflict> findLengthConflict(const ConstraintSet& set, const Real3* x, const Box& box,
                                                 const std::vector<int>& near, double bound);

} // namespace ConstraintPlugin

#endif
