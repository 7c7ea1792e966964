// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// States that someone else left are returned to the constraints, and velocities for what is computed from them.
#include "HostedStepKernel.h"
#include "MovingTargets.h"
#include "openmmconstraints/ConstraintForceIntegrator.h"
#include <cmath>
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

static_assert(sizeof(Real3) == sizeof(Vec3), "arrays of Vec3 are handed to core as arrays of Real3");

static Real3* asReal3(vector<Vec3>& v) {
    return reinterpret_cast<Real3*>(v.data());
}

bool HostedStepKernel::isStateOfCheckpoint(ContextImpl& context) {
    if (loadedFingerprint == 0)
        return false;
    const Real3* x = positions(context);
    const Box now = box(context);
    const bool same = loadedFingerprint == fingerprintOf(x, velocities(context), now, currentTime(context)) &&
                      reading.globals == parameters(context);
    if (same) {
        checkRank(x, now);
        metParameters = reading.globals;
    }
    loadedFingerprint = 0;
    return same;
}

void HostedStepKernel::projectState(ContextImpl& context, const ConstraintIntegrator& integrator, bool positionsKnown,
                                    bool velocitiesKnown, bool isOfAStep) {
    positionsKnown &= rankChecked;
    if (!positionsKnown)
        projectContextPositions(context, integrator, isOfAStep ? Reach::Unbounded : Reach::Bounded);
    if (scheme.constrainsVelocities && !(positionsKnown && velocitiesKnown))
        projectContextVelocities(context, integrator);
}

double HostedStepKernel::projectionThreshold(const ConstraintIntegrator& integrator) const {
    const double tolerance = max(integrator.getConstraintTolerance(), smallestTolerance());
    return scheme.isExplicit ? max(dynamic_cast<const ConstraintForceIntegrator&>(integrator).getMaxDrift(), tolerance)
                             : tolerance;
}

static double largestComponent(const Real3& r) {
    return max({abs(r.x), abs(r.y), abs(r.z)});
}

double HostedStepKernel::roundingSlack(const Real3* positions) const {
    double largest = 0;
    for (const Constraint& c : solver->getSet().constraints)
        for (int particle : c.particles) {
            const double size = largestComponent(positions[particle]);
            largest = isinf(size) ? largest : max(largest, size); // else any error would pass as rounding
        }
    return 8 * positionEpsilon() * largest / shortestScale();
}

double HostedStepKernel::roundingSlack(const Real3* positions, const Real3* velocities, double timeScale) const {
    double fastest = 0;
    for (int i = 0; i < numParticles(); i++)
        fastest = max(fastest, largestComponent(velocities[i]));
    return roundingSlack(positions) * fastest * timeScale / shortestScale();
}

double HostedStepKernel::shortestScale() const {
    double shortest = numeric_limits<double>::max();
    for (const Constraint& c : solver->getSet().constraints)
        shortest = min(shortest, solver->getSet().scale(c));
    return shortest;
}

bool HostedStepKernel::projectPositions(ContextImpl& context, const ConstraintIntegrator& integrator, Real3* x,
                                        Reach reach) {
    requireResolved(x);
    const Box now = box(context);
    const double tolerance = integrator.getConstraintTolerance();
    const double time = targetTime = currentTime(context);
    solver->setTime(time);
    checkMovingTargets(now, time);
    if (!rankChecked)
        solver->chooseIndependent(x, now);
    const SolveReport before = solver->measurePositions(x, now);
    const double threshold = reach == Reach::Staged ? tolerance : projectionThreshold(integrator);
    const bool violated = !(before.maxError <= threshold + roundingSlack(x));
    if (violated) {
        const auto kept = solver->getImpulses(); // those of a step, no start for a projection
        vector<Real3> there = copyOf(x);
        const SolveReport report = reach == Reach::Staged ? solveInStages(context, integrator, there, now)
                                                          : solveAnyhow(integrator, there, now);
        solver->setImpulses(kept);
        if (reach == Reach::Bounded)
            refuseFarOff(integrator, before, report, copyOf(x), there, now);
        if (report.outcome != Outcome::Converged)
            fail(report, Stage::Positions, integrator);
        copy(there.begin(), there.end(), x);
        note(report);
    }
    checkRank(x, now);
    return violated;
}

void HostedStepKernel::checkRank(const Real3* x, const Box& now) {
    if (rankChecked)
        return;
    const RankAnalysis analysis = solver->checkRank(x, now);
    if (analysis.isSingular())
        throwSingularSet(solver->getSet(), analysis);
    rankChecked = true;
}

void HostedStepKernel::requireResolved(const Real3* x) const {
    const ConstraintSet& set = solver->getSet();
    for (size_t k = 0; k < set.constraints.size(); k++)
        for (int p : set.constraints[k].particles) {
            const double rounding = positionEpsilon() * largestComponent(x[p]);
            if (!(rounding > set.scale(set.constraints[k])) || isinf(rounding)) // NaN and infinity are the solver's
                continue;
            ostringstream out;
            out << describeParticle(set, p) << " is at (" << x[p].x << ", " << x[p].y << ", " << x[p].z << ") nm in "
                << activity << ": so far out, positions of this precision are rounded by " << rounding
                << " nm, too much for " << describeConstraint(set, (int) k) << ".";
            throwProblem(problemOf(set, "rounding", {(int) k}, out.str(),
                                   "correct its position, or move all particles closer to the origin.", rounding,
                                   set.scale(set.constraints[k])));
        }
}

void HostedStepKernel::checkPeriodicLengths(const Box& now, double time) const {
    const ConstraintSet& set = solver->getSet();
    for (size_t k = 0; k < set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (set.hasLengthScale(c) && c.periodic && c.force >= 0 && c.targetAt(time) > now.halfWidth())
            throwProblem(problemOf(set, "box", {(int) k},
                                   describeConstraint(set, (int) k) + ": its distance " + to_string(c.targetAt(time)) +
                                       " nm exceeds half the shortest width of the periodic box, " +
                                       to_string(now.halfWidth()) + " nm.",
                                   "Use a larger box.", c.targetAt(time), now.halfWidth()));
    }
}

void HostedStepKernel::checkMovingTargets(const Box& now, double time) const {
    requireTargetsInRange(solver->getSet(), time);
    checkPeriodicLengths(now, time);
}

double HostedStepKernel::applyConstraints(ContextImpl& context, const ConstraintIntegrator& integrator) {
    beginRequest(context, integrator, "the projection of the positions");
    const double farthest = projectContextPositions(context, integrator, Reach::Staged);
    context.computeVirtualSites(); // also where no constraint was violated
    return farthest;
}

double HostedStepKernel::projectContextPositions(ContextImpl& context, const ConstraintIntegrator& integrator,
                                                 Reach reach) {
    const vector<Real3> before = copyOf(positions(context));
    vector<Real3> x = before;
    if (projectPositions(context, integrator, x.data(), reach)) {
        setPositions(context, x.data());
        context.computeVirtualSites();
    }
    metParameters = solver->getGlobals();
    return farthestMove(before, x).distance;
}

void HostedStepKernel::applyVelocityConstraints(ContextImpl& context, const ConstraintIntegrator& integrator) {
    beginRequest(context, integrator, "the projection of the velocities");
    projectContextVelocities(context, integrator);
}

void HostedStepKernel::projectContextVelocities(ContextImpl& context, const ConstraintIntegrator& integrator) {
    vector<Real3> v = copyOf(velocities(context));
    if (projectTangent(context, integrator, positions(context), v.data()))
        setVelocities(context, v.data());
}

void HostedStepKernel::projectVelocities(ContextImpl& context, const ConstraintIntegrator& integrator,
                                         vector<Vec3>& v) {
    beginRequest(context, integrator, "the projection of the velocities");
    // The Context's positions may still be off the constraints: take the tangent where the next step will put them.
    vector<Real3> x = copyOf(positions(context));
    projectPositions(context, integrator, x.data(), Reach::Unbounded);
    projectTangent(context, integrator, x.data(), asReal3(v));
}

bool HostedStepKernel::projectTangent(ContextImpl& context, const ConstraintIntegrator& integrator, const Real3* x,
                                      Real3* v) {
    requireResolved(x);
    solver->setTime(currentTime(context));
    const SolveReport before = solver->measureVelocities(x, box(context), v, velocityTimeScale(integrator));
    // A state that a step left is not changed, though it be off by what steps on this platform leave.
    if (before.maxError <= max(integrator.getConstraintTolerance(), smallestTolerance()))
        return false;
    const auto kept = solver->getImpulses();
    solver->forgetImpulses();
    solveVelocities(context, integrator, x, v);
    solver->setImpulses(kept);
    return true;
}

double HostedStepKernel::computeKineticEnergy(ContextImpl& context, const ConstraintIntegrator& integrator) {
    requireProjected(context, integrator);
    if (scheme.kineticEnergy == StepScheme::KineticEnergy::Plain)
        return kineticEnergy(velocities(context));

    const double shift =
        scheme.kineticEnergy == StepScheme::KineticEnergy::ShiftedProjected ? velocityTimeOffset(integrator) : 0;
    vector<Vec3> v(numParticles());
    copy_n(velocities(context), numParticles(), asReal3(v));
    if (shift != 0) {
        const Real3* f = forces(context, integrator);
        for (int i = 0; i < numParticles(); i++)
            asReal3(v)[i] += (shift * inverseMass[i]) * f[i];
    }
    refreshReading();
    const SolverSummary ofLastStep = summary;
    projectVelocities(context, integrator, v);
    summary = ofLastStep;
    return kineticEnergy(asReal3(v));
}

double HostedStepKernel::kineticEnergy(const Real3* v) const {
    double energy = 0;
    for (int i = 0; i < numParticles(); i++)
        if (inverseMass[i] > 0)
            energy += 0.5 * dot(v[i], v[i]) / inverseMass[i];
    return energy;
}

} // namespace ConstraintPlugin
