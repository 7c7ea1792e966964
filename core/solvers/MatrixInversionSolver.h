// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_MATRIX_INVERSION_SOLVER_H_
#define CONSTRAINTS_CORE_MATRIX_INVERSION_SOLVER_H_

#include "ClusterSolver.h"
#include "SparseMatrix.h"

namespace ConstraintPlugin {

/** Newton's method: all multipliers of a coupled cluster at once.
 *
 *  Positions:  A d lambda = -sigma(r), A_kl = sum_i (1/m_i) grad_i sigma_k(r) . grad_i sigma_l(0), repeated: quadratic
 *              convergence. A = J(r) M^-1 J(0)^T is not symmetric.
 *  Velocities: (J M^-1 J^T) mu = -J v, linear and symmetric: factored once; a second pass refines.
 *
 *  Closed forms for 1 to 3 constraints, dense LU up to maxDenseCluster, sparse LU and LDLT beyond.
 *  Source: Kraeutler, van Gunsteren, Huenenberger, J. Comput. Chem. 22, 501 (2001) (M-SHAKE); Andersen, J. Comput.
 *  Phys. 52, 24 (1983). */
class MatrixInversionSolver : public ClusterSolver {
public:
    explicit MatrixInversionSolver(const ConstraintGraph& graph);
    ClusterReport solvePositions(const Cluster& cluster, const StageInput& input, Real3* delta,
                                 double* lambda) override;
    ClusterReport solveVelocities(const Cluster& cluster, const StageInput& input, double timeScale, Real3* velocity,
                                  double* mu) override;

private:
    const ConstraintGraph& graph;
    std::vector<SparseMatrix> sparse; // one per sparse cluster
    std::vector<double> correction;   // d lambda of the cluster at hand
};

/** The matrix of one cluster's rows from gradients by slot, current and start: diagonal(row, value) for each row, then
 *  element(coupling, A(row, column), A(column, row)) for each term. */
template <class Diagonal, class Element>
void assemble(const ConstraintGraph& graph, const Cluster& cluster, const Jacobian& J, const Real3* current,
              Diagonal diagonal, Element element) {
    for (int row = cluster.begin; row < cluster.end; row++)
        diagonal(row - cluster.begin, J.diagonal(row, current));
    for (int i = cluster.couplingBegin; i < cluster.couplingEnd; i++) {
        const Coupling& c = graph.couplings[i];
        const double w = J.inverseMass[c.slotRow];
        element(c, w * dot(current[c.slotRow], J.start[c.slotColumn]),
                w * dot(current[c.slotColumn], J.start[c.slotRow]));
    }
}

} // namespace ConstraintPlugin

#endif
