// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_WIDE_TRIANGLE_H_
#define CONSTRAINTS_CORE_WIDE_TRIANGLE_H_

#include "Real3.h"

namespace ConstraintPlugin {

/** Three of some points that are far apart, by their places in a list. */
struct WideTriangle {
    int a = 0, b = 0, c = 0;
    double longest = 0; ///< |b - a|
    double area = 0;    ///< of the parallelogram

    /** @param n   number of points, at least one
     *  @param at  place in the list -> Real3 */
    template <class Point>
    WideTriangle(int n, Point at) {
        const auto farthestFrom = [&](int from) {
            int best = from;
            for (int i = 0; i < n; i++)
                if (norm(at(i) - at(from)) > norm(at(best) - at(from)))
                    best = i;
            return best;
        };
        b = farthestFrom(0);
        a = farthestFrom(b);
        longest = norm(at(b) - at(a));
        for (int i = 0; i < n; i++) {
            const double size = norm(cross(at(b) - at(a), at(i) - at(a)));
            if (size > area) {
                area = size;
                c = i;
            }
        }
    }
    bool isOnALine() const {
        return !(area > 0.02 * longest * longest);
    }
};

} // namespace ConstraintPlugin

#endif
