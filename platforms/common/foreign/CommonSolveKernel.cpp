// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonSolveKernel.h"
#include "CoreExceptions.h"
#include "ForeignIntegrators.h"
#include "MovingTargets.h"
#include "OpenMMVectors.h"
#include "StateErrors.h"
#include "openmm/Integrator.h"
#include "openmm/System.h"
#include "openmm/common/ContextSelector.h"
#include "openmm/common/IntegrationUtilities.h"
#include <algorithm>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

constexpr int largestLaunch = 1 << 30;

/** Turns of clusters with a border. A step of OpenMM cannot be taken again with more. */
constexpr int manyTurns = 12;

/** Vectors in the System's order, of an array that has them in the device's. */
template <class Mixed4>
vector<Vec3> downloadVectors(ArrayInterface& array, const vector<int>& atomIndex) {
    vector<Mixed4> values(array.getSize());
    array.download(values.data());
    vector<Vec3> result(atomIndex.size());
    for (size_t i = 0; i < atomIndex.size(); i++)
        result[atomIndex[i]] = Vec3(values[i].x, values[i].y, values[i].z);
    return result;
}

/** The fourth components stay. */
template <class Mixed4>
void uploadVectors(ArrayInterface& array, const vector<int>& atomIndex, const vector<Vec3>& vectors) {
    vector<Mixed4> values(array.getSize());
    array.download(values.data());
    for (size_t i = 0; i < atomIndex.size(); i++) {
        const Vec3& v = vectors[atomIndex[i]];
        values[i].x = (decltype(values[i].x)) v[0];
        values[i].y = (decltype(values[i].y)) v[1];
        values[i].z = (decltype(values[i].z)) v[2];
    }
    array.upload(values.data());
}

/** The particle that made a solve fail: one of the failing constraint's, or the only one of all. -1: that is not known.
 */
int particleNotFinite(vector<Vec3>& values, const vector<int>& particles) {
    const auto isBad = [&](int p) { return firstNotFinite(asReal3(values), p, p + 1) == p; };
    for (int p : particles)
        if (isBad(p))
            return p;
    const int n = (int) values.size(), first = firstNotFinite(asReal3(values), 0, n);
    return first < 0 || firstNotFinite(asReal3(values), first + 1, n) >= 0 ? -1 : first;
}

} // namespace

CommonSolveKernel::CommonSolveKernel(const string& name, const Platform& platform, ContextImpl& context,
                                     unique_ptr<Device> device)
    : SolveConstraintsKernel(name, platform), owner(context), onDevice(std::move(device)), cc(onDevice.cc) {
}

CommonSolveKernel::~CommonSolveKernel() = default;

void CommonSolveKernel::initialize(ContextImpl& context, const ConstraintSet& constraints) {
    const ContextSelector selector(cc);
    if (!constraints.constraints.empty() || !constraints.bodies.empty())
        checkForeign(context.getSystem(), context.getIntegrator());
    solver = make_unique<ReplacingSolver>(
        context, constraints, nullptr,
        PlatformPrecision{onDevice.positionEpsilon(), onDevice.smallestTolerance(), onDevice.centroids()});
    onDevice.initialize(solver->getSolver(), [this] {
        mayHaveMoved = true; // wrapped, with the rounding of single precision
    });
    onDevice.requireMemory(programKind());
    poll = onDevice.device->makePoll();
    kernels = make_unique<ReplacedKernels>(context, cc, static_cast<SolverCalls&>(*this));
}

bool CommonSolveKernel::setTargets(const ConstraintSet& constraints) {
    if (!solver->setTargets(constraints))
        return false;
    onDevice.takeTargets();
    wereSet = true;
    return true;
}

// ---- the program ----------------------------------------------------------------------------------------------------

ProgramKind CommonSolveKernel::programKind() const {
    ProgramKind kind;
    kind.stages = {{"positions", {"loadDelta", "solvePositions", "storeDelta"}},
                   {"velocities", {"solveVelocities", "storeVelocities"}},
                   {"projectPositions", {"stay", "projectPositions", "shift"}, false}};
    kind.isCoarse = ConstraintProgram::isCoarse(onDevice.innerTolerance(solver->settings()));
    return kind;
}

void CommonSolveKernel::prepare() {
    const ProgramKind kind = programKind();
    if (!onDevice.hasProgramFor(kind)) {
        requireSuccess();
        onDevice.requireMemory(kind);
        onDevice.makeProgram(kind);
        onDevice.orderHasChanged = true;
        ConstraintProgram& program = *onDevice.program;
        program.takeWhole();
        while (program.getNumTurns() < manyTurns)
            program.takeMoreTurns();
        program.arguments.set("bufferIndex", 0);
        program.setMoment(0, 0);
    }
    onDevice.setNumbers(solver->settings(), solver->settings().maxIterations);
    onDevice.program->arguments.set("driftTime", solver->settings().timeScale);
    takeFrame();
}

void CommonSolveKernel::takeFrame() {
    if (onDevice.orderHasChanged) {
        if (order != nullptr)
            requireSuccess(); // rows are of other constraints from now on
        order = onDevice.takeOrder();
    }
    onDevice.setBoxAndTime();
    onDevice.program->forgetResponses(); // OpenMM moves particles between calls
}

void CommonSolveKernel::takeShapes() {
    if (shapesRevision != solver->getShapesRevision())
        onDevice.takeShapes();
    shapesRevision = solver->getShapesRevision();
}

bool CommonSolveKernel::isUnread(StepSolve solve) const {
    return find(unread.begin(), unread.end(), solve) != unread.end();
}

void CommonSolveKernel::launch(const char* stage, StepSolve solve) {
    takeFrame();
    onDevice.program->launch(stage, nextLaunch);
    nextLaunch = (nextLaunch + 1) % largestLaunch;
    if (solve == StepSolve::Projection || isUnread(StepSolve::Projection))
        unread.clear();
    if (!isUnread(solve))
        unread.push_back(solve);
}

// ---- what OpenMM calls ----------------------------------------------------------------------------------------------

bool CommonSolveKernel::projectStart(ContextImpl& context) {
    const ContextSelector selector(cc);
    stepBegun = -1;
    pollFailure();
    const Box now = onDevice.box();
    if (solver->takeParameters())
        wereSet = true;
    if (!sameBox(now, knownBox)) { // a barostat has most likely moved them
        mayHaveMoved = true;
        wereSet = wereSet || !solver->getSolver().isRankKnown(now);
        solveForOpenMM(context.getSystem(), false,
                       [&] { requireLengthsInBox(solver->getSolver().getSet(), now, context.getTime()); });
    }
    const bool isMoved = wereSet && projectOnHost();
    prepare();
    begun.emplace_back(nextLaunch, context.getTime());
    if (mayHaveMoved || movesUnheard(context.getIntegrator())) {
        launch("projectPositions", StepSolve::Projection);
        cc.getIntegrationUtilities().computeVirtualSites();
    }
    knownBox = now;
    mayHaveMoved = false;
    stepBegun = cc.getStepCount();
    return isMoved;
}

bool CommonSolveKernel::projectOnHost() {
    if (!areGiven)
        throw OpenMMException("Particle positions have not been set");
    requireSuccess();
    vector<Vec3> x = positions();
    bool isMoved = false;
    solveForOpenMM(owner.getSystem(), false, [&] { isMoved = solver->projectStart(asReal3(x)); });
    unread.clear();
    if (isMoved)
        setPositions(x);
    takeShapes();
    wereSet = mayHaveMoved = false;
    return isMoved;
}

void CommonSolveKernel::solvePositions() {
    const ContextSelector selector(cc);
    if (isInStep()) {
        launch("positions", StepSolve::Positions);
        return;
    }
    // A CustomIntegrator without addUpdateContextState(): nobody has looked at the positions.
    requireSuccess();
    ArrayInterface& delta = cc.getIntegrationUtilities().getPosDelta();
    const bool isDouble = !onDevice.isSinglePrecision();
    const vector<int>& index = cc.getAtomIndex();
    vector<Vec3> x = positions(),
                 to = isDouble ? downloadVectors<mm_double4>(delta, index) : downloadVectors<mm_float4>(delta, index);
    for (size_t i = 0; i < x.size(); i++)
        to[i] += x[i];
    solveForOpenMM(owner.getSystem(), true, [&] { solver->solvePositions(asReal3(x), asReal3(to)); });
    for (size_t i = 0; i < x.size(); i++)
        to[i] -= x[i];
    if (isDouble)
        uploadVectors<mm_double4>(delta, index, to);
    else
        uploadVectors<mm_float4>(delta, index, to);
    unread.clear();
    wereSet = false;
}

void CommonSolveKernel::solveVelocities() {
    const ContextSelector selector(cc);
    if (isInStep()) {
        launch("velocities", StepSolve::Velocities);
        return;
    }
    requireSuccess();
    if (wereSet || solver->takeParameters()) {
        solveVelocitiesOnHost();
        return;
    }
    prepare();
    launch("velocities", StepSolve::Velocities);
    requireSuccess();
}

/** At the positions from which the next step will start, which the Context's need not be. */
void CommonSolveKernel::solveVelocitiesOnHost() {
    vector<Vec3> x = positions(), v;
    kernels->state().getVelocities(owner, v);
    solveForOpenMM(owner.getSystem(), false, [&] { solver->solveVelocities(asReal3(x), asReal3(v)); });
    takeShapes();
    kernels->state().setVelocities(owner, v);
    unread.clear();
}

void CommonSolveKernel::project() {
    const ContextSelector selector(cc);
    requireSuccess();
    vector<Vec3> x = positions();
    solveForOpenMM(owner.getSystem(), false, [&] { solver->project(asReal3(x)); });
    unread.clear();
    setPositions(x);
    takeShapes();
    stepBegun = -1;
    wereSet = false;
}

void CommonSolveKernel::beforeState() {
    requireSuccess();
}

void CommonSolveKernel::afterPositions() {
    areGiven = wereSet = true;
    onDevice.orderHasChanged = true; // cells
    stepBegun = -1;
}

/** OpenMM moves all particles to the same copy of the box, whether it is another box or not. */
void CommonSolveKernel::afterBox() {
    onDevice.orderHasChanged = true;
}

void CommonSolveKernel::requireNearConstraints(ContextImpl&) {
    const ContextSelector selector(cc);
    if (isInStep()) {
        pollFailure();
        return;
    }
    requireSuccess();
    vector<Vec3> x = positions();
    solver->requireNearConstraints(asReal3(x));
    mayHaveMoved = true; // OpenMM's minimizer moves them on the device
}

void CommonSolveKernel::requireSolved(ContextImpl&) {
    if (!isInStep())
        requireSuccess();
}

vector<RankOfGroup> CommonSolveKernel::findRanks(ContextImpl& context) {
    const ContextSelector selector(cc);
    vector<Vec3> x = positions();
    vector<RankOfGroup> ranks;
    withOpenMMExceptions(context.getSystem(), "the rank of the constraints", [&] {
        for (auto& [particles, rank] : solver->rankOfGroups(asReal3(x)))
            ranks.push_back({std::move(particles), rank});
    });
    return ranks;
}

// ---- results --------------------------------------------------------------------------------------------------------

vector<Vec3> CommonSolveKernel::positions() {
    vector<Vec3> x;
    kernels->state().getPositions(owner, x);
    return x;
}

void CommonSolveKernel::setPositions(const vector<Vec3>& x) {
    kernels->state().setPositions(owner, x);
    onDevice.orderHasChanged = true; // cells
    owner.computeVirtualSites();
}

void CommonSolveKernel::pollFailure() {
    if (onDevice.program == nullptr)
        return;
    if (const optional<array<int, 2>> failure = poll->read()) {
        if ((*failure)[0] != noFailure)
            requireSuccess();
        while (begun.size() > 1 && begun[1].first <= polledLaunch)
            begun.pop_front();
        polledLaunch = nextLaunch;
    }
    poll->begin(onDevice.program->arguments["failure"]);
}

void CommonSolveKernel::requireSuccess() {
    if (onDevice.program == nullptr)
        return;
    const ContextSelector selector(cc);
    const array<int, 2> failure = onDevice.readFailure();
    if (failure[0] == noFailure) {
        begun.erase(begun.begin(), begun.empty() ? begun.end() : begun.end() - 1);
        return;
    }
    const DeviceFailure described = onDevice.describe(failure[1], *order, 0);
    onDevice.forgetFailure();
    poll = onDevice.device->makePoll(); // which has read the failure, or will
    stepBegun = -1;
    unread.clear();
    wereSet = true;
    reportFailure(described, failure[0]);
}

void CommonSolveKernel::reportFailure(DeviceFailure failure, int launch) {
    const ConstraintSet& set = solver->getSolver().getSet();
    const bool ofPositions = failure.stage == Stage::Positions;
    vector<Vec3> x = positions(), v;
    kernels->state().getVelocities(owner, v);
    SolveReport& report = failure.report;
    if ((int) report.outcome >= (int) DeviceOutcome::FarOff)
        report.outcome = Outcome::NotConverged;
    // A particle by itself has no stage; one of a rigid body may stand for another.
    const char* what = failure.particle >= 0 ? "position or velocity" : ofPositions ? "position" : "velocity";
    if (failure.particle >= 0 || report.outcome == Outcome::NotFinite) {
        const vector<int> failing =
            report.constraint < 0 ? vector<int>() : set.constraints[report.constraint].particles;
        const bool lookAtPositions = report.constraint >= 0 && ofPositions;
        const int found = particleNotFinite(lookAtPositions ? x : v, failing);
        failure.particle = found >= 0 ? found : failure.particle;
    }
    while (begun.size() > 1 && begun[1].first <= launch)
        begun.pop_front();
    solveForOpenMM(owner.getSystem(), !failure.ofProjection, [&] {
        if (failure.ofProjection) { // throws, unless positions have come back since
            solver->projectStart(asReal3(x));
            if (report.body >= 0)
                solver->failFarOff(report, asReal3(x));
        }
        solver->beginStepAt(begun.empty() ? owner.getTime() : begun[0].second);
        if (failure.particle >= 0)
            solver->failNotFinite(failure.particle, what);
        solver->fail(report, failure.stage);
    });
    throw OpenMMException("a failed solve was not reported"); // not reached
}

SolverSummary CommonSolveKernel::getSummary() const {
    bool hasFailed = false; // the exception is still to come
    if (!unread.empty()) {
        const ContextSelector selector(cc);
        hasFailed = onDevice.readFailure()[0] != noFailure;
        using Solves = vector<StepSolve>;
        vector<SolveReport> reports = onDevice.reports(
            hasFailed ? Solves{StepSolve::Positions, StepSolve::Velocities, StepSolve::Projection} : unread, *order, 0);
        const auto isGood = [](const SolveReport& report) { return report.outcome == Outcome::Converged; };
        if (hasFailed)
            reports.erase(remove_if(reports.begin(), reports.end(), isGood), reports.end());
        solver->noteSolves(reports);
        if (!hasFailed)
            unread.clear();
    }
    SolverSummary summary = solver->getSummary();
    summary.converged = summary.converged && !hasFailed;
    summary.solver = onDevice.describeSolvers();
    return summary;
}

} // namespace ConstraintPlugin
