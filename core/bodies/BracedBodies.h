// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_BRACED_BODIES_H_
#define CONSTRAINTS_CORE_BRACED_BODIES_H_

#include "RigidSets.h"

namespace ConstraintPlugin {

/** Find the sets that constraints outside them brace: at positions in general these take part in a self-stress together
 *  with what holds the set. Such a set is rigid without being flat, and a shape that is flat within rounding only would
 *  contradict what braces it.
 *
 *  @param isAsked  [bodies] about which sets
 *  @return [bodies] whether it is braced; false where rounding does not tell */
std::vector<char> findBraced(const ConstraintSet& set, const std::vector<RigidSet>& bodies,
                             const std::vector<char>& isAsked);

} // namespace ConstraintPlugin

#endif
