// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_TABLES_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_TABLES_H_

#include "BodyTables.h"
#include "ConstraintSolver.h"
#include <array>
#include <functional>
#include <tuple>
#include <vector>

namespace ConstraintPlugin {

/** Largest cluster of distances that one thread solves with text for its size, and the largest one wholly in registers
 *  (kernels/smallClusters.cc). */
constexpr int maxSmallCluster = 8, maxInRegisters = 3;

/** Threads of the largest block. */
constexpr int maxBlockSize = 512;

/** Clusters that need only smaller blocks, or no shared memory, are solved in a launch of their own where they are at
 *  least so many. Fewer run side by side on most GPUs whatever their blocks are, and next to the larger ones. */
constexpr int minOwnRange = 256;

/** The threads that solve a general cluster. */
enum class ThreadGroupKind { Thread, Block, Grid };

/** A ConstraintSet and its graph as the flat arrays that kernels read.
 *
 *  Clusters of few distances are `small`: by size, largest first, with their particles stored as all first ones, all
 *  second ones, .... Particles without constraints are clusters of size 0, and so are immovable ones, whether or not
 *  clusters have them. All others are `general`, in ranges by their ThreadGroupKind. Rows of small clusters come first,
 *  then those of general clusters, then redundant ones, which are checked. Free rigid bodies have no rows. Joined ones
 *  are two nodes each in those of constraints that join them (ConstraintSet::nodesOf()): a node is a particle, or
 *  numParticles + 2 b is the origin and numParticles + 2 b + 1 the turn of joined body b (numFreeBodies + b of
 *  BodyTables). A row has a slot for each of its nodes. */
class ConstraintTables : public BodyTables {
public:
    /** The thread groups that are available for general clusters. */
    struct ThreadGroups {
        bool hasBlocks = false; ///< thread blocks, or only single threads
        bool hasGrid = false;   ///< all blocks of a launch, which can wait for each other
        int largestBlock = maxBlockSize;
        /** Numbers in the largest factor and right-hand side that fit into the shared memory of a block of this size.
         */
        std::function<long long(int blockSize)> sharedNumbers = [](int) { return 0; };
        /** Updates of a factorization that one block does in the time that all blocks take to wait for each other. */
        long long gridCost = 4000;
    };
    /** @param smallInRegisters  whether there may be small clusters */
    ConstraintTables(const ConstraintSolver& solver, bool smallInRegisters, const ThreadGroups& available);

    using Int2 = std::array<int, 2>;
    using Int3 = std::array<int, 3>;
    using Int4 = std::array<int, 4>;

    int numParticles = 0;
    int numSmallClusters = 0;
    int numRows = 0;               ///< small and general
    std::vector<int> constraintOf; ///< [numRows + redundant] the constraint of each row
    std::vector<int> redundant;    ///< constraints that depend on others: checked, not solved
    bool readsEnd = false;         ///< reading multipliers needs the positions at the end of a step
    bool readsBodies = false;      ///< recognized bodies have multipliers of their constraints
    /** Whether constraints depend on each other, or bodies have multipliers of constraints. */
    static bool mustReadEnd(const ConstraintSolver& solver) {
        return !solver.getChecked().empty() || !solver.getSet().recognized.empty();
    }
    std::vector<int> sizes;          ///< of small clusters that occur, and 0: particles of no cluster
    std::vector<Int4> smallGroups;   ///< [maxSmallCluster + 1] by size: first cluster, count, first place, first row
    std::vector<int> smallParticles; ///< -1: none
    std::vector<int> smallClusterType;
    std::vector<Int4> smallTypes;     ///< first and second particles, 4 bits a row; periodic rows; first number
    std::vector<double> smallNumbers; ///< by type: lengths, then w_kl for l = k ..., k = 0 ...

    /** General clusters first ... last-1, which one kernel solves. Those of thread blocks are in ranges by the size of
     *  the blocks, largest first, and by whether factors fit into shared memory. */
    struct Range {
        ThreadGroupKind group;
        bool isIterative;
        bool isJoined; ///< there are joined bodies in these clusters, and in no others
        int blockSize; ///< threads; of single threads, those that are launched together
        int first, last;
    };
    int numGeneralClusters = 0;
    std::vector<Range> ranges;
    std::vector<int> rowStart, particleStart;         ///< [general clusters + 1]
    std::vector<int> clusterParticle;                 ///< movable nodes of each cluster in turn, particles first
    std::vector<int> particleSlotStart, particleSlot; ///< by place in clusterParticle: slots that are this node
    std::vector<int> clusterBodyStart, clusterBody;   ///< [general clusters + 1] joined bodies that a cluster moves

    // Rows of general clusters and redundant ones; indexed by row, those of small clusters are empty.
    std::vector<int> slotStart, slotParticle, slotRow; ///< slotParticle: nodes
    std::vector<double> slotWeight, slotInverseMass;   ///< 1/amu
    std::vector<int> rowKind, rowForm, rowPeriodic, rowFirstParameter;
    std::vector<double> rowTarget, rowRate, rowInverseScale, rowDirection; ///< rowDirection [rows][3]
    std::vector<int> movingRows;
    // The points of a row are its particles, at their places in joined bodies. Where a row joins bodies, they have
    // slots of their own, behind those of all nodes; otherwise its points are its nodes. Empty without joined bodies.
    int firstPointSlot = 0;
    std::vector<Int2> rowPoints;  ///< first and last slot
    std::vector<Int4> pointNodes; ///< [slots of points] slot of the particle or of the body's origin; slot of its turn,
                                  ///< joined body and place (bodyShape), -1: no body's

    // Factors, see kernels/factor.cc. Rows and entries (columns' entries below the diagonal) are counted from a
    // cluster's first one, except in couplingStart and rowIsLeaf, which are indexed over all clusters.
    std::vector<int> entryStart;     ///< [general clusters + 1]
    std::vector<int> couplingStart;  ///< [entries + 1]
    std::vector<Int2> couplingSlots; ///< of the entry's row and column
    std::vector<int> rowIsLeaf;      ///< [numRows] whether no row is eliminated before that is coupled to it
    std::vector<int> levelStart;     ///< [general clusters + 1]
    /** Updates of the columns of a level from later rows, by target. A target is an entry, or ~(2*row + isLast) for a
     *  diagonal element and the right-hand side; those come first. */
    std::vector<int> levelTargetStart, levelDiagonalEnd; ///< [levels + 1], [levels]
    std::vector<int> updateTarget, updateStart;          ///< [targets], [targets + 1]
    std::vector<Int3> updateSource; ///< entries of the target's row and of its column, and the level's row they are of
    std::vector<int> levelEntryStart; ///< [levels + 1]
    std::vector<Int3> levelEntry;     ///< by level of an entry's row: the entry, its column, its row

    // Iterative clusters: rows of one colour share no movable particle.
    std::vector<int> colourStart, colourRowStart, colourRow;

    // Expressions, one after the other: parameters of their constraints, Context parameters, tables of their functions.
    std::vector<double> customParameters, customGlobals, customTables;

    /** Target values of the rows at a time (ps): nm, or rad between -pi and pi. */
    std::vector<double> targetsAt(const ConstraintSet& set, double time) const;
    /** Free all arrays that have an element per row, slot, entry or update, except constraintOf, redundant and
     *  movingRows. The host does not use them after they were uploaded. */
    void releaseRows();
    /** Small and general ones, then bodies. */
    int numClusters() const {
        return firstBodyCluster() + numBodies;
    }
    int firstBodyCluster() const {
        return numSmallClusters + numGeneralClusters;
    }
    int numRowsOf(int cluster) const {
        return rowStart[cluster + 1] - rowStart[cluster];
    }
    /** Whether indices of rows and entries in each cluster fit into 16 bits: no cluster has more than maxShortNumbers
     *  of either. */
    static constexpr int maxShortNumbers = 1 << 16;
    bool hasShortNumbers() const {
        for (int c = 0; c < numGeneralClusters; c++)
            if (std::max(numRowsOf(c), numEntriesOf(c)) > maxShortNumbers)
                return false;
        return true;
    }
    int numEntriesOf(int cluster) const {
        return entryStart[cluster + 1] - entryStart[cluster];
    }

    /** Whether a cluster is small, provided that small clusters are used. */
    static bool isSmall(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster);

private:
    /** What solves a cluster; in this order of the tables. */
    struct Server {
        bool isJoined;
        ThreadGroupKind group;
        bool isIterative;
        int blockSize;
        bool isShared; ///< the factor is in shared memory
        bool operator<(const Server& other) const {
            return std::tuple(isJoined, group, isIterative, -blockSize, isShared) <
                   std::tuple(other.isJoined, other.group, other.isIterative, -other.blockSize, other.isShared);
        }
    };
    ThreadGroupKind threadGroupOf(const ConstraintGraph& graph, const Cluster& cluster) const;
    Server serverOf(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster) const;
    void addRanges(const std::vector<Server>& servers);
    bool smallInRegisters;
    ThreadGroups available;
    std::vector<int> placeOf; // temporary array of addParticles()
    struct Point {
        int particle, row;
        double weight;
    };
    std::vector<Point> points; // temporary: of rows that join bodies
    void addSmall(const ConstraintSet& set, const ConstraintGraph& graph, std::vector<char>& isTaken);
    int nodeOf(int node) const;
    int frameOfJoint(const ConstraintSet& set, const Constraint& c) const;
    void addRow(const ConstraintSet& set, int constraint, bool isSolved);
    void addPoints(const ConstraintSet& set, const Constraint& c, bool isSolved);
    void addPointSlots();
    void addGeneral(const ConstraintSet& set, const ConstraintGraph& graph);
    void addParticles(int firstRow, int lastRow);
    void addClusterBodies(int firstRow, int lastRow);
    void addFactor(const ConstraintGraph& graph, const Cluster& cluster, int firstRow);
    void addColours(int firstRow, int lastRow);
};

} // namespace ConstraintPlugin

#endif
