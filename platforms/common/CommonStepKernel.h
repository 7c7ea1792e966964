// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COMMON_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_COMMON_STEP_KERNEL_H_

#include "ConstraintProgram.h"
#include "HostStepKernel.h"

namespace ConstraintPlugin {

class ConstraintForceInfo;

/** What the steps of all integrators share on OpenCL and CUDA. Steps run on the device without a word from it; a
 *  failure is recorded there, stops all later launches, and is read when the steps of a run have been launched.
 *  States that users set are projected on the host, others that may be off the constraints (a barostat's) on the
 *  device. A derived class is one integrator's step. */
class CommonStepKernel : public HostStepKernel {
public:
    CommonStepKernel(const std::string& name, const OpenMM::Platform& platform, OpenMM::ContextImpl& context,
                     std::unique_ptr<Device> device);
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
    /** Position stages of a step, which move over equal parts of it. */
    virtual int numDrifts(const ConstraintIntegrator&) const {
        return 1;
    }
    double driftTime(const ConstraintIntegrator& integrator) const {
        return integrator.getStepSize() / numDrifts(integrator);
    }
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
    std::string solverDescription() const override;
    double smallestTolerance() const override;
    void refreshReading() const override;
    std::uint64_t lastStateFingerprint() const override;
    void forgetLastState() override;

    /** Tell the launches that follow what time it is (ps). */
    void setTimeOfLaunches(double time) {
        program->arguments.set("time", time - referenceTime);
    }
    /** Keep the state as the start of the step at hand, for steps that change it before their first stage. */
    void keepState();
    /** The number of the next launch: a failure is recorded by it, and stops those of higher numbers. */
    int nextLaunch = 0;
    /** Index of the buffer, of two, that the step at hand writes, and that the last good one wrote. */
    int bufferNow = 0, readingBuffer = 0;

    std::unique_ptr<Device> device;
    OpenMM::ComputeContext& cc;
    std::unique_ptr<ConstraintProgram> program;

private:
    class Listener;
    /** Where particles are on the device, and in which copy of the box. */
    struct Order {
        std::vector<int> atomIndex;
        std::vector<OpenMM::mm_int4> cells;
    };
    /** What the numbers on the device mean from a step of a run on. */
    struct Frame {
        int firstStep = 0;
        std::shared_ptr<const Order> order;
        Box box;
    };
    /** Where a run of steps began, to count from. */
    struct RunStart {
        double time;
        long long stepCount;
        std::uint64_t stepsTaken;
    };
    /** A state as it was before the host projected it, for the step of a run that follows. */
    struct Given {
        int step = -1;
        std::vector<Real3> positions, velocities;
    };
    /** Whether a thread may solve a small cluster in its registers: warm starts are in memory. */
    bool hasSmallClusters(const ConstraintIntegrator& integrator) const;
    void requireMemory(const ConstraintIntegrator& integrator);
    void prepareProgram(const ConstraintIntegrator& integrator, int step);
    void setNumbers(const ConstraintIntegrator& integrator);
    void setStepState();
    void takeOrder(int step);
    const Frame& frameOf(int step) const;
    /** The buffer, of two, that a step writes. */
    int bufferOf(int step) const {
        return (firstBuffer + step) % 2;
    }
    int run(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps);
    void beginStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int step);
    /** @return whether atoms have another order now */
    bool endStep();
    bool isTouched() const;
    void projectOnHost(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int step);
    void returnToGiven(OpenMM::ContextImpl& context);
    int readFailure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int launched,
                    const RunStart& start);
    void returnTo(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps,
                  const RunStart& start);
    template <class Real4, class Mixed4>
    void restoreState(const Frame& frame, int buffer);
    void restoreState(OpenMM::ContextImpl& context, const Frame& frame, int buffer);
    void noteSteps(int count, const RunStart& start, const ConstraintIntegrator& integrator);
    [[noreturn]] void reportFailure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int code,
                                    const Order& order, int buffer);
    void uploadMultipliers();
    /** The constraint that a row holds: of the molecule with this first particle, or of that in an order. */
    int constraintOf(int row, int firstParticle) const;
    int constraintOf(int row, const Order& order) const;
    std::vector<Real3> startPositions(const Frame& frame, int buffer) const;
    double heatSince(int buffer) const;
    std::vector<Real3> velocityChange(int buffer) const;
    Box deviceBox() const;
    bool isSinglePrecision() const {
        return !cc.getUseDoublePrecision() && !cc.getUseMixedPrecision();
    }

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
    int forceCount = -1, forceGroups = 0;
    int firstBuffer = 0;      // of the run's first step
    int polledFailure[2];     // what the device had to say when atoms got another order
    double referenceTime = 0; // ps, what kernels count time from
    double forceTime = 0, endTime = 0, readingStepSize = 0, workBefore = 0, heatBefore = 0;
    int readingDrifts = 1;
    Box forceBox;
    std::vector<double> globalsOnDevice;
    std::vector<Frame> frames; // of the run's steps, ascending
    Frame readingFrame;        // of the last good step
    Given given;               // to return to where that step fails
    mutable bool readingIsStale = false;
    mutable std::vector<Real3> hostPositions, hostVelocities, hostForces;
};

bool sameBox(const Box& a, const Box& b);

} // namespace ConstraintPlugin

#endif
