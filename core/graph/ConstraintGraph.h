// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONSTRAINT_GRAPH_H_
#define CONSTRAINTS_CORE_CONSTRAINT_GRAPH_H_

#include "Border.h"
#include "ConstraintSet.h"
#include "Elimination.h"
#include <stdexcept>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** The solver that the user selected; the same values as ConstraintIntegrator::Solver. */
enum class Method { Automatic, Iterative, MatrixInversion };

/** The solver of one cluster. */
enum class ClusterSolverKind { Iterative, ClosedForm1, ClosedForm2, ClosedForm3, Dense, Sparse };
constexpr int numClusterSolverKinds = 6;

const char* nameOf(ClusterSolverKind kind);

/** Constraints that are coupled through shared movable nodes (particles, and joined bodies): rows begin ... end-1. */
struct Cluster {
    int begin = 0, end = 0;
    int couplingBegin = 0, couplingEnd = 0;
    ClusterSolverKind kind = ClusterSolverKind::Iterative;
    int factor = -1;         ///< index into ConstraintGraph::factors, sparse clusters only
    int refused = -1;        ///< index into ConstraintGraph::refused if its factor would be too large
    bool isAtBorder = false; ///< whether a bordered row has any of its nodes

    int size() const {
        return end - begin;
    }
};

/** Two rows of a cluster that share a movable node: one term of the matrix elements (row, column) and
 *  (column, row), row > column. Slots count nodes over all rows: row r's are slotStart[r] ... slotStart[r+1]-1. */
struct Coupling {
    int row, column;
    int slotRow, slotColumn;
    int entry; ///< sparse clusters: index into the factor's entries
};

/** Largest cluster with a dense matrix. */
constexpr int maxDenseCluster = 10;

/** MatrixInversion was selected, but the factor of a cluster exceeds EliminationLimits. */
class FactorTooLarge : public std::runtime_error {
public:
    FactorTooLarge(const std::string& message, std::string remedy, const FillCount& fill)
        : std::runtime_error(message), remedy(std::move(remedy)), fill(fill) {
    }
    const std::string remedy;
    const FillCount fill;
    std::vector<int> constraints, particles; ///< of the cluster, ascending: declared constraints, movable particles
};

class SharedNodes;

/** The structure of a set of constraints: its clusters, the solver of each, and the order in which its rows are
 * eliminated. It does not depend on platforms or coordinates. It is built once and used by every solver. */
class ConstraintGraph {
public:
    /** @param set     all constraints
     *  @param active  indices of the constraints to solve: movable and independent
     *  @param method  which solvers may be chosen
     *  @param maxDense  largest cluster that is not sparse
     *  @param centroids  whether constraints of centroids have a border; if S would be too large, they are merged
     *  @throws FactorTooLarge if method is MatrixInversion and a factor exceeds EliminationLimits
     *  @throws OutOfMemory if there is not enough memory for a factor
     */
    ConstraintGraph(const ConstraintSet& set, const std::vector<int>& active, Method method,
                    int maxDense = maxDenseCluster, Centroids centroids = Centroids::Merged);

    std::vector<int> rows;      ///< [numRows] constraint of each row: by cluster, in order of elimination; the border
    std::vector<int> slotStart; ///< [numRows+1]
    std::vector<Cluster> clusters;
    std::vector<Coupling> couplings;     ///< by cluster
    std::vector<SymbolicFactor> factors; ///< of the sparse clusters
    std::vector<FillCount> refused;      ///< of clusters that are Iterative because their factors would be too large
    Border border;                       ///< its rows are the last ones

    int numRows() const {
        return (int) rows.size();
    }
    /** The first row of the border. */
    int borderBegin() const {
        return numRows() - (int) border.rows.size();
    }

private:
    void addCluster(const ConstraintSet& set, std::vector<int>& members, Method method, int maxDense,
                    SharedNodes& shared);
    void addRow(const ConstraintSet& set, int constraint);
};

/** Rows of a cluster that share a movable node with each row, ascending. Rows are counted from the cluster's first.
 *  Iterative clusters have none, because their couplings are not listed. */
std::vector<std::vector<int>> neighboursIn(const ConstraintGraph& graph, const Cluster& cluster);

/** "about 6.1e+06 entries and 1.2e+09 updates (4.9 GB)" */
std::string describe(const FillCount& fill);

/** Group constraints that share a movable node, directly or through others: the clusters, each ascending. */
std::vector<std::vector<int>> findClusters(const ConstraintSet& set, const std::vector<int>& active);

} // namespace ConstraintPlugin

#endif
