// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_VANISHING_GRADIENT_H_
#define CONSTRAINTS_CORE_VANISHING_GRADIENT_H_

#include "ConstraintSet.h"

namespace ConstraintPlugin {

/** An expression whose gradient vanishes wherever it is zero, as that of (z1-h)^2, so that no multiplier can hold it.
 */
struct VanishingGradient {
    /** sigma, and |grad sigma| (per nm) with respect to the particles that have mass. */
    struct Values {
        double sigma = 0, gradient = 0;
    };
    int constraint = -1; ///< -1: there is none
    Values given;        ///< at the given positions
    Values near;         ///< where Newton's method leads: |sigma|/|grad sigma| is below 1e-6 nm, or both are zero
};

/** Look for expressions with a multiple root: sigma grows with the distance s from its surface as s^m, m > 1.
 *
 *  Newton's method for sigma alone finds the surface, be it slowly. On either side of it, at a distance s, Newton's
 * step has the length s/m. Of a proper surface m is 1: where it is curved the step is too short on one side, and too
 * long on the other. A multiple root may be a single point of a surface (the apex of a cone), so that beside it has to
 * be one, too.
 *  @param among  constraints; what is no expression is passed over
 *  @param given  [numParticles] nm, positions that are reported
 *  @param near   [numParticles] nm, the same, or others closer to the surface to start from
 *  @param time   ps
 *  @return the first that is found */
VanishingGradient findVanishingGradient(const ConstraintSet& set, const std::vector<int>& among, const Real3* given,
                                        const Real3* near, const Box& box, double time);

} // namespace ConstraintPlugin

#endif
