// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ConstraintIntegrator.h"
#include "ClusterReport.h"
#include "CollectConstraints.h"
#include "ConstraintErrors.h"
#include "ConstraintSolver.h"
#include "CoreExceptions.h"
#include "ForceChecks.h"
#include "KernelHold.h"
#include "OpenMMVectors.h"
#include "ProblemReport.h"
#include "Settings.h"
#include "SystemChecks.h"
#include "Warn.h"
#include "openmm/CMMotionRemover.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "openmm/internal/ContextImpl.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "openmmconstraints/ConstraintKernels.h"
#include <cmath>
#include <stdexcept>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

constexpr double smallestStepSize = 1e-150; // ps; its square is above the smallest normal number, 2e-308

/** Whether an integrator takes steps by itself, or is the first child of a CompoundIntegrator that is of this library.
 */
bool isFirstOfOurs(Integrator& stepping, const ConstraintIntegrator* one) {
    const auto* compound = dynamic_cast<const CompoundIntegrator*>(&stepping);
    for (int i = 0; compound != nullptr && i < compound->getNumIntegrators(); i++)
        if (const auto* child = dynamic_cast<const ConstraintIntegrator*>(&compound->getIntegrator(i)))
            return child == one;
    return true;
}

} // namespace

ConstraintIntegrator::ConstraintIntegrator(double stepSize) {
    ConstraintIntegrator::setStepSize(stepSize);
    ConstraintIntegrator::setConstraintTolerance(1e-5);
}

void ConstraintIntegrator::setSolver(Solver newSolver) {
    if (newSolver != Automatic && newSolver != Iterative && newSolver != MatrixInversion)
        throw OpenMMException("setSolver: " + to_string((int) newSolver) +
                              " is no solver. Use ConstraintIntegrator.Automatic, Iterative or MatrixInversion.");
    solver = newSolver;
}

void ConstraintIntegrator::setConstraintTolerance(double tolerance) {
    if (!(tolerance >= 1e-14 && tolerance < 1))
        refuseSetting("setConstraintTolerance: the tolerance has to be at least 1e-14, the floor of double precision, "
                      "and less than 1",
                      tolerance);
    Integrator::setConstraintTolerance(tolerance);
}

void ConstraintIntegrator::setStepSize(double size) {
    if (!(size >= 0) || std::isinf(size))
        refuseSetting("setStepSize: the step size has to be a number of picoseconds that is not negative", size);
    if (size > 0 && size < smallestStepSize)
        refuseSetting(
            "setStepSize: the step size has to be 0 or at least 1e-150 ps, because multipliers are divided by "
            "its square, which double precision cannot hold for smaller ones",
            size);
    Integrator::setStepSize(size);
}

void ConstraintIntegrator::setMaxIterations(int iterations) {
    if (iterations < 1)
        throw OpenMMException("setMaxIterations: at least one iteration is needed; got " + to_string(iterations) + ".");
    maxIterations = iterations;
}

IntegrateConstraintsStepKernel& ConstraintIntegrator::stepKernel() const {
    if (kernel.getName() != getStepKernelName())
        throw OpenMMException("The Context was created for another discretization than this integrator is set to now "
                              "(setNumGeodesicSteps: 0 or positive). Call Context.reinitialize(True), or restore the "
                              "former setting.");
    return kernel.getAs<IntegrateConstraintsStepKernel>();
}

template <class Function>
auto ConstraintIntegrator::work(const char* name, Function function) const {
    return withOpenMMExceptions(context->getSystem(), name, [&] { return function(*working(name)); });
}

KernelHold ConstraintIntegrator::reading(const char* name) const {
    return {*use, stepKernel(), KernelHold::Reading, name};
}

KernelHold ConstraintIntegrator::working(const char* name) const {
    return {*use, stepKernel(), KernelHold::Work, name};
}

void ConstraintIntegrator::setMaxProjection(double distance) {
    if (!(distance > 0) || std::isinf(distance))
        refuseSetting("setMaxProjection: how far a particle may be moved has to be a positive number of nanometers",
                      distance);
    maxProjection = distance;
}

void ConstraintIntegrator::initialize(ContextImpl& contextRef) {
    if (owner != nullptr && &contextRef.getOwner() != owner)
        throw OpenMMException("This Integrator is already bound to a context");
    withOpenMMExceptions(contextRef.getSystem(), "creating the Context", [&] {
        const System& system = contextRef.getSystem();
        kernel = contextRef.getPlatform().createKernel(getStepKernelName(), contextRef);
        const ConstraintSet constraints = collectConstraints(system, getConstraintTolerance());
        checkSupported(constraints, throwProblem);
        checkForces(system, constraints, true, throwProblem);
        checkForceGroups(system, *this, throwProblem);
        use = ContextUse::of(contextRef);
        use->met = {};
        stepKernel().share({use, &use->met});
        stepKernel().initialize(system, *this, constraints);
        if (isFirstOfOurs(contextRef.getIntegrator(), this))
            warnOf(system, constraints);
    });
    hasPositions = false;
    reinitialized = owner != nullptr;
    context = &contextRef;
    owner = &contextRef.getOwner();
}

void ConstraintIntegrator::updateConstraints() {
    work("updateParametersInContext()", [&](IntegrateConstraintsStepKernel& kernel) {
        const ConstraintSet constraints =
            collectConstraints(context->getSystem(), getConstraintTolerance(), throwProblem, &context->getParameters());
        checkSupported(constraints, throwProblem);
        kernel.setTargets(constraints);
    });
}

void ConstraintIntegrator::requireProjected() {
    withOpenMMExceptions(context->getSystem(), "computing forces",
                         [&] { kernel.getAs<IntegrateConstraintsStepKernel>().requireProjected(*context, *this); });
}

void ConstraintIntegrator::requireNearConstraints() {
    withOpenMMExceptions(context->getSystem(), "computing forces", [&] {
        kernel.getAs<IntegrateConstraintsStepKernel>().requireNearConstraints(*context, *this);
    });
}

void ConstraintIntegrator::cleanup() {
    kernel = Kernel();
}

vector<string> ConstraintIntegrator::getKernelNames() {
    return {getStepKernelName()};
}

void ConstraintIntegrator::requireContext(bool positionsToo) const {
    if (context == nullptr)
        throw OpenMMException("This Integrator is not bound to a context!");
    if (positionsToo && !hasPositions)
        throw OpenMMException("Particle positions have not been set");
}

void ConstraintIntegrator::step(int steps) {
    requireContext(true);
    reinitialized = false;
    withOpenMMExceptions(context->getSystem(), "step()", [&] {
        KernelHold(*use, stepKernel(), KernelHold::Step, "step()")->execute(*context, *this, steps);
    });
}

double ConstraintIntegrator::applyConstraints() {
    requireContext(true);
    return work("applyConstraints()",
                [&](IntegrateConstraintsStepKernel& kernel) { return kernel.applyConstraints(*context, *this, true); });
}

static ConstraintIntegrator& currentOfOurs(ContextImpl& context) {
    return dynamic_cast<ConstraintIntegrator&>(currentIntegrator(context.getIntegrator()));
}

void applyConstraintsForOpenMM(ContextImpl& context) {
    ConstraintIntegrator& ours = currentOfOurs(context);
    ours.requireContext(true);
    ours.work("applyConstraints()",
              [&](IntegrateConstraintsStepKernel& kernel) { kernel.applyConstraints(context, ours, false); });
}

void projectVelocitiesForOpenMM(ContextImpl& context, vector<Vec3>& velocities) {
    ConstraintIntegrator& ours = currentOfOurs(context);
    ours.requireContext(true);
    ours.work("applyVelocityConstraints()",
              [&](IntegrateConstraintsStepKernel& kernel) { kernel.projectVelocities(context, ours, velocities); });
}

void ConstraintIntegrator::applyVelocityConstraints() {
    requireContext(true);
    work("applyVelocityConstraints()",
         [&](IntegrateConstraintsStepKernel& kernel) { kernel.applyVelocityConstraints(*context, *this); });
}

vector<Vec3> ConstraintIntegrator::getVelocitiesForTemperature(const System& system, double temperature,
                                                               int randomSeed) const {
    vector<Vec3> velocities = Integrator::getVelocitiesForTemperature(system, temperature, randomSeed);
    // Without positions nothing can be projected; OpenMM throws afterwards.
    if (context != nullptr && hasPositions)
        work("setVelocitiesToTemperature()",
             [&](IntegrateConstraintsStepKernel& kernel) { kernel.projectVelocities(*context, *this, velocities); });
    return velocities;
}

SolverSummary ConstraintIntegrator::getSolverSummary() const {
    requireContext(false);
    SolverSummary summary = reading("getSolverSummary()")->getSummary();
    summary.tolerance = max(getConstraintTolerance(), summary.tolerance);
    return summary;
}

static Box boxOf(ContextImpl& context) {
    Vec3 a, b, c;
    context.getPeriodicBoxVectors(a, b, c);
    return toBox(a, b, c);
}

/** Choose the independent constraints at a Context's positions. @return whether they can be chosen there */
static bool chooseInContext(ConstraintSolver& solver, ContextImpl& context) {
    vector<Vec3> positions;
    context.getPositions(positions);
    return solver.chooseAt(toReal3(positions), boxOf(context), context.getTime());
}

vector<ClusterInfo> ConstraintIntegrator::getClusters(const System& system) const {
    return withOpenMMExceptions(system, "getClusters()", [&] {
        ConstraintSolver constraintSolver(collectConstraints(system, getConstraintTolerance()), (Method) solver);
        const bool isOfContext = context != nullptr && &context->getSystem() == &system && hasPositions;
        const Box box = isOfContext ? boxOf(*context) : defaultBox(system);
        if (!constraintSolver.isRankKnown(box) &&
            !(isOfContext && work("getClusters()", [&](IntegrateConstraintsStepKernel&) {
                  return chooseInContext(constraintSolver, *context);
              })))
            throwProblem(rankWithoutPositions(constraintSolver, box, "getClusters",
                                              "Make a Context of this System with this integrator and set positions "
                                              "at which rigid bodies have their shapes, or read the clusters of "
                                              "openmmconstraints.Health(system, positions)."));
        return describeClusters(constraintSolver.getSet(), constraintSolver.getGraph());
    });
}

vector<double> ConstraintIntegrator::getMultipliers() const {
    requireContext(false);
    return reading("getMultipliers()")->getMultipliers();
}

vector<double> ConstraintIntegrator::getMultipliersOf(int force) const {
    requireContext(false);
    const KernelHold held = reading("getMultipliers()");
    const ConstraintSet& set = held->getConstraints();
    const vector<double> all = held->getMultipliers();
    vector<double> part;
    for (int k = 0; k < set.numListed; k++)
        if (set.constraints[k].force == force)
            part.push_back(all[k]);
    return part;
}

double ConstraintIntegrator::getConstraintWork() const {
    requireContext(false);
    return reading("getConstraintWork()")->getConstraintWork();
}

vector<double> ConstraintIntegrator::getConstraintWorks() const {
    requireContext(false);
    return reading("getConstraintWorks()")->getConstraintWorks();
}

vector<double> ConstraintIntegrator::getVelocityMultipliers() const {
    if (getMultipleTimeSteps() != nullptr)
        throw OpenMMException("getVelocityMultipliers: with multiple time steps a step has several velocity stages. "
                              "getMultipliers() has the impulses of all stages.");
    requireContext(false);
    return reading("getVelocityMultipliers()")->getVelocityMultipliers();
}

vector<Vec3> ConstraintIntegrator::getConstraintForces() const {
    requireContext(false);
    vector<Vec3> forces, virial;
    reading("getConstraintForces()")->getConstraintForces(forces, virial);
    return forces;
}

vector<Vec3> ConstraintIntegrator::getConstraintVirial() const {
    requireContext(false);
    vector<Vec3> forces, virial;
    reading("getConstraintVirial()")->getConstraintForces(forces, virial);
    return virial;
}

vector<double> ConstraintIntegrator::computeMultipliers() {
    requireContext(true);
    return work("computeMultipliers()",
                [&](IntegrateConstraintsStepKernel& kernel) { return kernel.computeMultipliers(*context, *this); });
}

map<string, double> ConstraintIntegrator::computeParameterDerivatives() {
    requireContext(true);
    map<string, double> derivatives =
        work("computeParameterDerivatives()", [&](IntegrateConstraintsStepKernel& kernel) {
            return kernel.computeParameterDerivatives(*context, *this);
        });
    for (const string& name : declaredParameters(context->getSystem()))
        derivatives.emplace(name, 0.0); // no constraint depends on it
    return derivatives;
}

void ConstraintIntegrator::computeBlueMoon(const vector<int>& constraints, vector<double>& multipliers,
                                           vector<double>& corrections, double& logZ) {
    requireContext(true);
    const int count = reading("computeBlueMoon()")->getConstraints().numListed;
    for (int k : constraints)
        if (k < 0 || k >= count)
            throw OpenMMException("computeBlueMoon: there is no constraint " + to_string(k) + "; there are " +
                                  to_string(count) + ", in the order of getMultipliers().");
    work("computeBlueMoon()", [&](IntegrateConstraintsStepKernel& kernel) {
        kernel.computeBlueMoon(*context, *this, constraints, multipliers, corrections, logZ);
    });
}

double ConstraintIntegrator::computePressure(double& error) {
    requireContext(true);
    vector<double> pressure, errors;
    work("computePressure()", [&](IntegrateConstraintsStepKernel& kernel) {
        kernel.computePressure(*context, *this, false, pressure, errors);
    });
    error = errors[0];
    return pressure[0];
}

static vector<Vec3> toRows(const vector<double>& tensor) {
    vector<Vec3> rows;
    for (size_t k = 0; k < tensor.size(); k += 3)
        rows.emplace_back(tensor[k], tensor[k + 1], tensor[k + 2]);
    return rows;
}

vector<Vec3> ConstraintIntegrator::computePressureTensor(vector<Vec3>& errors) {
    requireContext(true);
    vector<double> pressure, each;
    work("computePressureTensor()", [&](IntegrateConstraintsStepKernel& kernel) {
        kernel.computePressure(*context, *this, true, pressure, each);
    });
    errors = toRows(each);
    return toRows(pressure);
}

int ConstraintIntegrator::getNumDegreesOfFreedom() const {
    requireContext(false);
    const System& system = context->getSystem();
    const char* const name = "getNumDegreesOfFreedom()";
    int dof = -(hasPositions ? work(name, [&](auto& kernel) { return kernel.findConstraintRank(*context, *this); })
                             : reading(name)->getConstraintRank(*context));
    for (int i = 0; i < system.getNumParticles(); i++)
        if (system.getParticleMass(i) > 0)
            dof += 3;
    for (int f = 0; f < system.getNumForces(); f++)
        if (dynamic_cast<const CMMotionRemover*>(&system.getForce(f)) != nullptr)
            return std::max(dof - 3, 0); // of nothing that moves, none
    return dof;
}

double ConstraintIntegrator::computeSystemTemperature() {
    requireContext(true);
    const int dof = getNumDegreesOfFreedom();
    return dof > 0 ? 2 * computeKineticEnergy() / (dof * BOLTZ) : 0.0;
}

double ConstraintIntegrator::computeKineticEnergy() {
    return work("the kinetic energy",
                [&](IntegrateConstraintsStepKernel& kernel) { return kernel.computeKineticEnergy(*context, *this); });
}

void ConstraintIntegrator::stateChanged(State::DataType changed) {
    if (changed == State::Positions) {
        hasPositions = true;
        stepKernel().notePositions();
    } else if (changed == State::Velocities)
        stepKernel().noteVelocities();
    stepKernel().invalidateForces(changed == State::Positions || changed == State::Velocities);
}

void ConstraintIntegrator::createCheckpoint(ostream& stream) const {
    const KernelHold held(*use, kernel.getAs<IntegrateConstraintsStepKernel>(), KernelHold::Reading,
                          "createCheckpoint()"); // not reading(): reinitialize() needs one in any case
    held->createCheckpoint(stream);
}

void ConstraintIntegrator::loadCheckpoint(istream& stream) {
    working("loadCheckpoint()")->loadCheckpoint(stream, reinitialized);
    reinitialized = false;
}

} // namespace ConstraintPlugin
