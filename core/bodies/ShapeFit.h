// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SHAPE_FIT_H_
#define CONSTRAINTS_CORE_SHAPE_FIT_H_

#include "LengthGraph.h"
#include "Real3.h"
#include <vector>

namespace ConstraintPlugin {

/** A point held on the line through two others: x = (1 - weight) x_a + weight x_b. */
struct PointOnLine {
    int point, a, b;
    double weight;
};

/** Fit points to lengths in the least-squares sense of relative differences, by Gauss-Newton with conjugate gradients
 *  inside. Points on the x axis or in the plane z = 0 stay there.
 *  @param points  [n] in: close to the solution, out: the fit (nm)
 *  @param onLine  points that follow others; their lengths alone would not hold them against bending */
void fitShape(std::vector<Real3>& points, const std::vector<KnownLength>& lengths,
              const std::vector<PointOnLine>& onLine = {});

/** Relative difference between the length that points have and the one they should have. */
double misfit(const std::vector<Real3>& points, const KnownLength& length);

} // namespace ConstraintPlugin

#endif
