// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SUBDOMAIN_TABLES_H_
#define OPENMM_CONSTRAINTS_SUBDOMAIN_TABLES_H_

#include "SubdomainLayout.h"
#include <vector>

namespace ConstraintPlugin {

class ConstraintTables;

/** The tables of a subdomain, which its thread block reads into shared memory: SubdomainLayout::tableInts() numbers.
 *  @param subdomain  its number among general clusters */
std::vector<int> tablesOfSubdomain(const SubdomainLayout& layout, const ConstraintSet& set,
                                   const ConstraintTables& tables, int subdomain);

} // namespace ConstraintPlugin

#endif
