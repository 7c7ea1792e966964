// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_PLANAR_STRESS_H_
#define CONSTRAINTS_CORE_PLANAR_STRESS_H_

#include "ShapeFit.h"
#include <vector>

namespace ConstraintPlugin {

/** Which points of a flat framework its lengths prove rigid: within the plane by rank, 2n - 3; out of it by a stress
 *  omega in equilibrium in the plane, sum_j omega_ij (r_i - r_j) = 0, for which sum_ij omega_ij (z_i - z_j)^2 > 0 for
 *  every displacement z out of the plane that does not merely tilt it. Such a framework is rigid to second order, and
 *  its lengths allow no other shape in any dimension (Connelly, Whiteley, SIAM J. Discrete Math. 9, 453 (1996), doi
 *  10.1137/S0895480192229236; Connelly, Invent. Math. 66, 11 (1982), doi 10.1007/BF01404753).
 *
 *  omega is sought by ascent of log det(1 + Omega), which is unbounded exactly if a semidefinite stress exists; what
 *  that leaves free to move out of the plane is left out, and the rest tried again.
 *
 *  @param points  in the plane z = 0 (nm)
 *  @param onLine  points that follow two others
 *  @return places of at least four points, ascending; empty if nothing is proven rigid
 */
std::vector<int> findBracedPoints(const std::vector<Real3>& points, const std::vector<KnownLength>& lengths,
                                  const std::vector<PointOnLine>& onLine);

} // namespace ConstraintPlugin

#endif
