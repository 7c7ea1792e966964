// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonStepKernel.h"
#include "ConstraintForceInfo.h"
#include "openmm/AndersenThermostat.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "openmm/common/ContextSelector.h"
#include "openmm/common/NonbondedUtilities.h"
#include "openmmconstraints/internal/ConstraintErrors.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

/** Launches of one step have numbers from a multiple of this on: projections, then the stages. */
constexpr int launchesPerStep = 16, firstStage = 4, restoring = 15;
/** Steps after which failures are looked for at the latest: launch numbers are ints. */
constexpr int longestRun = 50'000'000;

/** Relative errors up to which the device projects by itself; farther off, the host decides. */
constexpr double farOff = 0.5;

/** Smallest tolerance that solves on displacements in single precision reach. */
constexpr double singleFloor = 1e-6;

/** An outcome that only kernels know: see kernels/state.cc. */
constexpr int drifted = 7;

const StageText projectPositionsStage{"projectPositions", {"stay", "projectPositions", "shift"}};
const StageText projectVelocitiesStage{"projectVelocities", {"projectVelocities", "becomeTangent"}};

bool sameBox(const Box& a, const Box& b) {
    const auto same = [](const Real3& x, const Real3& y) { return x.x == y.x && x.y == y.y && x.z == y.z; };
    return same(a.a, b.a) && same(a.b, b.b) && same(a.c, b.c);
}

Real3 toReal3(const Vec3& v) {
    return {v[0], v[1], v[2]};
}

} // namespace

/** Learns that atoms have another order now. The ComputeContext owns it. */
class CommonStepKernel::Listener : public ComputeContext::ReorderListener {
public:
    explicit Listener(CommonStepKernel* kernel) : kernel(kernel) {
    }
    void execute() override {
        if (kernel != nullptr) {
            kernel->orderHasChanged = true;
            kernel->mayHaveMoved = true; // wrapped, with the rounding of single precision
            kernel->forcesAreKept = false;
        }
    }
    CommonStepKernel* kernel; // null when that is gone
};

CommonStepKernel::CommonStepKernel(const string& name, const Platform& platform, ContextImpl& context,
                                   ComputeContext& cc)
    : HostedStepKernel(name, platform), cc(cc), owner(context) {
}

CommonStepKernel::~CommonStepKernel() {
    if (listener != nullptr)
        listener->kernel = nullptr;
    ContextSelector selector(cc);
    program.reset();
}

void CommonStepKernel::initialize(const System& system, const ConstraintIntegrator& integrator,
                                  const ConstraintSet& constraints) {
    HostedStepKernel::initialize(system, integrator, constraints);
    for (ComputeForceInfo* known : cc.getForceInfos()) // of another integrator in a CompoundIntegrator
        info = info == nullptr ? dynamic_cast<ConstraintForceInfo*>(known) : info;
    if (info == nullptr) {
        info = new ConstraintForceInfo(constraints);
        cc.addForce(info); // before molecules are looked for
    }
    cc.initializeContexts();
    listener = new Listener(this);
    cc.addReorderListener(listener);
    for (int f = 0; f < system.getNumForces(); f++)
        if (dynamic_cast<const AndersenThermostat*>(&system.getForce(f)) != nullptr)
            projectsVelocitiesAlways = true;
    constraintsByFirstParticle.resize(system.getNumParticles());
    for (size_t k = 0; k < constraints.constraints.size(); k++) {
        auto& list = constraintsByFirstParticle[constraints.constraints[k].particles[0]];
        placeByFirstParticle.push_back((int) list.size());
        list.push_back((int) k);
    }
}

void CommonStepKernel::setTargets(const ConstraintSet& constraints) {
    HostedStepKernel::setTargets(constraints);
    info->take(constraints);
    stateWasSet = true;
    cc.invalidateMolecules(info, false, true);
}

void CommonStepKernel::invalidateForces(bool stateToo) {
    forcesAreKept = false;
    if (stateToo && !isOwnChange)
        stateWasSet = true;
}

// ---- the state, for the host ------------------------------------------------------------------------------------

const Real3* CommonStepKernel::positions(ContextImpl& context) const {
    vector<Vec3> x;
    context.getPositions(x);
    hostPositions.resize(x.size());
    transform(x.begin(), x.end(), hostPositions.begin(), toReal3);
    return hostPositions.data();
}

const Real3* CommonStepKernel::velocities(ContextImpl& context) const {
    vector<Vec3> v;
    context.getVelocities(v);
    hostVelocities.resize(v.size());
    transform(v.begin(), v.end(), hostVelocities.begin(), toReal3);
    return hostVelocities.data();
}

const Real3* CommonStepKernel::forces(ContextImpl& context, const ConstraintIntegrator& integrator) {
    {
        ContextSelector selector(cc); // which computeForces leaves for a while
        computeForces(context, integrator);
    }
    vector<Vec3> f;
    context.getForces(f);
    hostForces.resize(f.size());
    transform(f.begin(), f.end(), hostForces.begin(), toReal3);
    return hostForces.data();
}

static vector<Vec3> toVectors(const Real3* x, int n) {
    vector<Vec3> result;
    for (int i = 0; i < n; i++)
        result.emplace_back(x[i].x, x[i].y, x[i].z);
    return result;
}

void CommonStepKernel::setPositions(ContextImpl& context, const Real3* x) {
    isOwnChange = true;
    context.setPositions(toVectors(x, numParticles()));
    isOwnChange = false;
    forcesAreKept = false;
    orderHasChanged = true; // the cells at least
}

void CommonStepKernel::setVelocities(ContextImpl& context, const Real3* v) {
    isOwnChange = true;
    context.setVelocities(toVectors(v, numParticles()));
    isOwnChange = false;
}

double CommonStepKernel::positionEpsilon() const {
    // In mixed precision a position is a float and a float's correction.
    return cc.getUseDoublePrecision() ? 2.2e-16 : cc.getUseMixedPrecision() ? 7.2e-15 : 1.2e-7;
}

Box CommonStepKernel::deviceBox() const {
    Vec3 a, b, c;
    cc.getPeriodicBoxVectors(a, b, c);
    return {toReal3(a), toReal3(b), toReal3(c)};
}

uint64_t CommonStepKernel::lastStateFingerprint() const {
    if (stateWasSet)
        return 0;
    const Real3* x = positions(owner);
    return fingerprintOf(x, velocities(owner), box(owner), currentTime(owner));
}

void CommonStepKernel::forgetLastState() {
    stateWasSet = true;
    readingIsStale = false;
    workBefore = reading.work;
    if (program != nullptr) {
        program->arguments.upload("work", vector<double>(2 * program->tables().movingRows.size()));
        uploadMultipliers();
    }
}

// ---- the program -------------------------------------------------------------------------------------------------

void CommonStepKernel::prepareProgram(const ConstraintIntegrator& integrator) {
    const bool inRegisters = !(integrator.getWarmStart() && solver->getMethod() == Method::Iterative);
    if (program != nullptr && revision == solver->getRevision() && smallInRegisters == inRegisters)
        return;
    refreshReading();
    workBefore = reading.work;
    vector<StageText> all = stages();
    all.push_back(projectPositionsStage);
    all.push_back(projectVelocitiesStage);
    program = make_unique<ConstraintProgram>(cc, *solver, inRegisters, all);
    revision = solver->getRevision();
    smallInRegisters = inRegisters;
    globalsOnDevice.clear();
    takeOrder();
    uploadMultipliers();
}

void CommonStepKernel::setNumbers(const ConstraintIntegrator& integrator) {
    KernelArguments& numbers = program->arguments;
    const bool isSingle = !cc.getUseDoublePrecision() && !cc.getUseMixedPrecision();
    const double floor = isSingle ? singleFloor : 0;
    const double tolerance = max(integrator.getConstraintTolerance(), floor), dt = integrator.getStepSize();
    numbers.set("tolerance", tolerance);
    numbers.set("threshold", max(projectionThreshold(integrator), floor));
    // Errors of the solved ones add up in the dependent ones, which have to hold as well.
    const bool hasDependent = !program->tables().checked.empty();
    numbers.set("innerTolerance", hasDependent ? max({0.05 * tolerance, 1e-15, floor}) : tolerance);
    numbers.set("maxIterations", integrator.getMaxIterations());
    numbers.set("warmStart", integrator.getWarmStart() ? 1 : 0);
    numbers.set("dt", dt);
    numbers.set("timeScale", velocityTimeScale(integrator));
    numbers.set("rounding", 8 * positionEpsilon());
    numbers.set("velocityRounding", isSingle ? 1e-6 : 1e-14);
    numbers.set("farOff", farOff);
    if (solver->getGlobals() != globalsOnDevice) {
        globalsOnDevice = solver->getGlobals();
        numbers.upload("customGlobals", globalsOnDevice);
    }
    // Impulses over dt or, of two halves, over dt/2 each.
    const double factor = scheme.isExplicit ? 0.5 * dt : scheme.hasTwoHalves ? 0.5 / dt : 1 / dt;
    numbers.set("lambdaToWork", scheme.isExplicit ? factor : factor * scheme.positionFactor);
    numbers.set("muToWork", scheme.isExplicit ? factor : factor * dt * scheme.velocityFactor);
    if (!(dt > 0)) {
        numbers.set("lambdaToWork", 0.0);
        numbers.set("muToWork", 0.0);
    }
    setOwnNumbers(integrator);
}

void CommonStepKernel::setMoment() {
    Vec3 a, b, c;
    cc.getPeriodicBoxVectors(a, b, c);
    program->arguments.set("boxA", a);
    program->arguments.set("boxB", b);
    program->arguments.set("boxC", c);
    program->arguments.set("time", cc.getTime());
}

void CommonStepKernel::takeOrder() {
    order.atomIndex = cc.getAtomIndex();
    order.cells = cc.getPosCellOffsets();
    if (!solver->getSet().custom.empty())
        program->arguments["cellOffsets"].uploadSubArray(order.cells.data(), 0, numParticles(), false);
    orderHasChanged = false;
}

int CommonStepKernel::constraintOf(int row, int firstParticle) const {
    const int k = program->tables().constraintOf[row];
    return constraintsByFirstParticle[firstParticle][placeByFirstParticle[k]];
}

int CommonStepKernel::constraintOf(int row) const {
    const int k = program->tables().constraintOf[row];
    return constraintOf(row, order.atomIndex[solver->getSet().constraints[k].particles[0]]);
}

void CommonStepKernel::uploadMultipliers() {
    const ConstraintSolver::Multipliers kept = solver->getMultipliers();
    vector<double> lambda, mu;
    for (int row = 0; row < program->tables().numRows; row++) {
        lambda.push_back(kept.lambda[constraintOf(row)]);
        mu.push_back(kept.mu[constraintOf(row)]);
    }
    program->arguments.upload("lambda", lambda);
    program->arguments.upload("mu", mu);
}

// ---- steps -------------------------------------------------------------------------------------------------------

void CommonStepKernel::execute(ContextImpl& context, const ConstraintIntegrator& integrator, int steps) {
    ContextSelector selector(cc);
    while (steps > 0)
        steps -= run(context, integrator, min(steps, longestRun));
}

/** Launch steps and see how they went. @return how many went well: fewer than asked for where the host has to help */
int CommonStepKernel::run(ContextImpl& context, const ConstraintIntegrator& integrator, int steps) {
    const double startTime = currentTime(context);
    const long long startCount = cc.getStepCount();
    int launched = 0;
    given.step = -1;
    try {
        for (; launched < steps; launched++) {
            beginStep(context, integrator, launched);
            hasBegun = false; // what beginStep() launched needs no undoing
            takeStep(context, integrator);
            endStep(context, integrator, launched == steps - 1);
            hasBegun = false;
        }
    } catch (...) {
        // What was launched before may have failed, and is then what there is to report; else undo the step at hand.
        if (program != nullptr) {
            const int now = launched * launchesPerStep;
            program->launchAfterwards("returnToStart", numParticles(), now + restoring);
            readFailure(context, integrator, launched, startTime, startCount);
            if (hasBegun) {
                const int interrupted[3] = {now, noFailure, noFailure};
                program->arguments["failure"].upload(interrupted);
                program->launchAfterwards("returnToStart", numParticles(), now + restoring);
                clearFailure(context, integrator, launched, startTime, startCount);
            }
        }
        throw;
    }
    const int done = readFailure(context, integrator, launched, startTime, startCount);
    if (done == launched) {
        const double dt = integrator.getStepSize(), now = currentTime(context);
        noteStep(lastStepTime, now, deviceBox());
        readingStepSize = dt;
        readingIsStale = true;
        // Where constraints depend on each other, reading multipliers takes the positions as they are now.
        if (!program->tables().checked.empty())
            refreshReading();
    }
    return done;
}

void CommonStepKernel::beginStep(ContextImpl& context, const ConstraintIntegrator& integrator, int step) {
    activity = "step " + to_string(cc.getStepCount() + 1);
    {
        ContextDeselector deselector(cc);
        if (context.updateContextState()) {
            forcesAreKept = false;
            orderHasChanged = true; // cells
            mayHaveMoved = true;
        }
    }
    if (step == 0) {
        if (integrator.getWarmStart())
            refreshReading(); // a new step size rescales multipliers
        prepare(context, integrator);
    }
    if (solver->moves() && currentTime(context) != endTime)
        stateWasSet = true;
    if (stateWasSet)
        projectOnHost(context, integrator, step);
    prepareProgram(integrator);
    if (orderHasChanged)
        reorder(integrator);
    if (step == 0) {
        setNumbers(integrator);
        if (integrator.getWarmStart())
            uploadMultipliers();
    }
    setMoment();
    nextLaunch = step * launchesPerStep;
    lastStepTime = currentTime(context);
    if (solver->moves())
        checkMovingTargets(deviceBox(), lastStepTime + integrator.getStepSize());
    if (!sameBox(deviceBox(), forceBox)) {
        activity = "step " + to_string(cc.getStepCount() + 1);
        checkPeriodicLengths(deviceBox(), lastStepTime);
    }
    if (isTouched()) {
        program->launchAfterwards("keepState", numParticles(), nextLaunch);
        launch("projectPositions");
        // An explicit constraint force lets velocities drift as well, and looking must not change them.
        if (scheme.constrainsVelocities && !scheme.isExplicit)
            launch("projectVelocities");
        forcesAreKept = false;
    } else if (projectsVelocitiesAlways && scheme.constrainsVelocities) {
        program->launchAfterwards("keepState", numParticles(), nextLaunch);
        launch("projectVelocities");
    }
    nextLaunch = step * launchesPerStep + firstStage;
}

/** Whether anyone but this kernel may have moved particles since its last step. */
bool CommonStepKernel::isTouched() const {
    return mayHaveMoved || cc.getComputeForceCount() != forceCount || !sameBox(deviceBox(), forceBox);
}

/** Atoms have another order, or are in other cells. */
void CommonStepKernel::reorder(const ConstraintIntegrator& integrator) {
    const bool isWarm = integrator.getWarmStart();
    if (isWarm)
        refreshReading(); // multipliers by constraint
    takeOrder();
    if (isWarm)
        uploadMultipliers();
}

void CommonStepKernel::projectOnHost(ContextImpl& context, const ConstraintIntegrator& integrator, int step) {
    activity = "the projection before step " + to_string(cc.getStepCount() + 1);
    const bool isKnown = isStateOfCheckpoint(context);
    resetSummary();
    const Real3 *x = positions(context), *v = velocities(context);
    given = {step, {x, x + numParticles()}, {v, v + numParticles()}};
    try {
        projectState(context, integrator, isKnown, isKnown);
    } catch (...) { // possibly between positions and velocities
        returnToGiven(context);
        throw;
    }
    activity = "step " + to_string(cc.getStepCount() + 1);
    stateWasSet = mayHaveMoved = forcesAreKept = false;
    forceCount = cc.getComputeForceCount();
    forceBox = deviceBox();
}

void CommonStepKernel::returnToGiven(ContextImpl& context) {
    setPositions(context, given.positions.data());
    setVelocities(context, given.velocities.data());
    stateWasSet = true;
}

void CommonStepKernel::computeForces(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const int groups = integrator.getIntegrationForceGroups();
    const double time = currentTime(context); // a force may depend on it
    if (forcesAreKept && cc.getComputeForceCount() == forceCount && groups == forceGroups && time == forceTime &&
        sameBox(deviceBox(), forceBox))
        return;
    {
        ContextDeselector deselector(cc);
        context.calcForcesAndEnergy(true, false, groups);
    }
    forcesAreKept = true;
    mayHaveMoved = false;
    forceCount = cc.getComputeForceCount();
    forceGroups = groups;
    forceTime = time;
    forceBox = deviceBox();
}

void CommonStepKernel::launch(const string& stage) {
    program->launch(stage, nextLaunch++);
    hasBegun = true;
}

void CommonStepKernel::finishPositions(ContextImpl& context, const ConstraintIntegrator& integrator) {
    program->launchAfterwards("checkPositions", (int) program->tables().checked.size(), nextLaunch++);
    context.computeVirtualSites();
    cc.setTime(cc.getTime() + integrator.getStepSize());
    program->arguments.set("time", cc.getTime());
    forcesAreKept = false;
}

void CommonStepKernel::checkVelocities() {
    program->launchAfterwards("checkVelocities", (int) program->tables().checked.size(), nextLaunch++);
}

void CommonStepKernel::endStep(ContextImpl&, const ConstraintIntegrator&, bool isLast) {
    program->launchAfterwards("addWork", (int) program->tables().movingRows.size(), nextLaunch++);
    // A failed step is undone before atoms can get another order.
    const bool mayReorder = cc.getNonbondedUtilities().getUseCutoff() && cc.getStepsSinceReorder() >= 250;
    if (isLast || mayReorder)
        program->launchAfterwards("returnToStart", numParticles(), nextLaunch++);
    cc.setStepCount(cc.getStepCount() + 1);
    endTime = cc.getTime();
    cc.reorderAtoms();
    if (orderHasChanged && cc.getUseMixedPrecision()) {
        // Atoms were wrapped in single precision.
        orderHasChanged = false;
        setMoment();
        program->launch("projectPositions", noFailure);
        orderHasChanged = true;
    }
}

/** Read whether a step failed; if so, set time and step count back to the last good one.
 *  @return number of good steps: all, or fewer if the host has to project before the next; else throws */
int CommonStepKernel::readFailure(ContextImpl& context, const ConstraintIntegrator& integrator, int launched,
                                  double startTime, long long startCount) {
    int failure[3];
    program->arguments["failure"].download(failure);
    if (failure[0] == noFailure)
        return launched;
    const int good = failure[0] / launchesPerStep, stage = failure[0] % launchesPerStep;
    const double time = clearFailure(context, integrator, good, startTime, startCount);
    if (stage < firstStage) { // where a step began: for the host, which knows more ways back, and more to say
        stateWasSet = true;
        return good;
    }
    mayHaveMoved = true;
    activity = "step " + to_string(startCount + good + 1);
    reportFailure(context, integrator, failure[1], time);
}

/** Go on after a failed step, which was undone: set time and step count to those after the good ones. @return the time
 */
double CommonStepKernel::clearFailure(ContextImpl& context, const ConstraintIntegrator& integrator, int good,
                                      double startTime, long long startCount) {
    double time = startTime;
    for (int i = 0; i < good; i++)
        time += integrator.getStepSize();
    cc.setTime(time);
    cc.setStepCount(startCount + good);
    const int none[3] = {noFailure, noFailure, noFailure};
    program->arguments["failure"].upload(none);
    forcesAreKept = false;
    readingIsStale = false;
    if (given.step == good)
        returnToGiven(context);
    context.computeVirtualSites();
    return time;
}

void CommonStepKernel::reportFailure(ContextImpl& context, const ConstraintIntegrator& integrator, int code,
                                     double time) {
    const ConstraintTables& tables = program->tables();
    const ConstraintSet& set = solver->getSet();
    SolveReport report;
    ConstraintPlugin::Stage stage = ConstraintPlugin::Stage::Positions;
    if (code >= tables.numClusters() + numParticles()) {
        const int n = code - tables.numClusters() - numParticles();
        const vector<double> errors = program->arguments.download("checkErrors");
        report.outcome = Outcome::Inconsistent;
        report.constraint = tables.checked[n];
        report.maxError = errors[2 * n];
        report.value = errors[2 * n + 1];
        if (scheme.isExplicit)
            throwDrift(report, integrator);
    } else if (code >= tables.numClusters()) {
        const int particle = cc.getAtomIndex()[code - tables.numClusters()];
        throw OpenMMException("The position or velocity of particle " + to_string(particle) +
                              " would become NaN or infinite in " + activity +
                              ". Its force, velocity or position is not finite: look for overlapping particles, "
                              "minimize the energy, or reduce the step size.");
    } else {
        const vector<double> errors = program->arguments.download("reportErrors");
        vector<int> rows(4 * numReports * tables.numClusters());
        program->arguments["reportRows"].download(rows.data());
        for (int slot : {1, 2, 0}) { // in the order of the stages in a step
            const int place = slot * tables.numClusters() + code;
            if (rows[4 * place] == (int) Outcome::Converged)
                continue;
            stage = slot == 0 && !scheme.isExplicit ? ConstraintPlugin::Stage::Positions
                                                    : ConstraintPlugin::Stage::Velocities;
            report.outcome = (Outcome) rows[4 * place];
            report.iterations = rows[4 * place + 1];
            report.constraint = constraintOf(rows[4 * place + 2], rows[4 * place + 3]);
            report.maxError = errors[2 * place];
            report.value = errors[2 * place + 1];
            if (rows[4 * place] == drifted)
                throwDrift(report, integrator);
            break;
        }
    }
    targetTime = time + (stage == ConstraintPlugin::Stage::Positions ? integrator.getStepSize() : 0);
    if (report.constraint >= 0) {
        const Real3* x = positions(context);
        for (int p : set.constraints[report.constraint].particles)
            report.places.push_back(x[p]);
    }
    fail(report, stage, integrator);
}

// ---- readings ----------------------------------------------------------------------------------------------------

void CommonStepKernel::refreshReading() const {
    if (!readingIsStale || program == nullptr)
        return;
    readingIsStale = false;
    ContextSelector selector(cc);
    const ConstraintTables& tables = program->tables();
    const size_t numConstraints = solver->getSet().constraints.size();
    ConstraintSolver::Multipliers ofStep{vector<double>(numConstraints), vector<double>(numConstraints)};
    const vector<double> lambda = program->arguments.download("lambda"), mu = program->arguments.download("mu");
    for (int row = 0; row < tables.numRows; row++) {
        ofStep.lambda[constraintOf(row)] = lambda[row];
        ofStep.mu[constraintOf(row)] = mu[row];
    }
    solver->setMultipliers(ofStep);
    readMultipliers(ofStep, readingStepSize);
    reading.positions = downloadStart();
    reading.endPositions = reading.positions;
    if (!tables.checked.empty()) {
        const Real3* x = positions(owner);
        reading.endPositions.assign(x, x + numParticles());
    }
    const vector<double> sums = program->arguments.download("work");
    reading.work = workBefore;
    for (size_t n = 0; n < tables.movingRows.size(); n++)
        reading.work += sums[2 * n] - sums[2 * n + 1]; // and its compensation

    summary = SolverSummary();
    summary.converged = true;
    const vector<double> errors = program->arguments.download("reportErrors");
    vector<int> rows(4 * numReports * max(tables.numClusters(), 1));
    program->arguments["reportRows"].download(rows.data());
    for (int place = 0; place < 3 * tables.numClusters(); place++) {
        if (rows[4 * place + 2] < 0 || rows[4 * place + 1] == 0)
            continue; // this integrator has no such stage
        summary.iterations = max(summary.iterations, rows[4 * place + 1]);
        if (errors[2 * place] >= summary.maxError || summary.worstConstraint < 0) {
            summary.maxError = errors[2 * place];
            summary.worstConstraint = listedIndex(solver->getSet(), constraintOf(rows[4 * place + 2]));
        }
    }
}

/** Positions at the start of the last step, unwrapped, in the System's order. */
vector<Real3> CommonStepKernel::downloadStart() const {
    vector<Real3> x(numParticles());
    const auto take = [&](const auto& posq, auto correction) {
        for (int i = 0; i < numParticles(); i++) {
            const Real3 c = correction(i);
            const mm_int4 cell = order.cells[i];
            x[order.atomIndex[i]] = Real3{posq[i].x + c.x, posq[i].y + c.y, posq[i].z + c.z} -
                                    (double) cell.x * reading.box.a - (double) cell.y * reading.box.b -
                                    (double) cell.z * reading.box.c;
        }
    };
    if (cc.getUseDoublePrecision()) {
        vector<mm_double4> posq(numParticles());
        program->arguments["startPosq"].download(posq.data());
        take(posq, [](int) { return Real3(); });
    } else {
        vector<mm_float4> posq(numParticles()), corrections;
        program->arguments["startPosq"].download(posq.data());
        if (cc.getUseMixedPrecision()) {
            corrections.resize(numParticles());
            program->arguments["startCorrection"].download(corrections.data());
        }
        take(posq, [&](int i) {
            return corrections.empty() ? Real3() : Real3{corrections[i].x, corrections[i].y, corrections[i].z};
        });
    }
    return x;
}

} // namespace ConstraintPlugin
