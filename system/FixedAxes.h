// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_FIXED_AXES_H_
#define OPENMM_CONSTRAINTS_FIXED_AXES_H_

#include "ConstraintSet.h"
#include <array>

namespace ConstraintPlugin {

using Axes = std::array<bool, 3>;

/** The axes along which a translation of all particles of a constraint, with or without massless ones, changes sigma at
 * any of several random positions, near the origin and far from it, with the default Context parameters or other
 * values. */
Axes fixedBy(const ConstraintSet& set, const Constraint& c, bool masslessToo);

} // namespace ConstraintPlugin

#endif
