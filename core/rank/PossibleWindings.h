// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_POSSIBLE_WINDINGS_H_
#define CONSTRAINTS_CORE_POSSIBLE_WINDINGS_H_

#include "ConstraintSet.h"
#include <vector>

namespace ConstraintPlugin {

/** Find, from lengths alone, which constraints may join particles to their own periodic images.
 *
 *  The bond vectors of a ring add up to a vector of the lattice, which is zero if the lengths add up to less than the
 *  smallest width of the box. A spanning tree is chosen, and a bond is added to it if it closes a ring shorter than
 *  that with the bonds that are there: no ring of these bonds winds around the box. Bonds that close only longer rings
 *  remain. The legs of an angle or a dihedral that no distance holds have no bound.
 *
 *  @param constraints  of particles
 *  @return those with a bond that remains, ascending; empty: no ring of any of them winds around the box */
std::vector<int> findPossibleWindings(const ConstraintSet& set, const std::vector<int>& constraints, const Box& box);

} // namespace ConstraintPlugin

#endif
