// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_TABLES_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_TABLES_H_

#include "BodyTables.h"
#include "BorderTables.h"
#include "ConstraintSolver.h"
#include "Subdomain.h"
#include "SubdomainTables.h"
#include <array>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

namespace ConstraintPlugin {

/** Largest cluster of distances whose threads solve it by themselves, with text for its shape, and the largest one
 * whose numbers are all in registers (smallClusters.cc). */
constexpr int maxSmallCluster = 8, maxInRegisters = 3;

/** Threads of a block of small clusters, one for each particle. */
constexpr int smallBlock = 64;

/** Which distances of a small cluster join which particles. */
struct SmallShape {
    int size = 0, particles = 0;
    unsigned firsts = 0, seconds = 0; ///< of each row, by four bits: places of its particles in the cluster
    unsigned periodic = 0;            ///< by one bit: whether the nearest image counts
    int ofBlock() const {
        return smallBlock / particles;
    }
    /** Blocks of so many clusters. */
    int blocks(int count) const {
        return (count - 1) / ofBlock() + 1;
    }
    /** Lengths that a thread loads. */
    int lengthsOfLane() const {
        return (size - 1) / particles + 1;
    }
    /** Those that take longest first. */
    bool operator<(const SmallShape& other) const {
        return std::tuple(-size, particles, firsts, seconds, periodic) <
               std::tuple(-other.size, other.particles, other.firsts, other.seconds, other.periodic);
    }
};

/** Threads of the largest block. */
constexpr int maxBlockSize = 512;

/** Threads of the largest block of a subdomain. */
constexpr int maxSubdomainBlock = 256;

/** Clusters that need only smaller blocks, or no shared memory, are solved in a launch of their own where they are at
 *  least so many. Fewer run side by side on most GPUs whatever their blocks are, and next to the larger ones. */
constexpr int minOwnRange = 256;

/** Rows up to which one thread may solve a general cluster; a thread block is faster for more. */
constexpr int maxThreadRows = 8;

/** The threads that solve a general cluster. Subdomain: a block for each subdomain of a cluster. */
enum class ThreadGroupKind { Thread, Block, Subdomain };

/** A ConstraintSet and its graph as the flat arrays that kernels read.
 *
 *  Clusters of few distances are `small`: by shape, in blocks of threads, one for each of their particles. Particles
 *  without constraints follow, and so do immovable ones, whether or not clusters have them. All others are `general`,
 * in ranges by their ThreadGroupKind. A subdomain of a large cluster counts as a cluster here: it has rows of its own,
 * copies of those that other subdomains own among them, first those that it solves, then its ring, whose multipliers it
 * reads. A cluster of several subdomains is there as a whole, too, at the end of a range: it is solved so where
 * subdomains do not converge soon. Clusters of one subdomain may be a bundle: side by side, they count as one cluster.
 * Rows of small clusters come first, then those of general clusters, then redundant ones, which are checked. Free rigid
 * bodies have no rows. Joined ones are two nodes each in those of constraints that join them
 * (ConstraintSet::nodesOf()): a node is a particle, or numParticles + 2 b is the origin and numParticles + 2 b + 1 the
 * turn of joined body b (numFreeBodies + b of BodyTables). A row has a slot for each of its nodes. */
class ConstraintTables : public BodyTables, public BorderTables {
public:
    /** The thread groups that are available for general clusters. */
    struct ThreadGroups {
        bool hasBlocks = false;     ///< thread blocks, or only single threads
        bool hasSubdomains = false; ///< blocks may solve large clusters in overlapping subdomains
        int largestBlock = maxBlockSize;
        int waitingBlocks = 1; ///< blocks of a launch that can wait for each other
        /** Numbers in the largest factor and right-hand side that fit into the shared memory of a block of this size.
         */
        std::function<long long(int blockSize)> sharedNumbers = [](int) { return 0; };
        int mixedBytes = 8, numberBytes = 8; ///< of the numbers of a subdomain: SubdomainLayout::bytes()
    };
    /** @param smallInRegisters  whether there may be small clusters */
    ConstraintTables(const ConstraintSolver& solver, bool smallInRegisters, const ThreadGroups& available);

    using Int2 = std::array<int, 2>;
    using Int3 = std::array<int, 3>;
    using Int4 = std::array<int, 4>;

    int numParticles = 0;
    int numSmallClusters = 0;
    int numRows = 0;               ///< small and general
    std::vector<int> constraintOf; ///< [numRows + redundant] the constraint of each row; subdomains may have copies
    std::vector<int> ownRows;      ///< the rows that are no copies
    std::vector<int> redundant;    ///< constraints that depend on others: checked, not solved
    bool readsEnd = false;         ///< reading multipliers needs the positions at the end of a step
    bool readsBodies = false;      ///< recognized bodies have multipliers of their constraints
    /** Whether constraints depend on each other, or bodies have multipliers of constraints. */
    static bool mustReadEnd(const ConstraintSolver& solver) {
        return !solver.getChecked().empty() || !solver.getSet().recognized.empty();
    }
    /** Blocks of small clusters and of particles without constraints in one launch: those at the border, or all others.
     */
    struct SmallBlocks {
        std::vector<int> shapes; ///< that occur, those of most rows first
        int first = 0, last = 0;
        int threads() const {
            return smallBlock * (last - first);
        }
    };
    SmallBlocks small, smallAtBorder;
    std::vector<SmallShape> smallShapes;
    std::vector<Int4> smallPlaces; ///< by shape: first block, first cluster, first row
    /** [blocks][smallBlock] A thread's particle, ~ of it if another thread takes its step; 16 (shape + 1), 0 without
     *  constraints, + the particle's place in its cluster. {0, -1}: none. */
    std::vector<Int2> smallLanes;
    int lengthsOfLane = 1;
    /** [blocks][lengthsOfLane][smallBlock] nm, row k of a cluster in the lane of place k % particles. */
    std::vector<double> smallLengths;
    int numSmallBlocks() const {
        return (int) smallLanes.size() / smallBlock;
    }

    /** General clusters first ... last-1, which one kernel solves. Those of thread blocks are in ranges by the size of
     *  the blocks, largest first, and by whether factors fit into shared memory. Subdomains that stay in shared memory
     * are in one range, those of the largest clusters first, as long as the most of all fits; other cuts are in others.
     */
    struct Range {
        ThreadGroupKind group;
        bool isIterative;
        bool isJoined;      ///< there are joined bodies in these clusters, and in no others
        bool isAtBorder;    ///< a bordered row reaches these clusters, and no others
        bool isSplit;       ///< there are subdomains of clusters that have several
        bool exceedsDevice; ///< clusters have more subdomains than the device has multiprocessors
        int blockSize;      ///< threads; of single threads, those that are launched together
        int first, last;
        int end; ///< where whole clusters end that are also there in subdomains
        int cut; ///< of subdomains
    };
    int numGeneralClusters = 0;
    std::vector<Range> ranges;
    /** Tables of 16-bit indices of subdomains that stay in shared memory, by the first subdomain of their range. */
    struct SubdomainTable {
        SubdomainLayout layout;
        int first; ///< in subdomainTables
    };
    std::map<int, SubdomainTable> layouts;
    std::vector<SubdomainCounts> subdomainCounts; ///< [general clusters] of such subdomains
    std::vector<int> bundled;                     ///< [general clusters] how many clusters are side by side in it
    std::vector<int> subdomainTables;
    std::vector<int> rowStart, particleStart; ///< [general clusters + 1]
    std::vector<int> solvedEnd;               ///< [general clusters] where the rows end that it solves
    /** [general clusters] first and last subdomain of its cluster, and the same cluster as one subdomain. */
    std::vector<Int4> subdomainsOfCluster;
    std::vector<int> rowOwner; ///< [numRows] the row in the subdomain that owns the constraint: its multiplier counts
    std::vector<int> rowWhole; ///< [numRows] the row of the same constraint in the cluster as one subdomain
    std::vector<int> slotNode; ///< [slots] the node, in arrays of nodes, or in a subdomain a place behind all nodes
    std::vector<int> ownsNode; ///< by place in clusterParticle: whether this subdomain moves the particle
    std::vector<int> clusterParticle;                 ///< movable nodes of each cluster in turn, particles first
    std::vector<int> particleSlotStart, particleSlot; ///< by place in clusterParticle: slots that are this node
    std::vector<int> clusterBodyStart, clusterBody;   ///< [general clusters + 1] joined bodies that a cluster moves
    std::vector<int> bodyPlace;   ///< as clusterBody: in a subdomain, the place of the body's origin in clusterParticle
    std::vector<int> placeBodies; ///< [clusterParticle] in a subdomain, the place in clusterBody of a node's body

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

    // Factors, see factor.cc. Rows and entries (columns' entries below the diagonal) are counted from a
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
    /** Free all arrays that have an element per row, slot, entry or update, except constraintOf, ownRows, redundant and
     *  movingRows. The host does not use them after they were uploaded. */
    void releaseRows();
    /** Small and general ones, then bodies. */
    int numClusters() const {
        return firstBodyCluster() + numBodies;
    }
    int firstBodyCluster() const {
        return numSmallClusters + numGeneralClusters;
    }
    /** Subdomains of large clusters. */
    int numSubdomains() const {
        int count = 0;
        for (const Range& range : ranges)
            count += range.group == ThreadGroupKind::Subdomain ? range.last - range.first : 0;
        return count;
    }
    /** Rows that a cluster or subdomain solves. */
    int numRowsOf(int cluster) const {
        return solvedEnd[cluster] - rowStart[cluster];
    }
    /** Particles, and two nodes of each joined body. In arrays of nodes, places of subdomains come behind them. */
    int numNodes() const {
        return numParticles + 2 * numJoinedBodies();
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

    /** A way to cut clusters into subdomains. Where they do not converge, the cluster is solved as a whole. */
    struct Cut {
        int ownRows, hops;   ///< SubdomainLimits
        int mostCorrections; ///< that subdomains make
        int firstJudged;     ///< the first correction that has to gain enough
        int mostPercent;     ///< of the largest error before it that it may leave
    };
    /** @param number  Range::cut */
    static Cut cutOf(int number);
    /** A cluster as thread blocks solve it. */
    struct InSubdomains {
        std::vector<Subdomain> subdomains;   ///< none: it is solved as a whole
        std::vector<SubdomainCounts> counts; ///< of each; none if they cannot stay in shared memory
        int cut = 0;                         ///< its number
    };
    static InSubdomains subdomainsFor(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster,
                                      bool hasSubdomains);
    /** Whether a cluster is small, provided that small clusters are used. */
    static bool isSmall(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster);
    static SmallShape shapeOf(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster);

private:
    /** What solves a cluster; in this order of the tables. */
    struct Server {
        bool isJoined;
        bool isAtBorder;
        ThreadGroupKind group;
        bool isIterative;
        int blockSize;
        bool isShared;      ///< the factor is in shared memory
        bool isSplit;       ///< the cluster has several subdomains
        bool exceedsDevice; ///< it has more subdomains than the device has multiprocessors
        bool isLocal;       ///< subdomains stay in shared memory
        int cut;            ///< of its subdomains
        bool operator<(const Server& other) const {
            return order() < other.order();
        }

    private:
        std::tuple<bool, bool, ThreadGroupKind, bool, bool, bool, int, bool, int, bool> order() const {
            return {isJoined, isAtBorder, group,    isIterative, !exceedsDevice,
                    !isLocal, cut,        !isSplit, -blockSize,  isShared};
        }
    };
    /** Clusters, and the subdomains in which they are solved, if any: only those of one subdomain may be several. */
    struct Served {
        Server server;
        std::vector<const Cluster*> clusters;
        std::vector<Subdomain> subdomains;
        std::vector<SubdomainCounts> counts;
        int numRows() const {
            return clusters[0]->size();
        }
    };
    /** How clusters of one subdomain are put into bundles. */
    struct Bundling {
        std::vector<std::size_t> ends; ///< of bundles, among the clusters
        SubdomainCounts largest;       ///< the most of all subdomains, others' too
        long long blocks = 0;          ///< subdomains
    };
    ThreadGroupKind threadGroupOf(const ConstraintGraph& graph, const Cluster& cluster, bool hasSubdomains) const;
    Server serverOf(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster,
                    const InSubdomains& inSubdomains) const;
    std::size_t endOfRange(const std::vector<Served>& served, std::size_t first) const;
    bool fitsShared(const SubdomainCounts& counts, int blockSize) const;
    std::vector<Served> inBundles(std::vector<Served> served) const;
    Bundling bundlingOf(const std::vector<Served>& served, std::size_t firstWhole, int mostRows) const;
    int blockSizeOfSubdomain(int rows, const SubdomainCounts& counts) const;
    void addRange(const ConstraintSet& set, const ConstraintGraph& graph, const std::vector<Served>& served);
    bool smallInRegisters;
    ThreadGroups available;
    std::vector<int> placeOf; // temporary array of addParticles()
    struct Point {
        int particle, row;
        double weight;
    };
    std::vector<Point> points;     // temporary: of rows that join bodies
    std::vector<char> isJoinedRow; // likewise: whether a row joins bodies
    void addSmall(const ConstraintSet& set, const ConstraintGraph& graph, std::vector<char>& isTaken);
    int nodeOf(int node) const;
    int frameOfJoint(const ConstraintSet& set, const Constraint& c) const;
    void addRow(const ConstraintSet& set, int constraint, bool isSolved, bool isOwn = true);
    void addSubdomainTables(const ConstraintSet& set, const Range& range, const std::vector<Served>& served);
    void addPoints(const ConstraintSet& set, const Constraint& c, bool isSolved);
    void addPointSlots();
    void addGeneral(const ConstraintSet& set, const ConstraintGraph& graph);
    /** Whether a bordered row reaches a constraint's cluster. */
    bool isClusterAtBorder(const ConstraintSet& set, int constraint) const {
        return borderPlaceOf(set, constraint) >= 0;
    }
    /** The place of any node of a constraint at the border; -1: none is there. */
    int borderPlaceOf(const ConstraintSet& set, int constraint) const;
    void addBorder(const ConstraintSet& set, const ConstraintGraph& graph);
    void addPieces(int firstRow);
    void addWhole(const ConstraintSet& set, const ConstraintGraph& graph, const std::vector<const Cluster*>& clusters,
                  bool isSubdomain, bool isCopy);
    void addSubdomains(const ConstraintSet& set, const ConstraintGraph& graph, const Cluster& cluster,
                       const std::vector<Subdomain>& subdomains, int whole);
    void endCluster(int numTogether);
    void addParticles(int firstRow, int solvedEnd, int lastRow, bool isSubdomain);
    void addClusterBodies(int firstRow, int lastRow);
    void addPlaces(int firstRow, int lastRow);
    void addFactor(const SymbolicFactor& factor, std::vector<Coupling> couplings, int firstRow);
    void addColours(int firstRow, int lastRow);
};

} // namespace ConstraintPlugin

#endif
