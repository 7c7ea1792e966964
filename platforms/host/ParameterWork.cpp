// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The work of constraints that a change of Context parameters moves: energies before and after the projection.
#include "ParameterWork.h"
#include "HostStepKernel.h"
#include "WithGlobals.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

/** The only declared constraint whose target depends on a parameter that differs; -1 if there are several.
 *  @param before, after  as ConstraintSolver::getGlobals() */
int onlyMoved(const ConstraintSet& set, const vector<double>& before, const vector<double>& after) {
    vector<char> hasChanged; // by custom coordinate
    size_t first = 0;
    const auto changes = [&](size_t count) {
        const bool any = !equal(before.begin() + first, before.begin() + first + count, after.begin() + first);
        first += count;
        return any;
    };
    for (const auto& custom : set.custom)
        hasChanged.push_back(changes(custom->getGlobalNames().size()));
    vector<char> isNew; // by parameter of targets
    for (size_t i = 0; i < set.globals.size(); i++)
        isNew.push_back(changes(1));
    int only = -1;
    for (int k = 0; k < set.numListed; k++) {
        const Constraint& c = set.constraints[k];
        const bool moves = (c.kind == CoordinateKind::Custom && hasChanged[c.form]) ||
                           (c.parameter >= 0 && isNew[c.parameter] && c.target0 != c.target1);
        if (moves && only >= 0)
            return -1;
        if (moves)
            only = k;
    }
    return only;
}

} // namespace

double HostStepKernel::potentialEnergy(ContextImpl& context, const ConstraintIntegrator& integrator) {
    const OwnForces own(*this);
    return context.calcForcesAndEnergy(false, true, integrator.getIntegrationForceGroups());
}

double HostStepKernel::kineticEnergyWith(ContextImpl& context, const ConstraintIntegrator& integrator,
                                         const vector<double>& globals) {
    const WithGlobals there(*solver, globals);
    const SolverSummary summary = record->summary;
    vector<Real3> v = copyOf(velocities(context));
    addShift(context, integrator, v.data());
    projectTangent(context, integrator, positions(context), v.data());
    record->summary = summary;
    return kineticEnergy(v.data());
}

double HostStepKernel::energyOfPositions(ContextImpl& context, const ConstraintIntegrator& integrator, bool theyMove,
                                         const vector<double>& globals) {
    double energy = theyMove ? potentialEnergy(context, integrator) : 0;
    if (scheme.kineticEnergy != StepScheme::KineticEnergy::Plain && met->ofVelocities.has_value())
        energy += kineticEnergyWith(context, integrator, globals);
    return energy;
}

void HostStepKernel::countVelocities(double energy, const Real3* v) {
    const vector<double> now = solver->getGlobals();
    if (scheme.kineticEnergy == StepScheme::KineticEnergy::Plain && differs(met->ofVelocities, now))
        countWork(*met->ofVelocities, kineticEnergy(v) - energy);
    if (met->ofVelocities.has_value() || met->ofPositions == now) // otherwise the positions will move yet
        met->ofVelocities = now;
}

void HostStepKernel::countWork(const vector<double>& before, double work) {
    const int constraint = onlyMoved(solver->getSet(), before, solver->getGlobals());
    (constraint < 0 ? parameterWork.ofSeveral : parameterWork.each[constraint]) += work;
}

void HostStepKernel::restore(const ParameterRecord& before) {
    parameterWork = before.work;
    *met = before.met;
    metParameters = before.metParameters;
    velocitiesWereSet = before.velocitiesWereSet;
}

} // namespace ConstraintPlugin
