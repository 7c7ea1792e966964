// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DEVICE_CONSTRAINTS_H_
#define OPENMM_CONSTRAINTS_DEVICE_CONSTRAINTS_H_

#include "ConstraintErrors.h"
#include "ConstraintProgram.h"
#include "Projector.h"
#include <functional>
#include <memory>

namespace ConstraintPlugin {

class ConstraintForceInfo;

/** The order of particles on a device, and the copy of the box that each is in. */
struct DeviceOrder {
    std::vector<int> atomIndex;
    std::vector<OpenMM::mm_int4> cells;
};

/** What a ConstraintProgram is compiled for, besides the constraints. */
struct ProgramKind {
    std::vector<StageText> stages;
    bool smallInRegisters = true; ///< not with warm starts, which are in memory
    bool isCoarse = false;        ///< ConstraintProgram::isCoarse()
    int moments = 1;              ///< of a step: StepMoment
    bool sumsStages = false;      ///< see StepScheme
};

/** Largest relative error that a device projects itself; the host projects larger ones. */
constexpr double farOffBound = 0.5;

/** A failure that a device recorded. */
struct DeviceFailure {
    SolveReport report; ///< body >= 0: of that rigid body
    Stage stage = Stage::Positions;
    int particle = -1;         ///< whose position or velocity is not finite: there is no report
    bool ofBath = false;       ///< likewise of a Nose-Hoover chain
    bool isDrifted = false;    ///< too far, in a step with an explicit constraint force
    bool ofProjection = false; ///< before a step: the host knows why
};

/** The constraints of a Context on its device: the program that solves them, and what its arrays belong to: order of
 *  particles, box, targets, Context parameters. It knows no integrator: CommonStepKernel takes steps with it, and
 *  CommonSolveKernel solves for integrators of OpenMM. */
class DeviceConstraints {
public:
    explicit DeviceConstraints(std::unique_ptr<Device> device);
    ~DeviceConstraints();
    DeviceConstraints(const DeviceConstraints&) = delete;
    DeviceConstraints& operator=(const DeviceConstraints&) = delete;

    /** Called before OpenMM looks for molecules.
     *  @param solver     has to outlive this
     *  @param onReorder  called when OpenMM has reordered particles, and wrapped positions */
    void initialize(const ConstraintSolver& solver, std::function<void()> onReorder);
    /** @throws OpenMMException if the device has too little memory */
    void requireMemory(const ProgramKind& kind) const;
    bool hasProgramFor(const ProgramKind& kind) const;
    void makeProgram(const ProgramKind& kind);
    /** What clusters are solved to. */
    double innerTolerance(const ProjectionSettings& settings) const;

    /** Give the program the numbers of projections and solves, and the solver's Context parameters. */
    void setNumbers(const ProjectionSettings& settings, int maxIterations);
    /** The same of the box and the time. */
    void setBoxAndTime();
    /** Set the time (ps) of the launches that follow. */
    void setTimeOfLaunches(double time) {
        program->setTime(time - referenceTime);
    }
    /** Take the present order of particles. */
    std::shared_ptr<const DeviceOrder> takeOrder();
    /** Let OpenMM reorder particles, now and then. */
    void reorder();
    /** Note whether others have let it since then, as those do who set positions or the box: all particles are in the
     * same copy of the box then, and nobody is told. */
    void noteOtherCalls() {
        orderHasChanged = orderHasChanged || cc.getStepsSinceReorder() != stepsSinceReorder;
    }
    /** For expressions, which see unwrapped positions. The copy need not be complete when this returns. */
    void uploadCells(const std::vector<OpenMM::mm_int4>& cells);
    /** The solver has other targets. */
    void takeTargets();
    /** The solver has mirror images of some shapes. */
    void takeShapes();

    /** The constraint of a row, for the molecule that is there in an order. */
    int constraintOf(int row, const DeviceOrder& order) const;
    struct BodyPlace {
        int body = -1, place = -1; ///< place among the particles of all bodies
    };
    /** The place of a particle in the molecule that is where a place of a body on the device was at the beginning. */
    BodyPlace placeIn(const DeviceOrder& order, int number, int place) const;

    /** The number of the launch that has failed first, and FailureCodes.h; waits for the device. */
    std::array<int, 2> readFailure() const;
    void forgetFailure();
    /** Outcome, iterations and row of each cluster in each StepSolve, for both buffers. */
    std::vector<int> reportRows() const;
    /** Reports of clusters in some solves of a step, without a constraint where there was none to solve.
     *  @param buffer  0 or 1, of the step */
    std::vector<SolveReport> reports(const std::vector<StepSolve>& solves, const DeviceOrder& order, int buffer) const;
    /** What has failed, in readable form. @param code  FailureCodes.h;  @param buffer  0 or 1, of the step */
    DeviceFailure describe(int code, const DeviceOrder& order, int buffer);

    Box box() const;
    bool isSinglePrecision() const {
        return !cc.getUseDoublePrecision() && !cc.getUseMixedPrecision();
    }
    /** Relative rounding error of positions. */
    double positionEpsilon() const {
        // In mixed precision a position is a float and a float's correction.
        return cc.getUseDoublePrecision() ? 2.2e-16 : cc.getUseMixedPrecision() ? 7.2e-15 : 1.2e-7;
    }
    /** Smallest tolerance of displacements that solves reach. */
    double smallestTolerance() const {
        return isSinglePrecision() ? 1e-6 : 0;
    }
    Centroids centroids() const;
    /** "MatrixInversion (sparse LDLT), 2 in overlapping subdomains" */
    std::string describeSolvers() const;

    const std::unique_ptr<Device> device;
    OpenMM::ComputeContext& cc;
    std::unique_ptr<ConstraintProgram> program;
    bool orderHasChanged = true;

private:
    class Listener;
    int numParticles() const {
        return solver->getSet().numParticles();
    }
    /** Of constraints at the reference time and the present values of Context parameters. */
    void uploadTargets();
    DeviceFailure describeBody(int code, const DeviceOrder& order, int buffer);

    const ConstraintSolver* solver = nullptr;
    Listener* listener = nullptr;        // the ComputeContext's
    ConstraintForceInfo* info = nullptr; // likewise
    std::vector<std::vector<int>> constraintsByFirstParticle;
    std::vector<std::vector<BodyPlace>> bodyPlaces; // by particle with mass, in all bodies that share it
    std::vector<int> placeByFirstParticle;          // [constraints], -1: of centroids
    ProgramKind madeFor;
    int revision = -1;          // of the solver's constraints in the program
    double referenceTime = 0;   // ps, the zero of time in kernels
    int stepsSinceReorder = -1; // OpenMM's number of calls, after the last one that was noted
    std::vector<double> globalsOnDevice;
};

} // namespace ConstraintPlugin

#endif
