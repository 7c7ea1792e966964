// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_SPLIT_TREE_H_
#define CONSTRAINTS_CORE_DISTANCES_SPLIT_TREE_H_

#include "Elimination.h"

namespace ConstraintPlugin {

/** Cut the elimination tree of a large factor into subtrees and deal them out to parts, whose columns can be eliminated
 *  side by side. The columns above, the top, come last: they separate the parts. The number of parts depends on the
 *  factor only.
 *  @return [columns] part, or the number of parts: the top. Empty if the factor is too small, or if the top would take
 *          too long, because one thread eliminates it */
std::vector<int> splitTree(const SymbolicFactor& factor);

} // namespace ConstraintPlugin

#endif
