// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_DISTANCES_DISTANCE_SOLVER_H_
#define CONSTRAINTS_CORE_DISTANCES_DISTANCE_SOLVER_H_

#include "ConstraintGraph.h"
#include "TaskRunner.h"
#include <memory>

namespace ConstraintPlugin {

/** Both stages for clusters of distances that do not move in time, by matrix inversion, on several threads. Equal small
 * clusters are solved together in SIMD lanes, others one by one. Clusters that it cannot solve are left unchanged for
 *  MatrixInversionSolver. Results do not depend on the number of threads. */
class DistanceSolver {
public:
    DistanceSolver(const ConstraintSet& set, const ConstraintGraph& graph, std::shared_ptr<TaskRunner> runner);
    ~DistanceSolver();

    /** Take the targets that Context parameters have changed. @param set  otherwise as before */
    void takeTargets(const ConstraintSet& set);

    struct Report {
        std::vector<int> unsolved{}; ///< clusters, of those asked for, that were not solved, ascending
        int iterations = 0;
        double maxError = 0;      ///< in units of the tolerance, of all clusters when they were solved last
        std::vector<int> worst{}; ///< rows, one of which has this error
    };
    enum class Which { All, AtBorder };
    /** As in DistanceBatch, for all clusters, or only those that bordered rows reach. */
    Report solvePositions(const Real3* x, const Box& box, Real3* delta, double tolerance, int maxIterations,
                          Real3* velocity, double perTime, Which which = Which::All);
    Report solveVelocities(const Real3* x, const Box& box, Real3* velocity, double timeScale, double tolerance,
                           int maxIterations, Which which = Which::All);

    /** Multipliers of the last stages of solved clusters. @param[in,out] byRow  [rows]; other rows do not change */
    void getPositionMultipliers(std::vector<double>& byRow) const;
    void getVelocityMultipliers(std::vector<double>& byRow, Which which = Which::All) const;

private:
    class Batches;
    class Builder;

    std::shared_ptr<TaskRunner> runner;
    std::unique_ptr<Batches> batches;
};

} // namespace ConstraintPlugin

#endif
