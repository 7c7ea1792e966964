// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REFERENCE_SOLVE_KERNEL_H_
#define OPENMM_CONSTRAINTS_REFERENCE_SOLVE_KERNEL_H_

#include "TaskRunner.h"
#include "openmmconstraints/ConstraintKernels.h"
#include <memory>

namespace ConstraintPlugin {

class ReplacingSolver;

/** Replaces SETTLE and CCMA of the Reference and CPU platforms. */
class ReferenceSolveKernel : public SolveConstraintsKernel {
public:
    ReferenceSolveKernel(const std::string& name, const OpenMM::Platform& platform, std::shared_ptr<TaskRunner> runner)
        : SolveConstraintsKernel(name, platform), runner(std::move(runner)) {
    }
    void initialize(OpenMM::ContextImpl& context, const ConstraintSet& constraints) override;
    bool setTargets(const ConstraintSet& constraints) override;
    bool projectStart(OpenMM::ContextImpl& context) override;
    void requireNearConstraints(OpenMM::ContextImpl& context) override;
    SolverSummary getSummary() const override;
    std::vector<RankOfGroup> findRanks(OpenMM::ContextImpl& context) override;

private:
    std::shared_ptr<TaskRunner> runner;
    std::shared_ptr<ReplacingSolver> solver; // shared with the algorithm that OpenMM calls, which may live longer
};

/** Let Context.applyConstraints() and applyVelocityConstraints() call an integrator of ours, which is the only one of
 *  its Context, instead of SETTLE and CCMA. */
void solveByOwnIntegrator(OpenMM::ContextImpl& context);

} // namespace ConstraintPlugin

#endif
