// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Why a step or a projection failed: what can be seen in the state from which it began.
#include "HostStepKernel.h"
#include "StateErrors.h"
#include "StraightAngle.h"
#include <set>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

/** The first particle with a component that is not below a bound; -1: there is none. */
static int firstBeyond(const Real3* v, double bound, const vector<double>& inverseMass, bool ofAll) {
    for (int i = 0; i < (int) inverseMass.size(); i++)
        if ((ofAll || inverseMass[i] > 0) && !(isFinite(v[i]) && max({abs(v[i].x), abs(v[i].y), abs(v[i].z)}) < bound))
            return i;
    return -1;
}

void HostStepKernel::explainFailure(ContextImpl& context, const ConstraintIntegrator& integrator) {
    optional<ConstraintProblem> problem; // else the exception is of OpenMM, whose forces may be its cause
    try {
        throw;
    } catch (const ConstraintException& error) {
        problem = error.getProblem();
    } catch (...) {
    }
    const auto require = [&](Bad what, const Real3* vectors, double bound, bool ofAll) {
        if (const int i = firstBeyond(vectors, bound, inverseMass, ofAll); i >= 0)
            throwProblem(notFinite(solver->getSet(), what, i, activity));
    };
    constexpr double infinity = numeric_limits<double>::infinity();
    require(Bad::Position, positions(context), infinity, true);
    require(Bad::Velocity, velocities(context), infinity, false);
    if (!problem.has_value() || activity.rfind("step", 0) != 0)
        return;
    const Real3* f = nullptr;
    try {
        f = forces(context, integrator);
    } catch (...) {
        return; // what failed first is reported
    }
    require(Bad::Force, f, largestForce(), false);
    const set<string> ofSolves = {"not-converged", "singular", "not-finite", "no-gradient", "too-fast"};
    if (ofSolves.count(problem->kind) == 0)
        return;
    vector<Real3> v = copyOf(velocities(context));
    for (int i = 0; i < numParticles(); i++)
        v[i] = inverseMass[i] > 0 ? v[i] + 0.5 * integrator.getStepSize() * inverseMass[i] * f[i] : Real3();
    if (const auto straight = findStraightAngle(solver->getSet(), problem->particles, positions(context), v.data(),
                                                box(context), integrator.getStepSize()))
        throwProblem(becameStraight(solver->getSet(), *straight, activity));
}

} // namespace ConstraintPlugin
