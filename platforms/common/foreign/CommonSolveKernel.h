// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COMMON_SOLVE_KERNEL_H_
#define OPENMM_CONSTRAINTS_COMMON_SOLVE_KERNEL_H_

#include "DeviceConstraints.h"
#include "ReplacedKernels.h"
#include "ReplacingSolver.h"
#include "openmmconstraints/ConstraintKernels.h"
#include <deque>

namespace ConstraintPlugin {

/** Replaces SETTLE, SHAKE and CCMA of OpenCL and CUDA. In a step, which begins with updateContextState(), solves are
 *  launched and nothing waits for them: a failure is read when the device has come to it, and before anybody reads the
 *  state. States that users set are projected on the host, by ReplacingSolver. */
class CommonSolveKernel : public SolveConstraintsKernel, private SolverCalls {
public:
    CommonSolveKernel(const std::string& name, const OpenMM::Platform& platform, OpenMM::ContextImpl& context,
                      std::unique_ptr<Device> device);
    ~CommonSolveKernel() override;
    void initialize(OpenMM::ContextImpl& context, const ConstraintSet& constraints) override;
    bool setTargets(const ConstraintSet& constraints) override;
    bool projectStart(OpenMM::ContextImpl& context) override;
    void requireNearConstraints(OpenMM::ContextImpl& context) override;
    void requireSolved(OpenMM::ContextImpl& context) override;
    SolverSummary getSummary() const override;
    std::vector<RankOfGroup> findRanks(OpenMM::ContextImpl& context) override;

private:
    void solvePositions() override;
    void solveVelocities() override;
    void project() override;
    void beforeState() override;
    void afterPositions() override;
    void afterBox() override;

    /** Whether an integrator that calls updateContextState() takes a step now. */
    bool isInStep() const {
        return cc.getStepCount() == stepBegun;
    }
    ProgramKind programKind() const;
    /** Let the program be that of the present constraints and settings. */
    void prepare();
    /** Give it the present order of particles and the box. */
    void takeFrame();
    /** The host has seen the positions: give it mirror images that they have, of bodies. */
    void takeShapes();
    void launch(const char* stage, StepSolve solve);
    /** Bring positions that others have set onto the constraints. @return whether they have changed */
    bool projectOnHost();
    void solveVelocitiesOnHost();
    /** @throws ConstraintException if a launch has failed; waits for all of them */
    void requireSuccess();
    /** The same, without waiting, for those that the device has done. */
    void pollFailure();
    bool isUnread(StepSolve solve) const;
    /** @param launch  that has failed */
    [[noreturn]] void reportFailure(DeviceFailure failure, int launch);
    std::vector<OpenMM::Vec3> positions();
    void setPositions(const std::vector<OpenMM::Vec3>& x);

    OpenMM::ContextImpl& owner;
    std::unique_ptr<ReplacingSolver> solver;
    DeviceConstraints onDevice;
    OpenMM::ComputeContext& cc;
    std::unique_ptr<ReplacedKernels> kernels;
    std::unique_ptr<DevicePoll> poll;
    std::shared_ptr<const DeviceOrder> order; // of the program's arrays
    Box knownBox;                             // in which the positions were on the constraints
    int shapesRevision = 0;                   // ReplacingSolver's, of the program
    bool areGiven = false;                    // positions, at least once
    bool wereSet = true;                      // positions, by others: the host looks at them
    bool mayHaveMoved = true;                 // otherwise: the device does
    long long stepBegun = -1;                 // number of steps before the present one; -1: none has begun
    int nextLaunch = 0, polledLaunch = 0;     // polled: launches before it
    std::deque<std::pair<int, double>> begun; // steps whose success is not known: first launch, time (ps)
    mutable std::vector<StepSolve> unread;    // what was solved: a projection, or the stages of steps, and not read yet
};

} // namespace ConstraintPlugin

#endif
