// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COMMON_STEP_KERNEL_H_
#define OPENMM_CONSTRAINTS_COMMON_STEP_KERNEL_H_

#include "DeviceConstraints.h"
#include "HostStepKernel.h"
#include "KeptState.h"

namespace ConstraintPlugin {

/** Base class of the steps of all integrators on OpenCL and CUDA. Steps run on the device without communication. A
 *  failure is recorded there, stops all later launches, and is read when the steps of a run have been launched. States
 *  that users set are projected on the host, states that a barostat changed on the device. A derived class is one
 *  integrator's step. */
class CommonStepKernel : public HostStepKernel {
public:
    CommonStepKernel(const std::string& name, const OpenMM::Platform& platform, OpenMM::ContextImpl& context,
                     std::unique_ptr<Device> device);
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
    /** Number of position stages of a step, each over an equal part of it. */
    virtual int numDrifts(const ConstraintIntegrator&) const {
        return 1;
    }
    /** Number of positions at which a step computes gradients (StepMoment), a drift apart. */
    virtual int numMoments(const ConstraintIntegrator&) const {
        return 1;
    }
    double driftTime(const ConstraintIntegrator& integrator) const {
        return integrator.getStepSize() / numDrifts(integrator);
    }
    /** Set the numbers that only this integrator's kernels need. */
    virtual void setOwnNumbers(const ConstraintIntegrator&) {
    }

    void launch(const std::string& stage);
    /** Compute the forces at the present positions, unless they are known. @param groups  a bit for each force group */
    void computeForces(OpenMM::ContextImpl& context, int groups);
    void computeForces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) {
        computeForces(context, integrator.getIntegrationForceGroups());
    }
    /** Whether they are known: those of the last call, at a state that has not changed since. */
    bool knowsForces(OpenMM::ContextImpl& context, int groups) const;
    /** The same between steps: whether the next step has to measure the state does not change. */
    void computeForcesToRead(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Check redundant constraints, advance the time to the end (ps) of a position stage and compute virtual sites. */
    void finishPositions(OpenMM::ContextImpl& context, double end);
    void finishPositions(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) {
        finishPositions(context, currentTime(context) + integrator.getStepSize());
    }
    void checkVelocities();

    const Real3* positions(OpenMM::ContextImpl& context) const override;
    const Real3* velocities(OpenMM::ContextImpl& context) const override;
    const Real3* forces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void setPositions(OpenMM::ContextImpl& context, const Real3* x) override;
    void setVelocities(OpenMM::ContextImpl& context, const Real3* v) override;
    std::unique_ptr<KeptState> keepState(OpenMM::ContextImpl& context) override;
    bool hearsOfMoves() const override {
        return false; // OpenMM's minimizer moves them on the device
    }
    bool canShearBox() const override;
    Centroids centroids() const override {
        return onDevice.centroids();
    }
    double positionEpsilon() const override;
    std::string solverDescription() const override;
    double potentialEnergy(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    double largestForce() const override {
        return 1 << 30; // forceOf() in state.cc
    }
    double smallestTolerance() const override;
    void refreshReading() const override;
    std::optional<double> projectedKineticEnergy(OpenMM::ContextImpl& context,
                                                 const ConstraintIntegrator& integrator) override;
    std::uint64_t lastStateFingerprint() const override;
    void forgetLastState() override;
    void takeShapes() override;

    /** Set the time (ps) of the launches that follow. */
    void setTimeOfLaunches(double time) {
        onDevice.setTimeOfLaunches(time);
    }
    /** Sum up the kinetic energy for a heat bath, and before its first half store the state as the start of the present
     *  step. */
    void sumForBath(bool isFirstHalf);
    /** The number of the next launch: a failure is recorded with it, and stops launches with higher numbers. */
    int nextLaunch = 0;
    /** Index (0 or 1) of the buffer that the present step writes, and of the one that the last good step wrote. */
    int bufferNow = 0, readingBuffer = 0;

    DeviceConstraints onDevice;
    OpenMM::ComputeContext& cc;
    const std::unique_ptr<ConstraintProgram>& program;

private:
    class Kept;
    using Order = DeviceOrder;
    /** Order and box of the data on the device, from one step of a run on. */
    struct Frame {
        int firstStep = 0;
        std::shared_ptr<const Order> order;
        Box box;
    };
    /** Time and counters at the start of a run of steps. */
    struct RunStart {
        double time;
        long long stepCount;
        std::uint64_t stepsTaken;
    };
    /** What the multipliers on the device, from which a warm start begins, belong to. */
    struct Multipliers {
        std::shared_ptr<const Order> order; // null: there are none
        double stepSize = 0;
        int revision = 0; // of the solver's, if those were the same
    };
    /** The state before a projection on the host, and the step of the run that follows it. */
    struct Given {
        int step = -1;
        std::vector<Real3> positions, velocities;
        ParameterRecord parameters;
    };
    /** The parts of a step and those that are launched besides. */
    std::vector<StageText> allStages() const;
    /** Whether single threads may solve small clusters in registers; not with warm starts, which are in memory. */
    bool hasSmallClusters(const ConstraintIntegrator& integrator) const;
    ProgramKind programKind(const ConstraintIntegrator& integrator) const;
    bool hasProgramFor(const ConstraintIntegrator& integrator) const {
        return onDevice.hasProgramFor(programKind(integrator));
    }
    void prepareProgram(const ConstraintIntegrator& integrator, int step);
    void setNumbers(const ConstraintIntegrator& integrator);
    void takeOrder(int step);
    const Frame& frameOf(int step) const;
    /** Index (0 or 1) of the buffer that a step writes. */
    int bufferOf(int step) const {
        return (firstBuffer + step) % 2;
    }
    int longestRunNow() const;
    int run(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps);
    void beginStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int step);
    /** @return whether atoms were reordered */
    bool endStep();
    bool isTouched() const;
    void projectOnHost(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int step);
    /** Note that the present state is on the constraints, as that after a step is. */
    void takeForLast(OpenMM::ContextImpl& context);
    void returnToGiven(OpenMM::ContextImpl& context);
    /** Whether a step failed only because bordered rows need more turns than were launched, or because kernels could
     * not solve what subdomains left to their cluster. From then on there are more turns, or kernels that can. */
    bool isReadyToRepeat(int code, int buffer);
    int readFailure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int launched,
                    const RunStart& start);
    void returnTo(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps,
                  const RunStart& start);
    template <class Real4, class Mixed4>
    void restoreState(const Frame& frame, int buffer);
    void restoreState(OpenMM::ContextImpl& context, const Frame& frame, int buffer);
    void noteSteps(int count, const RunStart& start, const ConstraintIntegrator& integrator);
    void keepEndPositions();
    [[noreturn]] void reportFailure(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int code,
                                    const Order& order, int buffer);
    void uploadMultipliers(double stepSize);
    bool hasMultipliersFor(const ConstraintIntegrator& integrator) const;
    int constraintOf(int row, const Order& order) const {
        return onDevice.constraintOf(row, order);
    }
    /** Positions that the device keeps, unwrapped, in the System's order.
     *  @param first  place of the first particle in the arrays */
    std::vector<Real3> keptPositions(const char* posq, const char* correction, const Frame& frame, int first) const;
    /** What rigid bodies exerted on their particles in the last good step: masses times the changes of velocities, or
     * of accelerations.
     *  @param index  of a moment in both buffers, or behind these, of the velocity stage at the end of a step that has
     *                one, as far as it is read */
    std::vector<Real3> bodyImpulses(int index) const;
    Impulses impulsesAt(int index) const;
    void readMoments(StepReading& reading) const;
    double heatSince(int buffer) const;
    /** Add what the device has summed up of moving constraints (kJ/mol) to that of each constraint.
     *  @param order  of particles on the device since it began
     *  @return the heat bath's part, which is in the work but in no heat */
    double addWorksSince(std::vector<double>& works, const Order& order) const;
    /** Let the device begin these sums anew. */
    void forgetWorks();
    /** Go on from the present sums, with a device that begins to sum up again. */
    void keepSums();
    std::vector<std::vector<Real3>> velocityChanges(int buffer) const;
    Box deviceBox() const {
        return onDevice.box();
    }

    OpenMM::ContextImpl& owner;
    bool othersDrawNumbers = false; // random ones, between steps

    bool stateWasSet = true;   // by a user: the host projects it
    bool mayHaveMoved = false; // by a barostat, for example: the device projects it
    bool forcesAreKept = false;
    bool hasBegun = false;    // the present step has launched a kernel
    bool isOwnChange = false; // this object is setting the state
    bool isRunning = false;   // steps have been launched whose failures were not read
    bool isRepeated = false;  // the next step has failed for want of turns
    static constexpr int firstBorderRun = 8;
    int borderRun = firstBorderRun; // steps of the next run, if there is a border
    int forceCount = -1, forceGroups = 0;
    int firstBuffer = 0;  // of the run's first step
    int polledFailure[2]; // failure record, read when atoms were reordered
    double forceTime = 0, endTime = 0, readingStepSize = 0;
    std::vector<double> worksBefore; // of each constraint, and heat, before the device began to sum up
    double heatBefore = 0;
    int readingDrifts = 1, readingMoments = 1;
    Box forceBox;
    std::vector<Frame> frames; // of the run's steps, ascending
    Frame readingFrame;        // of the last good step, at its start
    Frame endFrame;            // and at its end, if ConstraintTables::readsEnd
    Given given;               // restored if that step fails
    mutable Multipliers multipliers;
    mutable bool readingIsStale = false;
    mutable std::vector<Real3> hostPositions, hostVelocities, hostForces;
};

} // namespace ConstraintPlugin

#endif
