// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_PART_TABLES_H_
#define OPENMM_CONSTRAINTS_PART_TABLES_H_

#include "ConstraintSet.h"
#include "Elimination.h"
#include <string>
#include <vector>

namespace ConstraintPlugin {

class ConstraintTables;

/** How many of everything a part of a cluster has, or at most the parts of a range. */
struct PartCounts {
    PartCounts() = default;
    /** Of a part whose rows can stay in shared memory.
     *  @param constraints  that it solves, then its ring  @param factor  of those that it solves */
    PartCounts(const ConstraintSet& set, const std::vector<int>& constraints, const SymbolicFactor& factor);
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
    int ringBodies = 0;    ///< those of the ring alone; counted if the part may take up bodies' particles
    int bodyPlaces = 0;    ///< particles of all these, if the part may take them up
    int joints = 0;        ///< rows of listed kinds at places in bodies
    int jointPoints = 0;   ///< particles and places of joints
    int globalRows = 0;    ///< rows of other kinds, which are evaluated in global memory
    int slots = 0;         ///< of all these: a gradient for each node
    int moreCouplings = 0; ///< of rows that share more than one node, beyond the first
    /** Those of rows; with particles of bodies, which come behind them. */
    int placesOfRows() const {
        return places + others;
    }
    int allPlaces() const {
        return placesOfRows() + bodyPlaces;
    }
    /** Take up no particles of bodies. */
    void leaveBodies();
    /** The most of both. */
    void include(const PartCounts& other);
    /** Both side by side. */
    void add(const PartCounts& other);
};

/** What a thread block keeps in its shared memory of a part (kernels/partLocal.cc): numbers, and tables with indices of
 * 16 bits within the part, which it reads once. All parts of a range have the same layout. */
class PartLayout {
public:
    explicit PartLayout(const PartCounts& counts);
    /** Whether indices fit into 15 bits. */
    bool fits() const;
    /** Bytes of shared memory. @param mixedBytes   of a number in the Context's precision for sums
     *                          @param numberBytes  of a number that changes while a solve iterates (numbers.cc) */
    long long bytes(int mixedBytes, int numberBytes) const;
    /** #define NAME VALUE of all places. */
    std::string definitions() const;
    bool hasAngles() const {
        return n.angles > 0;
    }
    bool hasExpressions() const {
        return n.expressions > 0;
    }
    /** Whether parts can take up the particles of their bodies. */
    bool hasBodyPlaces() const {
        return n.bodyPlaces > 0;
    }
    /** Whether there are rows that are evaluated in global memory. */
    bool hasGlobalRows() const {
        return n.globalRows > 0;
    }
    /** Ints of the tables of one part: vectors of four. */
    int tableInts() const {
        return 4 * ((numInts + (numShorts + 1) / 2 + 3) / 4);
    }
    /** The tables of a part. */
    std::vector<int> tablesOf(const ConstraintSet& set, const ConstraintTables& tables, int part) const;

private:
    struct Array {
        std::string name;
        int begin;
    };
    PartCounts n;
    // With their places among those of their kind.
    std::vector<Array> numbers4, mixeds, floats4, numbers, floats, ints, shorts;
    int numNumbers4 = 0, numMixeds = 0, numFloats4 = 0, numNumbers = 0, numFloats = 0, numInts = 0, numShorts = 0;
};

} // namespace ConstraintPlugin

#endif
