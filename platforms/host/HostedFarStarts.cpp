// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Positions that are off the constraints, by little or by far, are solved for.
#include "HeldPairs.h"
#include "HostedStepKernel.h"
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

/** How far one solve may take a particle where bonds are to stay whole (nm): it goes in a straight line. */
static constexpr double farthestAtOnce = 0.01;

HostedStepKernel::Move HostedStepKernel::farthestMove(const vector<Real3>& from, const vector<Real3>& to) {
    Move farthest;
    for (size_t i = 0; i < from.size(); i++) {
        const Real3 way = to[i] - from[i];
        const double distance = sqrt(dot(way, way));
        if (distance > farthest.distance)
            farthest = {(int) i, distance};
    }
    return farthest;
}

/** Whether positions were not finite, at one place or without a gradient before a solve, rather than on its way. */
static bool couldNotStart(const SolveReport& report) {
    return report.outcome == Outcome::NoGradient || (report.outcome == Outcome::NotFinite && report.iterations == 0);
}

SolveReport HostedStepKernel::solveAtOnce(const ConstraintIntegrator& integrator, vector<Real3>& x, const Box& now) {
    vector<Real3> shift(numParticles());
    solver->forgetImpulses();
    SolveReport report = solver->solvePositions(x.data(), now, shift.data(), integrator.getConstraintTolerance(),
                                                integrator.getMaxIterations());
    if (report.outcome == Outcome::Converged)
        for (int i = 0; i < numParticles(); i++)
            x[i] += shift[i];
    return report;
}

SolveReport HostedStepKernel::solveAnyhow(const ConstraintIntegrator& integrator, vector<Real3>& x, const Box& now) {
    SolveReport direct = solveAtOnce(integrator, x, now);
    if (direct.outcome == Outcome::Converged || couldNotStart(direct))
        return direct;
    // The gradients of the start do not lead back to the constraints: renew them.
    vector<Real3> closer = x;
    SolveReport second =
        solver->approach(closer.data(), now, integrator.getConstraintTolerance(), integrator.getMaxIterations());
    if (second.outcome == Outcome::Converged) {
        x = closer;
        return second;
    }
    const RankAnalysis analysis = solver->checkRank(x.data(), now);
    if (analysis.isSingular())
        throwSingularSet(solver->getSet(), analysis);
    return direct;
}

SolveReport HostedStepKernel::solveInStages(ContextImpl& context, const ConstraintIntegrator& integrator,
                                            vector<Real3>& x, const Box& now) {
    vector<Real3> there = x;
    SolveReport report = solveAtOnce(integrator, there, now);
    const bool isNear = report.outcome == Outcome::Converged && farthestMove(x, there).distance <= farthestAtOnce;
    if (!isNear && !couldNotStart(report)) {
        StagedProjection stages(solver->getSet(), solver->getGraph().rows, collectHeldPairs(context.getSystem()),
                                x.data(), now, solver->getTime());
        if (!stages.holdsAny())
            return solveAnyhow(integrator, x, now);
        there = x;
        if (!stages.run(there.data())) {
            activity += ", which came " + to_string((int) (100 * stages.progress())) +
                        " % of the way with bonds and angles held";
            report = solver->measurePositions(there.data(), now);
            report.outcome = Outcome::NotConverged;
            return report;
        }
        report = solveAtOnce(integrator, there, now); // what is left, and what depends on others
    }
    x = there;
    return report;
}

/** How far the particles of a constraint are off, roughly (nm). Where a surface should be is not known to be anywhere.
 */
static double lengthOfError(const ConstraintSet& set, const SolveReport& report, double time) {
    constexpr double arm = 0.1; // of an angle
    const Constraint& c = set.constraints[report.constraint];
    if (set.hasLengthScale(c))
        return abs(report.value - c.targetAt(time));
    return c.kind == CoordinateKind::Angle || c.kind == CoordinateKind::Dihedral ? arm * report.maxError : 0;
}

/** "is 0.31 nm, not 0.1 nm", "is 118 degrees from its value". */
static string describeError(const ConstraintSet& set, const SolveReport& report, double time) {
    ostringstream out;
    const Constraint& c = set.constraints[report.constraint];
    if (set.hasLengthScale(c))
        out << "is " << report.value << " nm, not " << c.targetAt(time) << " nm";
    else if (c.kind == CoordinateKind::Custom)
        out << "is " << report.maxError << " nm from where it should be";
    else if (c.kind == CoordinateKind::AffinePosition)
        out << "has another shape";
    else
        out << "is " << report.maxError * 180 / M_PI << " degrees from its value";
    return out.str();
}

/** What may have put a constraint far off. */
enum class Cause { Unknown, StartTime, MissingImage };

static Cause causeOf(const ConstraintSet& set, const SolveReport& report, double time, const vector<Real3>& x,
                     const Box& now) {
    const Constraint& c = set.constraints[report.constraint];
    const auto error = [&](double value, double target) { return abs(wrapResidual(c.kind, value - target)); };
    if (c.rate != 0 && error(report.value, c.target) < error(report.value, c.targetAt(time)))
        return Cause::StartTime;
    if (c.kind == CoordinateKind::Distance && !c.periodic) {
        const Real3 image = now.minimumImage(x[c.particles[0]] - x[c.particles[1]]);
        if (error(sqrt(dot(image, image)), c.target) < 0.5 * error(report.value, c.target))
            return Cause::MissingImage;
    }
    return Cause::Unknown;
}

static string remedyOf(Cause cause, bool isConverged) {
    if (cause == Cause::MissingImage)
        return "Its particles are in different copies of the periodic box: call "
               "setUsesPeriodicBoundaryConditions(True) on the ConstraintForce, or make molecules whole.";
    return string(cause == Cause::StartTime ? "Its rate counts from its start time: let it start now, with "
                                              "startTime=context.getTime(). "
                                            : "") +
           "Call integrator.applyConstraints() to go there in stages, or openmmconstraints.minimize(context), which "
           "goes there and minimizes (OpenMM's minimizer does not know ConstraintForces)" +
           (isConverged ? "; setMaxProjection() lets a step do it in one go." : ".");
}

void HostedStepKernel::refuseFarOff(const ConstraintIntegrator& integrator, const SolveReport& before,
                                    const SolveReport& after, const vector<Real3>& x, const vector<Real3>& there,
                                    const Box& now) const {
    const double bound = integrator.getMaxProjection();
    const bool isConverged = after.outcome == Outcome::Converged;
    const Move farthest = farthestMove(x, there);
    const ConstraintSet& set = solver->getSet();
    if (isConverged && farthest.distance <= bound)
        return;
    // What no way leads to (NaN, particles at one place, contradictions) is the solver's to report.
    const bool isTooLong = after.outcome != Outcome::Inconsistent && !couldNotStart(after);
    if (!isConverged && !(isTooLong && lengthOfError(set, before, targetTime) > bound))
        return;
    ostringstream out;
    out.precision(3);
    out << describeConstraint(set, before.constraint) << " " << describeError(set, before, targetTime) << ": "
        << activity;
    if (isConverged)
        out << " would move " << describeParticle(set, farthest.particle) << " by " << farthest.distance
            << " nm, farther than setMaxProjection() allows (" << bound << " nm)";
    else
        out << " does not get there in one go";
    out << ".";
    const Cause cause = causeOf(set, before, targetTime, x, now);
    throwProblem(problemOf(set, cause == Cause::MissingImage ? "minimum-image" : "far-off", {before.constraint},
                           out.str(), remedyOf(cause, isConverged),
                           isConverged ? farthest.distance : lengthOfError(set, before, targetTime), bound));
}

} // namespace ConstraintPlugin
