// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PLACEMENT_H_
#define CONSTRAINTS_CORE_PLACEMENT_H_

#include "Real3.h"
#include <vector>

namespace ConstraintPlugin {

/** A known distance of a point that is to be placed. */
struct Anchor {
    Real3 position;
    double length; ///< nm
};

/** Where distances from anchors put a point: trilateration. */
struct Placement {
    enum Kind {
        None,    ///< nowhere: the anchors are on one line, or no place has these distances
        Unique,  ///< one place
        TwoSided ///< either side of the plane of all anchors
    };
    Kind kind = None;
    bool isInPlane = false; ///< of the anchors, which then do not hold it there to first order
    Real3 point;            ///< nm; of two, the one on the side of the normal (b - a) x (c - a)
};

/** @param anchors    at least three
 *  @param tolerance  relative difference of lengths up to which they fit */
Placement placeByAnchors(const std::vector<Anchor>& anchors, double tolerance);

/** The largest relative difference of a place's distances from what the anchors say. */
double misfit(const std::vector<Anchor>& anchors, const Real3& place);

} // namespace ConstraintPlugin

#endif
