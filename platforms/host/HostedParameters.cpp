// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Context parameters that constraints depend on: whether the positions meet them.
#include "HostedStepKernel.h"
#include "WithGlobals.h"
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

vector<double> HostedStepKernel::parameters(ContextImpl& context) const {
    vector<double> values;
    for (const auto& custom : solver->getSet().custom)
        for (const string& name : custom->getGlobalNames())
            values.push_back(context.getParameter(name));
    return values;
}

void HostedStepKernel::requireProjected(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const vector<double> now = parameters(context);
    if (now == metParameters)
        return;
    const WithGlobals present(*solver, now);
    const ConstraintSet& set = solver->getSet();
    vector<int> dependent;
    for (size_t k = 0; k < set.constraints.size(); k++)
        if (set.dependsOnGlobals(set.constraints[k]))
            dependent.push_back((int) k);
    const Real3* x = positions(context);
    const SolveReport report = solver->measurePositions(dependent, x, box(context), currentTime(context));
    const double bound = projectionThreshold(integrator) + roundingSlack(x);
    if (!(report.maxError <= bound))
        throwOffParameters(report, now, bound);
    metParameters = now;
}

void HostedStepKernel::throwOffParameters(const SolveReport& report, const vector<double>& now, double bound) const {
    ostringstream out;
    const vector<string> names = solver->getGlobalNames();
    out << "The positions do not meet a Context parameter that has changed: ";
    for (size_t i = 0; i < names.size(); i++)
        if (i >= metParameters.size() || now[i] != metParameters[i]) {
            out << "\"" << names[i] << "\" is " << now[i];
            if (i < metParameters.size())
                out << ", they were projected with " << metParameters[i];
            break;
        }
    out << ". " << describeConstraint(solver->getSet(), report.constraint) << " is off by " << report.maxError
        << " nm, so energies and forces here are not those of the constrained system.";
    throwProblem(problemOf(
        solver->getSet(), "off-parameter", {report.constraint}, out.str(),
        "call integrator.applyConstraints() after context.setParameter(). Exchanges of states between values of such "
        "a parameter cannot do that: let them exchange temperatures, or other Forces' parameters.",
        report.maxError, bound));
}

} // namespace ConstraintPlugin
