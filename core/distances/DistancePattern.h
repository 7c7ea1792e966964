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

/** Structure that all clusters of one shape share: the particles that distances share, and the symbolic factor of their
 *  matrix, with rows sorted by part, by level and by length of their column. Columns of one level and length are a run:
 *  loops over their entries have a fixed length, and the columns do not depend on each other. */
struct DistancePattern {
    /** @param given   [rows] with particles of any numbers; those of the pattern are `particleNumber`
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

    /** Rows that a thread can process independently of others, and particles that other parts do not have. */
    struct Part {
        int beginRow, endRow;
        int beginRun, endRun;
        int beginShared, endShared;
        int beginParticle, endParticle;
        int beginTopEnd, endTopEnd;
        /** Where its copies of the top's rows and entries begin. What it contributes to the top goes there. */
        int copyRow, copyEntry;
    };
    /** A particle of a row of the top. */
    struct TopEnd {
        int row, particle;
        bool isFirst; ///< of the pair
    };
    bool isSplit() const {
        return !parts.empty();
    }
    /** Entries of a part's columns begin and end there. */
    int firstEntry(const Part& part) const {
        return part.beginRun < (int) runs.size() ? runs[part.beginRun].entry : numEntries();
    }
    int lastEntry(const Part& part) const {
        return part.endRun < (int) runs.size() ? runs[part.endRun].entry : numEntries();
    }

    struct Run {
        int begin, end;   ///< columns
        int length;       ///< number of entries of each column
        int entry;        ///< first entry of the first column
        long long update; ///< first update of the first column
    };
    /** An element of the matrix that is not zero: two rows that share a movable particle. */
    struct SharedElement {
        int entry, row, column;
    };
    /** That particle, and the product of its signs in both rows. */
    struct SharedParticle {
        int particle;
        double sign;
    };
    bool isPeriodic = false;                     ///< bonds take the minimum image
    std::vector<LocalPair> pairs;                ///< [rows], by position in the elimination
    std::vector<char> isMovable;                 ///< [particles]
    std::vector<int> positionOf;                 ///< [rows] given row -> position
    std::vector<int> givenRow;                   ///< [rows] position -> given row
    std::vector<int> particleNumber;             ///< [particles] given particle -> number, by part
    std::vector<int> entryRow;                   ///< [entries] position of the row, by column, ascending
    std::vector<Run> runs;                       ///< ascending
    std::vector<SharedElement> sharedElements;   ///< by entry
    std::vector<SharedParticle> sharedParticles; ///< [sharedElements]
    std::vector<int> updateTarget;               ///< as in SymbolicFactor
    /** Unions of subtrees of the elimination tree: eliminating the rows of a part changes only this part and its copy
     * of the top. Empty if a cluster is not split. */
    std::vector<Part> parts;
    /** All other rows, which come last: they separate the parts. Its particles are those that no part has. */
    Part top;
    std::vector<TopEnd> topEnds;                 ///< by part, then those of the top; none if the cluster is not split
    int numStoredRows = 0, numStoredEntries = 0; ///< with all copies

private:
    void numberParticles();
    void copyTop();
};

} // namespace ConstraintPlugin

#endif
