// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DEFORMATION_H_
#define CONSTRAINTS_CORE_DEFORMATION_H_

#include "Box.h"

namespace ConstraintPlugin {

/** A homogeneous deformation of space, r -> r + E r, by a small strain E. It is upper triangular, so that a box keeps
 *  OpenMM's form: a along x, b in the plane of x and y. */
struct Deformation {
    double xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0;

    static Deformation ofAllLengths(double strain) {
        return {strain, strain, strain};
    }
    Real3 operator()(const Real3& r) const {
        return {r.x + (xx * r.x + xy * r.y + xz * r.z), r.y + (yy * r.y + yz * r.z), r.z + zz * r.z};
    }
};

/** How often box vectors were subtracted from others: a from b, a from c, b from c. */
struct Reduction {
    double aInB = 0, aInC = 0, bInC = 0;
};

/** Bring vectors of a lattice, which have OpenMM's form, within the bounds of its reduced form: |b.x| and |c.x| are at
 *  most a.x/2, |c.y| at most b.y/2. */
inline Reduction reduce(Box& box) {
    Reduction times;
    times.aInB = std::round(box.b.x / box.a.x);
    box.b = box.b - times.aInB * box.a;
    times.bInC = std::round(box.c.y / box.b.y);
    box.c = box.c - times.bInC * box.b;
    times.aInC = std::round(box.c.x / box.a.x);
    box.c = box.c - times.aInC * box.a;
    return times;
}

/** A deformed box in reduced form, and how it was reduced. */
struct DeformedBox {
    Box box;
    Reduction reduction;

    DeformedBox(const Deformation& deformation, const Box& from)
        : box{deformation(from.a), deformation(from.b), deformation(from.c)} {
        reduction = reduce(box);
    }
};

} // namespace ConstraintPlugin

#endif
