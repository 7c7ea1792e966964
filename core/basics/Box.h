// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BOX_H_
#define CONSTRAINTS_CORE_BOX_H_

#include "Real3.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace ConstraintPlugin {

/** A triclinic periodic box in OpenMM's reduced form. Without vectors there is no box, and the minimum image of a
 * vector is the vector itself. */
struct Box {
    Real3 a, b, c;

    bool isEmpty() const {
        return a.x == 0;
    }
    Real3 minimumImage(Real3 r) const {
        if (std::abs(r.x) < 0.5 * a.x && std::abs(r.y) < 0.5 * b.y && std::abs(r.z) < 0.5 * c.z)
            return r; // saves the divisions below for nearly all bonds
        if (isEmpty())
            return r;
        r = r - std::floor(r.z / c.z + 0.5) * c;
        r = r - std::floor(r.y / b.y + 0.5) * b;
        return r - std::floor(r.x / a.x + 0.5) * a;
    }
    /** Longest distance that the minimum image represents. */
    double halfWidth() const {
        return isEmpty() ? std::numeric_limits<double>::infinity() : 0.5 * std::min({a.x, b.y, c.z});
    }
};

inline bool sameBox(const Box& a, const Box& b) {
    return a.a == b.a && a.b == b.b && a.c == b.c;
}

} // namespace ConstraintPlugin

#endif
