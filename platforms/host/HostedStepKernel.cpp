// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "HostedStepKernel.h"
#include "ClusterReport.h"
#include "MovingTargets.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "openmmconstraints/ConstraintForceIntegrator.h"
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

void HostedStepKernel::initialize(const System&, const ConstraintIntegrator& integrator,
                                  const ConstraintSet& constraints) {
    inverseMass = constraints.inverseMass;
    solver = make_unique<ConstraintSolver>(constraints, (Method) integrator.getSolver());
    if (!solver->getUndecided().empty())
        throwProblem(undecidedRank(constraints, solver->getUndecided()));
    lastStepSize = integrator.getStepSize();
    reading.multipliers.values.assign(constraints.constraints.size(), 0.0);
    reading.velocityMultipliers = reading.multipliers;
    reading.positions.assign(numParticles(), Real3());
    reading.endPositions = reading.positions;
    takeSettings(integrator);
    metParameters = solver->getGlobals(); // the Context's defaults: positions are not there yet
}

void HostedStepKernel::setTargets(const ConstraintSet& constraints) {
    refreshReading();
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
    rankChecked = false;
    forgetLastState();
}

Box HostedStepKernel::box(ContextImpl& context) const {
    Vec3 v[3];
    context.getPeriodicBoxVectors(v[0], v[1], v[2]);
    return {{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}};
}

double HostedStepKernel::currentTime(ContextImpl& context) const {
    return context.getTime();
}

void HostedStepKernel::prepare(ContextImpl& context, const ConstraintIntegrator& integrator) {
    takeSettings(integrator);
    solver->setTime(currentTime(context));
    if (solver->setGlobals([&](const string& name) { return context.getParameter(name); })) {
        refreshReading();
        forgetLastState();
    }
}

void HostedStepKernel::beginRequest(ContextImpl& context, const ConstraintIntegrator& integrator, const char* name) {
    refreshReading();
    prepare(context, integrator);
    activity = name;
}

void HostedStepKernel::takeSettings(const ConstraintIntegrator& integrator) {
    solver->setMethod((Method) integrator.getSolver());
    solver->setWarmStart(integrator.getWarmStart());
    maxIterations = integrator.getMaxIterations();
    const double dt = integrator.getStepSize();
    if (dt != lastStepSize) {
        if (lastStepSize > 0)
            solver->rescaleImpulses((dt * dt) / (lastStepSize * lastStepSize));
        lastStepSize = dt;
    }
}

void HostedStepKernel::resetSummary() {
    summary.iterations = 0;
    summary.maxError = 0;
    summary.worstConstraint = -1;
}

string HostedStepKernel::solverDescription() const {
    return describeSolver(solver->getGraph());
}

SolverSummary HostedStepKernel::getSummary() const {
    refreshReading();
    SolverSummary now = summary;
    now.tolerance = smallestTolerance();
    now.solver = solverDescription();
    now.clusters = (int) solver->getGraph().clusters.size();
    now.note = describeFallbacks(solver->getGraph());
    now.fitDeviation = solver->getSet().fitDeviation;
    now.fittedConstraint = solver->getSet().fittedConstraint;
    return now;
}

void HostedStepKernel::solvePositions(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                      Real3* displacement, Real3* velocity, double duration) {
    requireFinite(displacement, "displacement");
    solver->setTime(currentTime(context));
    targetTime = solver->getTime() + duration;
    SolveReport report = solver->solvePositions(x, box(context), displacement, integrator.getConstraintTolerance(),
                                                integrator.getMaxIterations(), duration, velocity);
    if (report.outcome != Outcome::Converged) {
        noteRotation(report, x, velocity, box(context), duration);
        fail(report, Stage::Positions, integrator);
    }
    note(report);
}

void HostedStepKernel::solveVelocities(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                       Real3* velocity) {
    targetTime = currentTime(context);
    solver->setTime(targetTime);
    const double timeScale = velocityTimeScale(integrator), tolerance = integrator.getConstraintTolerance();
    const SolveReport report =
        solver->solveVelocities(x, box(context), velocity, timeScale, tolerance, integrator.getMaxIterations());
    // Rounding of positions turns the gradients of constraints that depend on others.
    const bool isRounding =
        report.outcome == Outcome::Inconsistent && report.maxError <= tolerance + roundingSlack(x, velocity, timeScale);
    if (report.outcome != Outcome::Converged && !isRounding)
        fail(report, Stage::Velocities, integrator);
    note(report);
}

void HostedStepKernel::solveAccelerations(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                          const Real3* v, Real3* a, ForceMultipliers& multipliers,
                                          const Stabilization& feedback) {
    targetTime = currentTime(context);
    solver->setTime(targetTime);
    const SolveReport report =
        solver->solveAccelerations(x, box(context), v, a, multipliers, integrator.getMaxIterations(), feedback);
    if (report.outcome != Outcome::Converged)
        fail(report, Stage::Velocities, integrator);
}

void HostedStepKernel::checkDrift(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const double bound = dynamic_cast<const ConstraintForceIntegrator&>(integrator).getMaxDrift();
    solver->setTime(currentTime(context));
    const SolveReport drift = solver->measurePositions(positions(context), box(context));
    note(drift);
    if (!(drift.maxError <= bound))
        throwDrift(drift, integrator);
}

void HostedStepKernel::throwDrift(const SolveReport& drift, const ConstraintIntegrator& integrator) const {
    const double bound = dynamic_cast<const ConstraintForceIntegrator&>(integrator).getMaxDrift();
    ostringstream out;
    out << "The constraints drifted beyond the bound " << bound << " in " << activity << ": "
        << describeConstraint(solver->getSet(), drift.constraint) << " has the value " << drift.value
        << ", an error of " << drift.maxError << ".";
    throwProblem(
        problemOf(solver->getSet(), "drift", {drift.constraint}, out.str(),
                  "stabilize (setStabilization(alpha, beta), both about 0.1/stepSize), reduce the step size, raise "
                  "setMaxDrift(), call applyConstraints() now and then, or use RattleIntegrator, which does not drift.",
                  drift.maxError, bound));
}

void HostedStepKernel::requireFinite(const Real3* v, const char* what) const {
    bool areFinite = true; // without a way out of the loop, several at once
    for (int i = 0; i < numParticles(); i++)
        areFinite &= std::abs(v[i].x + v[i].y + v[i].z) <= numeric_limits<double>::max();
    if (areFinite)
        return;
    for (int i = 0; i < numParticles(); i++)
        if (!isfinite(v[i].x + v[i].y + v[i].z))
            throwNotFinite(what, i);
}

void HostedStepKernel::throwNotFinite(const char* what, int particle) const {
    throwProblem({"not-finite",
                  {},
                  {particle},
                  ConstraintProblem::none,
                  ConstraintProblem::none,
                  "The " + string(what) + " of " + describeParticle(solver->getSet(), particle) +
                      " would become NaN or infinite in " + activity +
                      ". Its force, velocity or position is not finite.",
                  "look for overlapping particles, minimize the energy (openmmconstraints.minimize(context)), or "
                  "reduce the step size."});
}

void HostedStepKernel::note(const SolveReport& report) {
    summary.converged = true;
    summary.iterations = max(summary.iterations, report.iterations);
    if (report.constraint >= 0 && (report.maxError >= summary.maxError || summary.worstConstraint < 0)) {
        summary.maxError = report.maxError;
        summary.worstConstraint = listedIndex(solver->getSet(), report.constraint);
    }
}

void HostedStepKernel::noteRotation(SolveReport& report, const Real3* x, const Real3* v, const Box& box,
                                    double duration) const {
    if (report.constraint < 0 || solver->getSet().constraints[report.constraint].kind != CoordinateKind::Distance)
        return;
    const Constraint& c = solver->getSet().constraints[report.constraint];
    const int i = c.particles[0], j = c.particles[1];
    const auto velocityOf = [&](int p) { return inverseMass[p] > 0 ? v[p] : Real3(); };
    const Real3 between = x[i] - x[j], b = c.periodic ? box.minimumImage(between) : between,
                turning = cross(b, velocityOf(i) - velocityOf(j));
    report.rotation = duration * sqrt(dot(turning, turning)) / dot(b, b); // |b x v|/|b|^2: its angular velocity
}

void HostedStepKernel::fail(const SolveReport& report, Stage stage, const ConstraintIntegrator& integrator) {
    solver->forgetImpulses();
    summary.converged = false;
    summary.iterations = report.iterations;
    summary.maxError = report.maxError;
    summary.worstConstraint = listedIndex(solver->getSet(), report.constraint);
    throwSolveError(solver->getSet(), report,
                    {stage, activity, integrator.getConstraintTolerance(), velocityTimeScale(integrator), targetTime,
                     integrator.getStepSize(), solverDescription(),
                     isServedIteratively(solver->getGraph(), report.constraint), describeFallbacks(solver->getGraph()),
                     endingTargetOf(report, integrator)});
}

int HostedStepKernel::endingTargetOf(const SolveReport& report, const ConstraintIntegrator& integrator) const {
    if (!solver->moves() || report.constraint < 0 || report.outcome == Outcome::Inconsistent)
        return -1;
    for (const vector<int>& group : solver->groups())
        if (find(group.begin(), group.end(), report.constraint) != group.end())
            return findEndingTarget(solver->getSet(), group, targetTime, integrator.getStepSize());
    return -1;
}

} // namespace ConstraintPlugin
