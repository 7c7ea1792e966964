// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_ITERATIVE_SOLVER_H_
#define CONSTRAINTS_CORE_ITERATIVE_SOLVER_H_

#include "ClusterSolver.h"

namespace ConstraintPlugin {

/** SHAKE and RATTLE: corrects one constraint at a time and repeats until all hold. Starts from the given multipliers:
 *  zero, or those of the last step (warm start).
 *
 *  Positions:  d lambda_k = -sigma_k(r) / sum_i (1/m_i) grad_i sigma_k(r) . grad_i sigma_k(0)     (3.9.15)
 *  Velocities: d mu_k = -(dq_k/dt) / sum_i (1/m_i) |grad_i sigma_k|^2
 *
 *  Source: Tuckerman, Statistical Mechanics: Theory and Molecular Simulation, ch. 3.9; Ryckaert, Ciccotti, Berendsen,
 *  J. Comput. Phys. 23, 327 (1977); Andersen, J. Comput. Phys. 52, 24 (1983). */
class IterativeSolver : public ClusterSolver {
public:
    ClusterReport solvePositions(const Cluster& cluster, const StageInput& input, Real3* delta,
                                 double* lambda) override;
    ClusterReport solveVelocities(const Cluster& cluster, const StageInput& input, double timeScale, Real3* velocity,
                                  double* mu) override;
};

} // namespace ConstraintPlugin

#endif
