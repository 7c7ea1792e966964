// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceStepKernel.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "openmm/reference/ReferencePlatform.h"
#include "openmmconstraints/internal/ClusterReport.h"
#include <cstring>
#include <limits>
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

static_assert(sizeof(Real3) == sizeof(Vec3), "arrays of Vec3 are handed to core as arrays of Real3");

ReferencePlatform::PlatformData& data(ContextImpl& context) {
    return *(ReferencePlatform::PlatformData*) context.getPlatformData();
}

Real3* asReal3(vector<Vec3>& v) {
    return reinterpret_cast<Real3*>(v.data());
}

bool sameBits(const void* a, const void* b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}

/** With a step size of zero, velocity errors are measured over a femtosecond. */
double velocityTimeScale(const ConstraintIntegrator& integrator) {
    return integrator.getStepSize() > 0 ? integrator.getStepSize() : 0.001;
}

/** What rounding of the positions alone may add to a solved constraint's error. */
double roundingSlack(const ConstraintSet& set, const Real3* positions) {
    double largest = 0, shortest = numeric_limits<double>::max();
    for (const Constraint& c : set.constraints) {
        for (int i = 0; i < c.size(); i++) {
            const Real3& x = positions[c.particles[i]];
            largest = max({largest, abs(x.x), abs(x.y), abs(x.z)});
        }
        shortest = min(shortest, set.scale(c));
    }
    return 8 * numeric_limits<double>::epsilon() * largest / shortest;
}

} // namespace

void ReferenceStepKernel::initialize(const System&, const ConstraintIntegrator& integrator,
                                     const ConstraintSet& constraints) {
    inverseMass = constraints.inverseMass;
    delta.resize(numParticles());
    solver = make_unique<ConstraintSolver>(constraints, (Method) integrator.getSolver());
    lastStepSize = integrator.getStepSize();
    reading.multipliers.assign(constraints.constraints.size(), 0.0);
    reading.velocityMultipliers = reading.multipliers;
    reading.positions.assign(numParticles(), Real3());
    reading.endPositions = reading.positions;
    takeSettings(integrator);
}

void ReferenceStepKernel::setTargets(const ConstraintSet& constraints) {
    if (frozen == nullptr) {
        auto now = make_unique<FrozenReading>();
        now->multipliers = getMultipliers();
        now->velocityMultipliers = getVelocityMultipliers();
        getConstraintForces(now->forces, now->virial);
        frozen = std::move(now);
    }
    if (!solver->setTargets(constraints))
        throw OpenMMException("updateParametersInContext: particles or the number of constraints changed, or which "
                              "of them are straight or flat. Only distances, angles, dihedrals, shapes and parameters "
                              "may change; otherwise call Context.reinitialize(True).");
    rankChecked = false; // and with it, that the state is on the constraints
}

Real3* ReferenceStepKernel::positions(ContextImpl& context) const {
    return asReal3(*data(context).positions);
}

Real3* ReferenceStepKernel::velocities(ContextImpl& context) const {
    return asReal3(*data(context).velocities);
}

double ReferenceStepKernel::currentTime(ContextImpl& context) const {
    return data(context).time;
}

Box ReferenceStepKernel::box(ContextImpl& context) const {
    const Vec3* v = data(context).periodicBoxVectors;
    return {{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}};
}

void ReferenceStepKernel::take(ContextImpl& context, Snapshot& snapshot) const {
    snapshot.positions.assign(positions(context), positions(context) + numParticles());
    snapshot.velocities.assign(velocities(context), velocities(context) + numParticles());
    snapshot.box = box(context);
    snapshot.time = data(context).time;
}

bool ReferenceStepKernel::holds(const vector<Real3>& kept, const Real3* now) const {
    return (int) kept.size() == numParticles() && sameBits(kept.data(), now, numParticles() * sizeof(Real3));
}

void ReferenceStepKernel::prepare(ContextImpl& context, const ConstraintIntegrator& integrator) {
    takeSettings(integrator);
    solver->setTime(data(context).time);
    if (solver->setGlobals([&](const string& name) { return context.getParameter(name); }) &&
        !lastGood.positions.empty()) { // no longer on the constraints
        reading.endPositions.swap(lastGood.positions);
        lastGood.positions.clear();
    }
}

void ReferenceStepKernel::takeSettings(const ConstraintIntegrator& integrator) {
    solver->setMethod((Method) integrator.getSolver());
    solver->setWarmStart(integrator.getWarmStart());
    maxIterations = integrator.getMaxIterations();
    const double dt = integrator.getStepSize();
    if (dt != lastStepSize) {
        if (lastStepSize > 0)
            solver->rescaleMultipliers((dt * dt) / (lastStepSize * lastStepSize));
        lastStepSize = dt;
    }
}

SolverSummary ReferenceStepKernel::getSummary() const {
    SolverSummary now = summary;
    now.solver = describeSolver(solver->getGraph());
    now.clusters = (int) solver->getGraph().clusters.size();
    return now;
}

const Real3* ReferenceStepKernel::forces(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const int groups = integrator.getIntegrationForceGroups();
    const Box now = box(context);
    const double time = data(context).time; // a force may depend on it
    if (!forcesKept || groups != forceGroups || time != atForces.time ||
        !holds(atForces.positions, positions(context)) || !sameBits(&atForces.box, &now, sizeof(Box))) {
        context.calcForcesAndEnergy(true, false, groups);
        const Real3* computed = asReal3(*data(context).forces);
        keptForces.assign(computed, computed + numParticles());
        atForces.positions.assign(positions(context), positions(context) + numParticles());
        atForces.box = now;
        atForces.time = time;
        forceGroups = groups;
        forcesKept = true;
    }
    return keptForces.data();
}

void ReferenceStepKernel::execute(ContextImpl& context, const ConstraintIntegrator& integrator, int steps) {
    for (int i = 0; i < steps; i++) {
        summary.iterations = 0;
        summary.maxError = 0;
        summary.worstConstraint = -1;
        const string step = "step " + to_string(data(context).stepCount + 1);
        if (context.updateContextState())
            forcesKept = false;
        prepare(context, integrator);
        take(context, start);
        try {
            activity = "the projection before " + step;
            projectState(context, integrator);
            activity = step;
            if (solver->moves())
                checkMovingTargets(start.time + integrator.getStepSize());
            reading.time = start.time;
            takeStep(context, integrator);
        } catch (...) {
            copy(start.positions.begin(), start.positions.end(), positions(context));
            copy(start.velocities.begin(), start.velocities.end(), velocities(context));
            data(context).time = start.time;
            throw;
        }
        data(context).stepCount++;
        take(context, lastGood);
        reading.box = lastGood.box;
        updateReading(context, integrator);
    }
}

void ReferenceStepKernel::solvePositions(ContextImpl& context, const ConstraintIntegrator& integrator,
                                         Real3* displacement) {
    requireFinite(displacement, "displacement");
    noteGradientPositions(context);
    solver->setTime(data(context).time);
    targetTime = data(context).time + integrator.getStepSize();
    const SolveReport report =
        solver->solvePositions(positions(context), box(context), displacement, integrator.getConstraintTolerance(),
                               integrator.getMaxIterations(), integrator.getStepSize());
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Positions, integrator);
    note(report);
}

void ReferenceStepKernel::solveVelocities(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                          Real3* velocity) {
    targetTime = data(context).time;
    solver->setTime(targetTime);
    const SolveReport report =
        solver->solveVelocities(x, box(context), velocity, velocityTimeScale(integrator),
                                integrator.getConstraintTolerance(), integrator.getMaxIterations());
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Velocities, integrator);
    note(report);
}

void ReferenceStepKernel::solveAccelerations(ContextImpl& context, const ConstraintIntegrator& integrator,
                                             const Real3* v, Real3* a, vector<double>& multipliers,
                                             const Stabilization& feedback) {
    targetTime = data(context).time;
    solver->setTime(targetTime);
    const SolveReport report = solver->solveAccelerations(positions(context), box(context), v, a, multipliers,
                                                          integrator.getMaxIterations(), feedback);
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Velocities, integrator);
}

void ReferenceStepKernel::movePositions(ContextImpl& context, const ConstraintIntegrator& integrator,
                                        const Real3* displacement) {
    Real3* x = positions(context);
    for (int i = 0; i < numParticles(); i++)
        x[i] += displacement[i];
    requireFinite(x, "position");
    context.computeVirtualSites();
    data(context).time += integrator.getStepSize();
}

void ReferenceStepKernel::requireFinite(const Real3* v, const char* what) const {
    for (int i = 0; i < numParticles(); i++)
        if (!isfinite(v[i].x + v[i].y + v[i].z))
            throw OpenMMException("The " + string(what) + " of particle " + to_string(i) +
                                  " would become NaN or infinite in " + activity +
                                  ". Its force, velocity or position is not finite: look for overlapping particles, "
                                  "minimize the energy, or reduce the step size.");
}

void ReferenceStepKernel::projectState(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const Box now = box(context);
    if (loadedFingerprint != 0 && loadedFingerprint == fingerprintOf(start)) {
        checkRank(positions(context), now);
        take(context, lastGood);
    }
    loadedFingerprint = 0;
    const bool isItsTime = !solver->moves() || lastGood.time == data(context).time;
    const bool positionsKnown = rankChecked && isItsTime && holds(lastGood.positions, positions(context)) &&
                                sameBits(&lastGood.box, &now, sizeof(Box));
    if (!positionsKnown)
        projectContextPositions(context, integrator, false);
    if (constrainsVelocities() && !(positionsKnown && holds(lastGood.velocities, velocities(context))))
        projectContextVelocities(context, integrator);
}

bool ReferenceStepKernel::projectPositions(ContextImpl& context, const ConstraintIntegrator& integrator, Real3* x,
                                           bool force) {
    const Box now = box(context);
    const double tolerance = integrator.getConstraintTolerance();
    const double time = targetTime = data(context).time;
    solver->setTime(time);
    checkPeriodicLengths(now, time);
    if (!rankChecked)
        solver->chooseIndependent(x, now);
    const SolveReport before = solver->measurePositions(x, now);
    const double threshold = force ? tolerance : projectionThreshold(integrator);
    const bool violated = !(before.maxError <= threshold + roundingSlack(solver->getSet(), x));
    if (violated && !force)
        refuseFarOff(before, time);
    if (violated) {
        const auto kept = solver->getMultipliers(); // those of a step, no start for a projection
        vector<Real3> shift(numParticles());
        solver->forgetMultipliers();
        SolveReport report = solver->solvePositions(x, now, shift.data(), tolerance, integrator.getMaxIterations());
        if (report.outcome == Outcome::Converged)
            for (int i = 0; i < numParticles(); i++)
                x[i] += shift[i];
        else if (report.outcome != Outcome::NotFinite)
            approachOrFail(x, now, report, integrator);
        solver->setMultipliers(kept);
        if (report.outcome != Outcome::Converged)
            fail(report, Stage::Positions, integrator);
        note(report);
    }
    checkRank(x, now);
    return violated;
}

void ReferenceStepKernel::approachOrFail(Real3* x, const Box& now, SolveReport& report,
                                         const ConstraintIntegrator& integrator) {
    vector<Real3> closer(x, x + numParticles());
    const SolveReport second =
        solver->approach(closer.data(), now, integrator.getConstraintTolerance(), integrator.getMaxIterations());
    if (second.outcome == Outcome::Converged) {
        copy(closer.begin(), closer.end(), x);
        report = second;
        return;
    }
    const RankAnalysis analysis = solver->checkRank(x, now);
    if (analysis.isSingular())
        throwSingularSet(solver->getSet(), analysis);
}

void ReferenceStepKernel::checkRank(const Real3* x, const Box& now) {
    if (rankChecked)
        return;
    const RankAnalysis analysis = solver->checkRank(x, now);
    if (analysis.isSingular())
        throwSingularSet(solver->getSet(), analysis);
    rankChecked = true;
}

void ReferenceStepKernel::refuseFarOff(const SolveReport& report, double time) const {
    const Constraint& c = solver->getSet().constraints[report.constraint];
    const double ratio = report.value / c.targetAt(time);
    // NaN and particles at one place are the solver's to report.
    if (!solver->getSet().hasLengthScale(c) || ratio == 0 || !(ratio < 0.2 || ratio > 2.5))
        return;
    ostringstream out;
    out << describeConstraint(solver->getSet(), report.constraint) << ": value " << report.value << " nm, target "
        << c.targetAt(time) << " nm. Positions that far off are not projected unasked, in " << activity
        << ".\nRemedy: wrapped positions need setUsesPeriodicBoundaryConditions(True) on the ConstraintForce; OpenMM's "
           "minimizer does not know ConstraintForces, so minimize before they are added; or call "
           "integrator.applyConstraints() to project all the same.";
    throw OpenMMException(out.str());
}

void ReferenceStepKernel::applyConstraints(ContextImpl& context, const ConstraintIntegrator& integrator) {
    prepare(context, integrator);
    activity = "the projection of the positions";
    projectContextPositions(context, integrator, true);
    context.computeVirtualSites(); // also where no constraint was violated
}

void ReferenceStepKernel::projectContextPositions(ContextImpl& context, const ConstraintIntegrator& integrator,
                                                  bool force) {
    vector<Real3> x(positions(context), positions(context) + numParticles());
    if (projectPositions(context, integrator, x.data(), force)) {
        copy(x.begin(), x.end(), positions(context));
        context.computeVirtualSites();
    }
}

void ReferenceStepKernel::applyVelocityConstraints(ContextImpl& context, const ConstraintIntegrator& integrator) {
    prepare(context, integrator);
    activity = "the projection of the velocities";
    projectContextVelocities(context, integrator);
}

void ReferenceStepKernel::projectContextVelocities(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const Real3* x = positions(context);
    vector<Real3> v(velocities(context), velocities(context) + numParticles());
    projectTangent(context, integrator, x, v.data());
    copy(v.begin(), v.end(), velocities(context));
}

void ReferenceStepKernel::projectVelocities(ContextImpl& context, const ConstraintIntegrator& integrator,
                                            vector<Vec3>& v) {
    prepare(context, integrator);
    activity = "the projection of the velocities";
    // The Context's positions may still be off the constraints: take the tangent where the next step will put them.
    vector<Real3> x(positions(context), positions(context) + numParticles());
    projectPositions(context, integrator, x.data(), true);
    projectTangent(context, integrator, x.data(), asReal3(v));
}

void ReferenceStepKernel::projectTangent(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                         Real3* v) {
    solver->setTime(data(context).time);
    const SolveReport before = solver->measureVelocities(x, box(context), v, velocityTimeScale(integrator));
    if (before.maxError <= integrator.getConstraintTolerance())
        return;
    const auto kept = solver->getMultipliers();
    solver->forgetMultipliers();
    solveVelocities(context, integrator, x, v);
    solver->setMultipliers(kept);
}

double ReferenceStepKernel::computeKineticEnergy(ContextImpl& context, const ConstraintIntegrator&) {
    return kineticEnergy(velocities(context));
}

double ReferenceStepKernel::projectedKineticEnergy(ContextImpl& context, const ConstraintIntegrator& integrator,
                                                   double timeShift) {
    vector<Vec3> v = *data(context).velocities;
    if (timeShift != 0) {
        const Real3* f = forces(context, integrator);
        for (int i = 0; i < numParticles(); i++)
            asReal3(v)[i] += (timeShift * inverseMass[i]) * f[i];
    }
    const SolverSummary ofLastStep = summary;
    projectVelocities(context, integrator, v);
    summary = ofLastStep;
    return kineticEnergy(asReal3(v));
}

double ReferenceStepKernel::kineticEnergy(const Real3* v) const {
    double energy = 0;
    for (int i = 0; i < numParticles(); i++)
        if (inverseMass[i] > 0)
            energy += 0.5 * dot(v[i], v[i]) / inverseMass[i];
    return energy;
}

void ReferenceStepKernel::checkPeriodicLengths(const Box& now, double time) const {
    const ConstraintSet& set = solver->getSet();
    for (size_t k = 0; k < set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (set.hasLengthScale(c) && c.periodic && c.force >= 0 && c.targetAt(time) > now.halfWidth())
            throw OpenMMException(describeConstraint(set, (int) k) + ": its distance " + to_string(c.targetAt(time)) +
                                  " nm exceeds half the shortest width of the periodic box, " +
                                  to_string(now.halfWidth()) + " nm. Use a larger box.");
    }
}

void ReferenceStepKernel::checkMovingTargets(double time) const {
    const ConstraintSet& set = solver->getSet();
    for (int k = 0; k < set.numListed; k++) {
        const Constraint& c = set.constraints[k];
        const double target = c.targetAt(time);
        const bool isAngle = c.kind == CoordinateKind::Angle;
        if (c.rate == 0 || c.kind == CoordinateKind::Dihedral || (target > 0 && (!isAngle || target < M_PI)))
            continue;
        ostringstream out;
        out << describeConstraint(set, k) << " would be moved to " << target << " " << unitOf(c.kind)
            << " by its rate at " << time << " ps. Remedy: stop before, or change its rate.";
        throw OpenMMException(out.str());
    }
    checkPeriodicLengths(start.box, time);
}

void ReferenceStepKernel::note(const SolveReport& report) {
    summary.converged = true;
    summary.iterations = max(summary.iterations, report.iterations);
    if (report.constraint >= 0 && (report.maxError >= summary.maxError || summary.worstConstraint < 0)) {
        summary.maxError = report.maxError;
        summary.worstConstraint = listedIndex(solver->getSet(), report.constraint);
    }
}

void ReferenceStepKernel::fail(const SolveReport& report, Stage stage, const ConstraintIntegrator& integrator) {
    solver->forgetMultipliers();
    summary.converged = false;
    summary.iterations = report.iterations;
    summary.maxError = report.maxError;
    summary.worstConstraint = listedIndex(solver->getSet(), report.constraint);
    throwSolveError(solver->getSet(), report,
                    {stage, activity, integrator.getConstraintTolerance(), velocityTimeScale(integrator), targetTime,
                     describeSolver(solver->getGraph())});
}

} // namespace ConstraintPlugin
