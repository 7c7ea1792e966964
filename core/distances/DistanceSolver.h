// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_DISTANCE_SOLVER_H_
#define CONSTRAINTS_CORE_DISTANCES_DISTANCE_SOLVER_H_

#include "ConstraintGraph.h"
#include "TaskRunner.h"
#include <memory>

namespace ConstraintPlugin {

/** Both stages for clusters of fixed distances that are solved by matrix inversion, on several threads. Equal small
 * clusters are solved together in SIMD lanes, others one by one. Clusters that it cannot solve are left unchanged for
 *  MatrixInversionSolver. Results do not depend on the number of threads. */
class DistanceSolver {
public:
    DistanceSolver(const ConstraintSet& set, const ConstraintGraph& graph, std::shared_ptr<TaskRunner> runner);
    ~DistanceSolver();

    struct Report {
        std::vector<int> unsolved{}; ///< clusters that were not solved, ascending
        int iterations = 0;
        double maxError = 0;      ///< in units of the tolerance
        std::vector<int> worst{}; ///< rows, one of which has this error
    };
    /** As in DistanceBatch, for all clusters. */
    Report solvePositions(const Real3* x, const Box& box, Real3* delta, double tolerance, int maxIterations,
                          Real3* velocity, double perTime);
    Report solveVelocities(const Real3* x, const Box& box, Real3* velocity, double timeScale, double tolerance,
                           int maxIterations);

    /** Multipliers of the last stages of solved clusters. @param[in,out] byRow  [rows]; other rows do not change */
    void getPositionMultipliers(std::vector<double>& byRow) const;
    void getVelocityMultipliers(std::vector<double>& byRow) const;

private:
    class Batches;
    class Builder;

    std::shared_ptr<TaskRunner> runner;
    std::unique_ptr<Batches> batches;
};

} // namespace ConstraintPlugin

#endif
