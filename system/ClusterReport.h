// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CLUSTER_REPORT_H_
#define OPENMM_CONSTRAINTS_CLUSTER_REPORT_H_

#include "ConstraintGraph.h"
#include "openmmconstraints/SolverSummary.h"

namespace ConstraintPlugin {

/** Clusters of a graph by shape, the largest first. */
std::vector<ClusterInfo> describeClusters(const ConstraintSet& set, const ConstraintGraph& graph);

/** How many rigid bodies nothing joins: each is a cluster of its own. */
int countFreeBodies(const ConstraintSet& set);

/** The solvers of the clusters of a graph: "MatrixInversion (closed form 3x3, sparse LDLT/LU)". */
std::string describeSolver(const ConstraintGraph& graph);

/** Whether a constraint is solved by the Iterative solver. */
bool isServedIteratively(const ConstraintGraph& graph, int constraint);

/** Which clusters are Iterative because their factors would be too large; empty if none is. */
std::string describeFallbacks(const ConstraintGraph& graph);

} // namespace ConstraintPlugin

#endif
