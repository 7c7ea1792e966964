// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Positions that are off the constraints, by little or by far, are solved for.
#include "openmm/OpenMMException.h"
#include "openmmconstraints/internal/HeldPairs.h"
#include "openmmconstraints/internal/HostedStepKernel.h"
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
    solver->forgetMultipliers();
    const SolveReport report = solver->solvePositions(x.data(), now, shift.data(), integrator.getConstraintTolerance(),
                                                      integrator.getMaxIterations());
    if (report.outcome == Outcome::Converged)
        for (int i = 0; i < numParticles(); i++)
            x[i] += shift[i];
    return report;
}

SolveReport HostedStepKernel::solveAnyhow(const ConstraintIntegrator& integrator, vector<Real3>& x, const Box& now) {
    const SolveReport direct = solveAtOnce(integrator, x, now);
    if (direct.outcome == Outcome::Converged || couldNotStart(direct))
        return direct;
    // The gradients of the start do not lead back to the constraints: renew them.
    vector<Real3> closer = x;
    const SolveReport second =
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

void HostedStepKernel::refuseFarOff(const SolveReport& report, double time) const {
    const Constraint& c = solver->getSet().constraints[report.constraint];
    const double ratio = report.value / c.targetAt(time);
    // NaN, infinity and particles at one place are the solver's to report.
    if (!solver->getSet().hasLengthScale(c) || ratio == 0 || isinf(ratio) || !(ratio < 0.2 || ratio > 2.5))
        return;
    ostringstream out;
    out << describeConstraint(solver->getSet(), report.constraint) << ": value " << report.value << " nm, target "
        << c.targetAt(time) << " nm. Positions that far off are not projected unasked, in " << activity
        << ".\nRemedy: wrapped positions need setUsesPeriodicBoundaryConditions(True) on the ConstraintForce; OpenMM's "
           "minimizer does not know ConstraintForces: call openmmconstraints.minimize(context), which does, and goes "
           "on "
           "from here; or integrator.applyConstraints() to project all the same.";
    throw OpenMMException(out.str());
}

} // namespace ConstraintPlugin
