// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CLUSTER_SOLVER_H_
#define CONSTRAINTS_CORE_CLUSTER_SOLVER_H_

#include "ConstraintGraph.h"
#include "Jacobian.h"

namespace ConstraintPlugin {

/** Result of a solve. `row` is the row with the largest error, or the failing one. */
struct ClusterReport {
    Outcome outcome = Outcome::Converged;
    int iterations = 0;
    double maxError = 0;
    int row = -1;

    /** Note the error of a row; keeps the largest. @return false if it is not finite */
    bool note(int row, double error) {
        if (!(error <= maxError) || this->row < 0) {
            maxError = error;
            this->row = row;
        }
        return std::isfinite(error);
    }
};

/** Input of both stages. setStart() of the Jacobian has been called. */
struct StageInput {
    Jacobian& jacobian;
    double tolerance;
    int maxIterations;
    const double* rateOffset =
        nullptr; ///< [numRows] velocity stage: solve J v + rateOffset = 0, as d sigma/dt; none: 0

    double offset(int row) const {
        return rateOffset ? rateOffset[row] : 0.0;
    }
};

/** Solves one cluster at a time, by one method.
 *
 *  Position stage: find lambda with sigma(r + delta) = 0, delta_i += (1/m_i) sum_k lambda_k grad_i sigma_k(0).
 *  Velocity stage: find mu with sum_i grad_i sigma_k . v_i = 0, v_i += (1/m_i) sum_k mu_k grad_i sigma_k.
 *  lambda, mu: [numRows], amu nm and amu nm/ps for a distance; in: initial guess where warm started, out: result. */
class ClusterSolver {
public:
    virtual ~ClusterSolver() = default;
    /** @param delta  [numParticles] nm; in: unconstrained displacement, out: constrained */
    virtual ClusterReport solvePositions(const Cluster& cluster, const StageInput& input, Real3* delta,
                                         double* lambda) = 0;
    /** @param velocity   [numParticles] nm/ps; in: unconstrained, out: constrained
     *  @param timeScale  ps: the error of a row is |dq/dt| * timeScale, relative as for positions */
    virtual ClusterReport solveVelocities(const Cluster& cluster, const StageInput& input, double timeScale,
                                          Real3* velocity, double* mu) = 0;
};

} // namespace ConstraintPlugin

#endif
