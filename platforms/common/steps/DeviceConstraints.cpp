// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "DeviceConstraints.h"
#include "ConstraintForceInfo.h"
#include "DeviceMemory.h"
#include "OpenMMVectors.h"
#include "SolveNotes.h"
#include "TestHooks.h"
#include "openmm/common/ContextSelector.h"
#include <algorithm>
#include <cmath>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

/** The largest float up to a tolerance: kernels compare some errors as floats and others as doubles, and a number that
 * is the same in both types decides alike. */
double asFloat(double tolerance) {
    const float nearest = (float) tolerance;
    return nearest > tolerance ? nextafter(nearest, 0.0f) : nearest;
}

} // namespace

/** Notified by the ComputeContext, which owns it, when atoms are reordered. */
class DeviceConstraints::Listener : public ComputeContext::ReorderListener {
public:
    Listener(DeviceConstraints& constraints, std::function<void()> onReorder)
        : constraints(&constraints), onReorder(std::move(onReorder)) {
    }
    void execute() override {
        if (constraints == nullptr)
            return;
        constraints->orderHasChanged = true;
        if (constraints->program != nullptr)
            constraints->program->forgetResponses();
        onReorder();
    }
    DeviceConstraints* constraints; // null after its destruction
    std::function<void()> onReorder;
};

DeviceConstraints::DeviceConstraints(unique_ptr<Device> given) : device(std::move(given)), cc(device->context()) {
}

DeviceConstraints::~DeviceConstraints() {
    if (listener != nullptr)
        listener->constraints = nullptr;
    const ContextSelector selector(cc);
    program.reset();
}

void DeviceConstraints::initialize(const ConstraintSolver& given, std::function<void()> onReorder) {
    solver = &given;
    const ConstraintSet& set = solver->getSet();
    for (ComputeForceInfo* known : cc.getForceInfos()) // of another integrator in a CompoundIntegrator
        info = info == nullptr ? dynamic_cast<ConstraintForceInfo*>(known) : info;
    if (info == nullptr) {
        info = new ConstraintForceInfo(set);
        cc.addForce(info); // before OpenMM looks for molecules
    }
    listener = new Listener(*this, std::move(onReorder));
    cc.addReorderListener(listener);
    bodyPlaces.resize(numParticles());
    for (size_t b = 0, place = 0; b < set.bodies.size(); b++)
        for (int i = 0; i < set.bodies[b].size(); i++, place++)
            if (set.bodies[b].mass[i] > 0)
                bodyPlaces[set.bodies[b].particles[i]].push_back({(int) b, (int) place});
    constraintsByFirstParticle.resize(numParticles());
    for (size_t k = 0; k < set.constraints.size(); k++) {
        if (isOfGroups(set, set.constraints[k])) {
            placeByFirstParticle.push_back(-1); // its particles are exchanged among each other only
            continue;
        }
        auto& list = constraintsByFirstParticle[set.constraints[k].particles[0]];
        placeByFirstParticle.push_back((int) list.size());
        list.push_back((int) k);
    }
}

// ---- the program ----------------------------------------------------------------------------------------------------

void DeviceConstraints::requireMemory(const ProgramKind& kind) const {
    ArraySizes sizes(*solver, kind.smallInRegisters, GroupSizes::usesSubdomains(cc));
    takeStages(sizes, kind.stages, kind.moments, cc);
    requireDeviceMemory(*device, *solver, sizes);
}

double DeviceConstraints::innerTolerance(const ProjectionSettings& settings) const {
    return max(solver->innerTolerance(settings.reachedTolerance()), settings.smallestTolerance);
}

bool DeviceConstraints::hasProgramFor(const ProgramKind& kind) const {
    return program != nullptr && revision == solver->getRevision() &&
           madeFor.smallInRegisters == kind.smallInRegisters && madeFor.isCoarse == kind.isCoarse &&
           madeFor.moments == kind.moments;
}

void DeviceConstraints::makeProgram(const ProgramKind& kind) {
    program = make_unique<ConstraintProgram>(*device, *solver, kind.smallInRegisters, kind.stages, kind.moments,
                                             kind.sumsStages, kind.isCoarse);
    madeFor = kind;
    revision = solver->getRevision();
    referenceTime = 0; // the initial value in the program
    globalsOnDevice.clear();
}

void DeviceConstraints::setNumbers(const ProjectionSettings& settings, int maxIterations) {
    KernelArguments& numbers = program->arguments;
    numbers.set("tolerance", asFloat(settings.reachedTolerance()));
    numbers.set("threshold", settings.threshold());
    numbers.set("innerTolerance", asFloat(innerTolerance(settings)));
    numbers.set("maxIterations", maxIterations);
    numbers.set("timeScale", settings.timeScale);
    numbers.set("rounding", 8 * settings.positionEpsilon);
    numbers.set("velocityRounding", isSinglePrecision() ? 1e-6 : 1e-14);
    numbers.set("farOff", farOffBound);
    if (solver->getGlobals() != globalsOnDevice) {
        globalsOnDevice = solver->getGlobals();
        program->forgetResponses(); // gradients may depend on them
        numbers.upload("customGlobals", globalsOnDevice);
        if (!solver->getSet().globals.empty())
            uploadTargets();
    }
}

void DeviceConstraints::setBoxAndTime() {
    Vec3 a, b, c;
    cc.getPeriodicBoxVectors(a, b, c);
    program->arguments.set("boxA", a);
    program->arguments.set("boxB", b);
    program->arguments.set("boxC", c);
    // Kernels measure time from a reference nearby, at which the host computes the targets, so that single precision
    // loses no digits in a long run. The reference depends on the time only, so steps are reproducible.
    const double reference = solver->moves() ? 8 * floor(cc.getTime() / 8) : 0;
    if (reference != referenceTime) {
        referenceTime = reference;
        uploadTargets();
        program->arguments.set("referenceTime", reference);
    }
    setTimeOfLaunches(cc.getTime());
}

void DeviceConstraints::uploadTargets() {
    program->arguments.upload("rowTarget", program->tables().targetsAt(solver->getSet(), referenceTime));
}

void DeviceConstraints::takeTargets() {
    const ContextSelector selector(cc); // atoms may be reordered
    info->take(solver->getSet());
    cc.invalidateMolecules(info, false, true);
}

void DeviceConstraints::takeShapes() {
    takeTargets(); // mirror images are different molecules
    if (program == nullptr)
        return;
    const ContextSelector selector(cc);
    program->takeShapes(solver->getSet());
}

// ---- the order of particles -----------------------------------------------------------------------------------------

shared_ptr<const DeviceOrder> DeviceConstraints::takeOrder() {
    auto order = make_shared<const DeviceOrder>(DeviceOrder{cc.getAtomIndex(), cc.getPosCellOffsets()});
    uploadCells(order->cells);
    program->forgetResponses();
    orderHasChanged = false;
    stepsSinceReorder = cc.getStepsSinceReorder();
    return order;
}

void DeviceConstraints::reorder() {
    noteOtherCalls();
    cc.reorderAtoms();
    stepsSinceReorder = cc.getStepsSinceReorder();
}

void DeviceConstraints::uploadCells(const vector<mm_int4>& cells) {
    if (!solver->getSet().custom.empty())
        program->arguments["cellOffsets"].uploadSubArray(cells.data(), 0, numParticles(), false);
}

int DeviceConstraints::constraintOf(int row, const DeviceOrder& order) const {
    const int k = program->tables().constraintOf[row];
    if (placeByFirstParticle[k] < 0)
        return k;
    const int firstParticle = order.atomIndex[solver->getSet().constraints[k].particles[0]];
    return constraintsByFirstParticle[firstParticle][placeByFirstParticle[k]];
}

DeviceConstraints::BodyPlace DeviceConstraints::placeIn(const DeviceOrder& order, int number, int place) const {
    const ConstraintTables& tables = program->tables();
    const int particle = tables.bodyParticle[place], body = tables.bodyOfNumber[number];
    const vector<BodyPlace>& places = bodyPlaces[particle];
    const auto isOfBody = [&](const BodyPlace& other) { return other.body == body; };
    return bodyPlaces[order.atomIndex[particle]][find_if(places.begin(), places.end(), isOfBody) - places.begin()];
}

Box DeviceConstraints::box() const {
    Vec3 a, b, c;
    cc.getPeriodicBoxVectors(a, b, c);
    return toBox(a, b, c);
}

Centroids DeviceConstraints::centroids() const {
    if (TestHooks::border.isSet())
        return TestHooks::border.valueOr(0) == 0 ? Centroids::Merged : Centroids::Bordered;
    return cc.getIsCPU() ? Centroids::Merged // its threads solve a merged cluster faster
                         : Centroids::BorderedIfLarge;
}

string DeviceConstraints::describeSolvers() const {
    string text = ConstraintPlugin::describeSolvers(*solver);
    if (program != nullptr && program->numSharedFactors() > 0)
        text += ", " + to_string(program->numSharedFactors()) + " in shared memory";
    if (program != nullptr && program->numClustersInSubdomains() > 0)
        text += ", " + to_string(program->numClustersInSubdomains()) + " in overlapping subdomains";
    return text;
}

} // namespace ConstraintPlugin
