// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BRACED_BODIES_H_
#define CONSTRAINTS_CORE_BRACED_BODIES_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Find the bodies that constraints outside them brace: their own constraints take part in a self-stress at positions
 *  in general, where a body that nothing braces has none. Such a body is rigid without being straight or flat exactly.
 *
 *  @param set     with the bodies in place of what they replace
 *  @param rowsOf  [bodies] constraints that hold each; none: not asked about
 *  @return [bodies] whether it is braced; false where rounding does not tell
 */
std::vector<char> findBraced(const ConstraintSet& set, const std::vector<std::vector<int>>& rowsOf);

} // namespace ConstraintPlugin

#endif
