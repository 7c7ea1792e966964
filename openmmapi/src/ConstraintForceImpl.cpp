// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForceImpl.h"
#include "CollectConstraints.h"
#include "SystemChecks.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "openmm/internal/ContextImpl.h"
#include "openmmconstraints/ConstraintIntegrator.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

bool isOurs(const Integrator& integrator) {
    return dynamic_cast<const ConstraintIntegrator*>(&integrator) != nullptr;
}

/** The integrator that takes the steps: of several the current one. */
Integrator& steppingIntegrator(ContextImpl& context) {
    Integrator& integrator = context.getIntegrator();
    auto* compound = dynamic_cast<CompoundIntegrator*>(&integrator);
    return compound == nullptr ? integrator : compound->getIntegrator(compound->getCurrentIntegrator());
}

} // namespace

void ConstraintForceImpl::initialize(ContextImpl& context) {
    const System& system = context.getSystem();
    bool isInRange = true;
    forEachConstrainedGroup(owner, [&](const vector<int>& group) {
        declaresAny = true;
        for (int p : group)
            isInRange = isInRange && p >= 0 && p < system.getNumParticles();
    });
    if (!declaresAny) // names of particles, or nothing
        return;
    checkIntegrator(context.getIntegrator(), throwProblem);
    // Before anyone follows our bonds. All else is checked when the integrator collects the constraints.
    if (!isInRange)
        collectConstraints(system, context.getIntegrator().getConstraintTolerance()); // throws
}

void ConstraintForceImpl::updateContextState(ContextImpl& context, bool&) {
    if (!isOurs(steppingIntegrator(context)) && declaresAny)
        throwProblem(wrongIntegrator("The integrator of this Context"));
}

double ConstraintForceImpl::calcForcesAndEnergy(ContextImpl& context, bool, bool, int) {
    if (!defaultParameters.empty())
        if (auto* ours = dynamic_cast<ConstraintIntegrator*>(&steppingIntegrator(context)))
            ours->requireProjected();
    return 0;
}

void ConstraintForceImpl::updateParametersInContext(ContextImpl& context) {
    Integrator& integrator = context.getIntegrator();
    if (auto* compound = dynamic_cast<CompoundIntegrator*>(&integrator))
        for (int i = 0; i < compound->getNumIntegrators(); i++)
            dynamic_cast<ConstraintIntegrator&>(compound->getIntegrator(i)).updateConstraints();
    else if (auto* ours = dynamic_cast<ConstraintIntegrator*>(&integrator))
        ours->updateConstraints();
    context.systemChanged();
}

vector<double> ConstraintForceImpl::getMultipliers(ContextImpl& context) const {
    const auto& integrator = dynamic_cast<const ConstraintIntegrator&>(steppingIntegrator(context));
    const System& system = context.getSystem();
    for (int f = 0; f < system.getNumForces(); f++)
        if (&system.getForce(f) == &owner)
            return integrator.getMultipliersOf(f);
    throw OpenMMException("getMultipliers: this Force is not part of the Context's System.");
}

vector<pair<int, int>> ConstraintForceImpl::getBondedParticles() const {
    vector<pair<int, int>> bonds;
    const auto chain = [&](const vector<int>& particles) {
        for (size_t s = 1; s < particles.size(); s++)
            bonds.emplace_back(particles[s - 1], particles[s]);
    };
    forEachConstrainedGroup(owner, chain, false); // groups may have thousands of molecules
    return bonds;
}

} // namespace ConstraintPlugin
