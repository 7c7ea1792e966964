// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_TETRAHEDRON_H_
#define CONSTRAINTS_CORE_TETRAHEDRON_H_

#include "Real3.h"
#include <algorithm>

namespace ConstraintPlugin {

/** The smallest height of a tetrahedron over one of its faces, nm; 0 if its corners are in a plane.
 *  @param corners  [4] */
inline double smallestHeight(const Real3* corners) {
    double largest = 0; // twice the area of a face
    for (int top = 0; top < 4; top++) {
        const Real3 &a = corners[(top + 1) % 4], &b = corners[(top + 2) % 4], &c = corners[(top + 3) % 4];
        largest = std::max(largest, norm(cross(b - a, c - a)));
    }
    const double volume =
        std::abs(dot(cross(corners[1] - corners[0], corners[2] - corners[0]), corners[3] - corners[0]));
    return largest > 0 ? volume / largest : 0;
}

} // namespace ConstraintPlugin

#endif
