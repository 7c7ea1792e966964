// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_DISTANCE_PATTERN_H_
#define CONSTRAINTS_CORE_DISTANCES_DISTANCE_PATTERN_H_

#include "Elimination.h"
#include <vector>

namespace ConstraintPlugin {

/** The two particles of a distance, numbered within its cluster. */
struct LocalPair {
    int first, second;
};

/** What all clusters of one shape share: which distances meet where, and the symbolic factor of their matrix, its rows
 *  sorted by level and by length of their column. Columns of one level and length are a run: loops over them have a
 *  fixed number of rounds, and none needs what another computes. */
struct DistancePattern {
    /** @param given   [rows]
     *  @param movable [particles] immovable ones couple nothing
     *  @param factor  of the matrix of these rows
     *  @param order   [rows] position in the factor -> given row */
    DistancePattern(const std::vector<LocalPair>& given, const std::vector<char>& movable, const SymbolicFactor& factor,
                    const std::vector<int>& order);

    int numRows() const {
        return (int) pairs.size();
    }
    int numParticles() const {
        return (int) isMovable.size();
    }
    int numEntries() const {
        return (int) entryRow.size();
    }

    struct Run {
        int begin, end;   ///< columns
        int length;       ///< entries of each
        int entry;        ///< the first one's first
        long long update; ///< and its first update
    };
    /** An element of the matrix that is not zero: two rows that meet at a movable particle. */
    struct Meeting {
        int entry, row, column, particle;
        double sign; ///< of the product of the particle's signs in both rows
    };
    std::vector<LocalPair> pairs;  ///< [rows], by position in the elimination
    std::vector<char> isMovable;   ///< [particles]
    std::vector<int> positionOf;   ///< [rows] given row -> position
    std::vector<int> entryRow;     ///< [entries] position of the row, by column, ascending
    std::vector<Run> runs;         ///< ascending
    std::vector<Meeting> meetings; ///< by entry
    std::vector<int> updateTarget; ///< as in SymbolicFactor
    int maxColumn = 0;             ///< entries of the longest column
};

} // namespace ConstraintPlugin

#endif
