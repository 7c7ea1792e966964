// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SUBDOMAIN_COUNTS_H_
#define OPENMM_CONSTRAINTS_SUBDOMAIN_COUNTS_H_

#include "ConstraintSet.h"
#include "Elimination.h"
#include <vector>

namespace ConstraintPlugin {

/** How a subdomain has a row, which decides its tables: a joint is of a listed kind and at places in joined bodies; an
 *  expression is one of particles; other rows are evaluated in global memory. */
enum class SubdomainRow { Distance, Angle, Expression, Joint, Global };
SubdomainRow subdomainRowOf(const ConstraintSet& set, const Constraint& c);

/** Updates of an element in one record of subdomainFactor.cc. Distances have no more at a level: they are from rows
 * that no entry joins, and a row has two particles: of three rows that are joined to it, two are joined by the same
 * one, and so to each other. Rows of other kinds may have more; further ones are in records that follow. */
constexpr int updatesOfRecord = 2;

/** How many of everything a subdomain of a cluster has, or at most the subdomains of a range. */
struct SubdomainCounts {
    SubdomainCounts() = default;
    /** Of a subdomain whose rows can stay in shared memory.
     *  @param constraints  that it solves, then its ring  @param factor  of those that it solves */
    SubdomainCounts(const ConstraintSet& set, const std::vector<int>& constraints, const SymbolicFactor& factor);
    int rows = 0;   ///< solved ones, and the ring
    int solved = 0; ///< rows
    int places = 0; ///< nodes that are displaced
    int others = 0; ///< nodes of the ring alone
    int entries = 0, records = 0, levels = 0;
    int rowsOfPlace = 0;   ///< the most that a node is in
    int angles = 0;        ///< rows that are angles and dihedrals
    int expressions = 0;   ///< rows that are expressions of particles
    int points = 0;        ///< of expressions
    int bodies = 0;        ///< joined bodies that are displaced
    int joints = 0;        ///< rows of listed kinds at places in bodies
    int jointPoints = 0;   ///< particles and places of joints
    int globalRows = 0;    ///< rows of other kinds, which are evaluated in global memory
    int slots = 0;         ///< of all these: a gradient for each node
    int moreCouplings = 0; ///< of rows that share more than one node, beyond the first
    int allPlaces() const {
        return places + others;
    }
    /** The most of both. */
    void include(const SubdomainCounts& other);
    /** Both side by side. */
    void add(const SubdomainCounts& other);
};

} // namespace ConstraintPlugin

#endif
