// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SPANNING_BASE_H_
#define CONSTRAINTS_CORE_SPANNING_BASE_H_

#include "ConstraintSet.h"
#include "RigidSets.h"

namespace ConstraintPlugin {

/** C_b of r = sum_b C_b r_b, sum_b C_b = 1, of two or three points, by ratios of lengths or areas. */
std::vector<double> affineWeights(const std::vector<Real3>& base, const Real3& place);

/** Particles that span a linear or planar body: every other one is an affine combination of them, r_a = sum_b C_ab r_b
 *  (Ciccotti, Ferrario, Ryckaert, Mol. Phys. 47, 1253 (1982), doi 10.1080/00268978200100942). Distances among them that
 *  are given are preferred, and small weights. Immovable particles come first.
 *  @return two particles of a linear body, three of a planar one, in their order there */
std::vector<int> chooseBase(const ConstraintSet& set, const RigidSet& body);

} // namespace ConstraintPlugin

#endif
