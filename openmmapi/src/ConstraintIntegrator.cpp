// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ConstraintIntegrator.h"
#include "ConstraintSolver.h"
#include "openmm/CMMotionRemover.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "openmm/internal/ContextImpl.h"
#include "openmm/reference/SimTKOpenMMRealType.h"
#include "openmmconstraints/ConstraintKernels.h"
#include "openmmconstraints/internal/ClusterReport.h"
#include "openmmconstraints/internal/CollectConstraints.h"
#include "openmmconstraints/internal/Settings.h"
#include "openmmconstraints/internal/SystemChecks.h"
#include <cmath>
#include <stdexcept>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

constexpr double smallestStepSize = 1e-150; // ps; its square is above the smallest normal number, 2e-308

[[noreturn]] void throwOutOfMemory(const char* activity, const string& what, bool isOfSolver) {
    throw OpenMMException(string("Out of memory in ") + activity + ", for " + what + ".\nRemedy: " +
                          (isOfSolver ? "setSolver(Iterative), which needs no factor, or fewer coupled constraints, "
                                      : "fewer constraints or particles in one Context, ") +
                          "or a machine (or a limit of this process) with more memory.");
}

string describeSize(const System& system) {
    long long number = system.getNumConstraints();
    for (int f = 0; f < system.getNumForces(); f++)
        forEachJoinedGroup(system.getForce(f), [&](const vector<int>&) { number++; });
    return to_string(number) + " constraints among " + to_string(system.getNumParticles()) + " particles";
}

/** core knows no OpenMM: what it throws becomes an OpenMMException here. */
template <class Function>
auto withOpenMMExceptions(Function function) -> decltype(function()) {
    try {
        return function();
    } catch (const runtime_error& e) {
        throw OpenMMException(e.what());
    }
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

void ConstraintIntegrator::initialize(ContextImpl& contextRef) {
    if (owner != nullptr && &contextRef.getOwner() != owner)
        throw OpenMMException("This Integrator is already bound to a context");
    withOpenMMExceptions([&] {
        const System& system = contextRef.getSystem();
        kernel = contextRef.getPlatform().createKernel(getStepKernelName(), contextRef);
        const ConstraintSet constraints = collectConstraints(system, getConstraintTolerance());
        requireSupported(constraints);
        refuseForces(system, constraints);
        stepKernel().initialize(system, *this, constraints);
    });
    hasPositions = false;
    reinitialized = owner != nullptr;
    context = &contextRef;
    owner = &contextRef.getOwner();
}

void ConstraintIntegrator::updateConstraints() {
    withOpenMMExceptions([&] {
        const ConstraintSet constraints = collectConstraints(context->getSystem(), getConstraintTolerance());
        requireSupported(constraints);
        stepKernel().setTargets(constraints);
    });
}

void ConstraintIntegrator::cleanup() {
    kernel = Kernel();
}

vector<string> ConstraintIntegrator::getKernelNames() {
    return {getStepKernelName()};
}

IntegrateConstraintsStepKernel& ConstraintIntegrator::stepKernel() const {
    if (kernel.getName() != getStepKernelName())
        throw OpenMMException("The Context was created for another time step than this integrator has been set to "
                              "since (setNumGeodesicSteps: 0 or not). Call Context.reinitialize(True), or return to "
                              "the former setting.");
    return kernel.getAs<IntegrateConstraintsStepKernel>();
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
    withOpenMMExceptions([&] { stepKernel().execute(*context, *this, steps); });
}

void ConstraintIntegrator::applyConstraints() {
    requireContext(true);
    withOpenMMExceptions([&] { stepKernel().applyConstraints(*context, *this); });
}

void ConstraintIntegrator::applyVelocityConstraints() {
    requireContext(true);
    withOpenMMExceptions([&] { stepKernel().applyVelocityConstraints(*context, *this); });
}

vector<Vec3> ConstraintIntegrator::getVelocitiesForTemperature(const System& system, double temperature,
                                                               int randomSeed) const {
    vector<Vec3> velocities = Integrator::getVelocitiesForTemperature(system, temperature, randomSeed);
    // Without positions the core throws a moment later; there is nothing to project at.
    if (context != nullptr && hasPositions)
        withOpenMMExceptions([&] { stepKernel().projectVelocities(*context, *this, velocities); });
    return velocities;
}

SolverSummary ConstraintIntegrator::getSolverSummary() const {
    requireContext(false);
    SolverSummary summary = stepKernel().getSummary();
    summary.tolerance = max(getConstraintTolerance(), summary.tolerance);
    return summary;
}

vector<ClusterInfo> ConstraintIntegrator::getClusters(const System& system) const {
    return withOpenMMExceptions([&] {
        const ConstraintSolver constraintSolver(collectConstraints(system, getConstraintTolerance()), (Method) solver);
        return describeClusters(constraintSolver.getSet(), constraintSolver.getGraph());
    });
}

vector<double> ConstraintIntegrator::getMultipliers() const {
    requireContext(false);
    return stepKernel().getMultipliers();
}

vector<double> ConstraintIntegrator::getMultipliersOf(int force) const {
    requireContext(false);
    const ConstraintSet& set = stepKernel().getConstraints();
    const vector<double> all = stepKernel().getMultipliers();
    vector<double> part;
    for (int k = 0; k < set.numListed; k++)
        if (set.constraints[k].force == force)
            part.push_back(all[k]);
    return part;
}

double ConstraintIntegrator::getConstraintWork() const {
    requireContext(false);
    return stepKernel().getConstraintWork();
}

vector<double> ConstraintIntegrator::getVelocityMultipliers() const {
    requireContext(false);
    return stepKernel().getVelocityMultipliers();
}

vector<Vec3> ConstraintIntegrator::getConstraintForces() const {
    requireContext(false);
    vector<Vec3> forces, virial;
    stepKernel().getConstraintForces(forces, virial);
    return forces;
}

vector<Vec3> ConstraintIntegrator::getConstraintVirial() const {
    requireContext(false);
    vector<Vec3> forces, virial;
    stepKernel().getConstraintForces(forces, virial);
    return virial;
}

vector<double> ConstraintIntegrator::computeMultipliers() {
    requireContext(true);
    return withOpenMMExceptions([&] { return stepKernel().computeMultipliers(*context, *this); });
}

void ConstraintIntegrator::computeBlueMoon(const vector<int>& constraints, vector<double>& multipliers,
                                           vector<double>& corrections, double& logZ) {
    requireContext(true);
    const int count = stepKernel().getConstraints().numListed;
    for (int k : constraints)
        if (k < 0 || k >= count)
            throw OpenMMException("computeBlueMoon: there is no constraint " + to_string(k) + "; there are " +
                                  to_string(count) + ", in the order of getMultipliers().");
    withOpenMMExceptions(
        [&] { stepKernel().computeBlueMoon(*context, *this, constraints, multipliers, corrections, logZ); });
}

int ConstraintIntegrator::getNumDegreesOfFreedom() const {
    requireContext(false);
    const System& system = context->getSystem();
    int dof = -stepKernel().getConstraintRank();
    for (int i = 0; i < system.getNumParticles(); i++)
        if (system.getParticleMass(i) > 0)
            dof += 3;
    for (int f = 0; f < system.getNumForces(); f++)
        if (dynamic_cast<const CMMotionRemover*>(&system.getForce(f)) != nullptr)
            return dof - 3;
    return dof;
}

double ConstraintIntegrator::computeSystemTemperature() {
    requireContext(true);
    const int dof = getNumDegreesOfFreedom();
    return dof > 0 ? 2 * computeKineticEnergy() / (dof * BOLTZ) : 0.0;
}

double ConstraintIntegrator::computeKineticEnergy() {
    return withOpenMMExceptions([&] { return stepKernel().computeKineticEnergy(*context, *this); });
}

void ConstraintIntegrator::stateChanged(State::DataType changed) {
    if (changed == State::Positions)
        hasPositions = true;
    stepKernel().invalidateForces(changed == State::Positions || changed == State::Velocities);
}

void ConstraintIntegrator::createCheckpoint(ostream& stream) const {
    kernel.getAs<IntegrateConstraintsStepKernel>().createCheckpoint(stream); // reinitialize() needs one in any case
}

void ConstraintIntegrator::loadCheckpoint(istream& stream) {
    stepKernel().loadCheckpoint(stream, reinitialized);
    reinitialized = false;
}

} // namespace ConstraintPlugin
