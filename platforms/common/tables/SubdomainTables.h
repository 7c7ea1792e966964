// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_PART_TABLES_H_
#define OPENMM_CONSTRAINTS_PART_TABLES_H_

#include "SubdomainLayout.h"
#include <vector>

namespace ConstraintPlugin {

class ConstraintTables;

/** The tables of a part, which its thread block reads into shared memory: PartLayout::tableInts() numbers.
 *  @param part  its number among general clusters */
std::vector<int> tablesOfPart(const PartLayout& layout, const ConstraintSet& set, const ConstraintTables& tables,
                              int part);

} // namespace ConstraintPlugin

#endif
