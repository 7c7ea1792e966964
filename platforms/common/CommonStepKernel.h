// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COMMON_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_COMMON_STEP_KERNEL_H_

#include "ConstraintProgram.h"
#include "openmmconstraints/internal/HostedStepKernel.h"

namespace ConstraintPlugin {

class ConstraintForceInfo;

/** What the steps of all integrators share on OpenCL and CUDA. Steps run on the device without a word from it; a
 *  failure is recorded there, stops all later launches, and is read once, when all steps asked for have been launched.
 *  States that users set are projected on the host, others that may be off the constraints (a barostat's) on the
 *  device. A derived class is one integrator's step. */
class CommonStepKernel : public HostedStepKernel {
public:
    CommonStepKernel(const std::string& name, const OpenMM::Platform& platform, OpenMM::ContextImpl& context,
                     OpenMM::ComputeContext& cc);
    ~CommonStepKernel() override;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    void setTargets(const ConstraintSet& constraints) override;
    void execute(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps) override;
    void invalidateForces(bool stateToo) override;

protected:
    /** The parts of a step, in the order of their launches. */
    virtual std::vector<StageText> stages() const = 0;
    /** Launch one time step. */
    virtual void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) = 0;
    /** Numbers that only this integrator's kernels need. */
    virtual void setOwnNumbers(const ConstraintIntegrator&) {
    }

    void launch(const std::string& stage);
    /** Forces at the present positions, computed unless they are at hand. */
    void computeForces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Check constraints that depend on others; then virtual sites, and the time advances. */
    void finishPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    void checkVelocities();

    const Real3* positions(OpenMM::ContextImpl& context) const override;
    const Real3* velocities(OpenMM::ContextImpl& context) const override;
    const Real3* forces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void setPositions(OpenMM::ContextImpl& context, const Real3* x) override;
    void setVelocities(OpenMM::ContextImpl& context, const Real3* v) override;
    double positionEpsilon() const override;
    void refreshReading() const override;
    std::uint64_t lastStateFingerprint() const override;
    void forgetLastState() override;

    OpenMM::ComputeContext& cc;
    std::unique_ptr<ConstraintProgram> program;

private:
    class Listener;
    /** Where particles are on the device, and in which copy of the box. */
    struct Order {
        std::vector<int> atomIndex;
        std::vector<OpenMM::mm_int4> cells;
    };
    /** A state as it was before the host projected it, for the step of a run that follows. */
    struct Given {
        int step = -1;
        std::vector<Real3> positions, velocities;
    };
    void prepareProgram(const ConstraintIntegrator& integrator);
    void setNumbers(const ConstraintIntegrator& integrator);
    void setMoment();
    void takeOrder();
    void reorder(const ConstraintIntegrator& integrator);
    int run(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps);
    void beginStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int step);
    void endStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, bool isLast);
    bool isTouched() const;
    void projectOnHost(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int step);
    void returnToGiven(OpenMM::ContextImpl& context);
    int readFailure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int launched,
                    double startTime, long long startCount);
    double clearFailure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int good,
                        double startTime, long long startCount);
    [[noreturn]] void reportFailure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int code,
                                    double time);
    void uploadMultipliers();
    /** The constraint that a row holds: of the molecule with this first particle, or of that in the last step. */
    int constraintOf(int row, int firstParticle) const;
    int constraintOf(int row) const;
    std::vector<Real3> downloadStart() const;
    Box deviceBox() const;

    OpenMM::ContextImpl& owner;
    Listener* listener = nullptr;        // the ComputeContext's
    ConstraintForceInfo* info = nullptr; // likewise
    std::vector<std::vector<int>> constraintsByFirstParticle;
    std::vector<int> placeByFirstParticle; // [constraints]
    int revision = -1;
    bool smallInRegisters = true, projectsVelocitiesAlways = false;

    bool stateWasSet = true;   // by a user: for the host to project
    bool mayHaveMoved = false; // by a barostat, say: for the device to project
    bool orderHasChanged = true, forcesAreKept = false;
    bool hasBegun = false;    // the step at hand has launched something
    bool isOwnChange = false; // the state is being set by this kernel
    int forceCount = -1, forceGroups = 0, nextLaunch = 0;
    double forceTime = 0, lastStepTime = 0, endTime = 0, readingStepSize = 0, workBefore = 0;
    Box forceBox;
    std::vector<double> globalsOnDevice;
    Order order; // in the last step
    Given given; // to return to where that step fails
    mutable bool readingIsStale = false;
    mutable std::vector<Real3> hostPositions, hostVelocities, hostForces;
};

} // namespace ConstraintPlugin

#endif
