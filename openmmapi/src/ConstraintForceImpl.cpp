// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForceImpl.h"
#include "CollectConstraints.h"
#include "CoreExceptions.h"
#include "ForceChecks.h"
#include "SystemChecks.h"
#include "ThermostatDegrees.h"
#include "Warn.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/OpenMMException.h"
#include "openmm/System.h"
#include "openmm/internal/ContextImpl.h"
#include "openmmconstraints/ConstraintForce.h"
#include "openmmconstraints/ConstraintKernels.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

void ConstraintForceImpl::initialize(ContextImpl& context) {
    const System& system = context.getSystem();
    bool isInRange = true;
    forEachConstrainedGroup(owner, [&](const vector<int>& group) {
        declaresAny = true;
        for (int p : group)
            isInRange = isInRange && p >= 0 && p < system.getNumParticles();
    });
    const bool replaces = findReplacingForce(system) == &owner;
    if (!declaresAny && !replaces) // names of particles, or nothing
        return;
    checkIntegrator(system, context.getIntegrator(), throwProblem);
    // Before anyone follows our bonds. All else is checked when the integrator collects the constraints.
    if (!isInRange)
        collectConstraints(system, context.getIntegrator().getConstraintTolerance()); // throws
    if (replaces && !areAllOurs(context.getIntegrator()))
        replaceSolver(context);
}

ConstraintSet ConstraintForceImpl::collect(ContextImpl& context, const ParameterValues* parameters) const {
    ConstraintSet set =
        collectConstraints(context.getSystem(), toleranceOf(context.getIntegrator()), throwProblem, parameters);
    checkReplaced(context.getSystem(), set, throwProblem);
    return set;
}

void ConstraintForceImpl::replaceSolver(ContextImpl& context) {
    const System& system = context.getSystem();
    const Platform& platform = context.getPlatform();
    if (!platform.supportsKernels({SolveConstraintsKernel::Name()}))
        throw OpenMMException(
            "setReplacesSolver(True): on the " + platform.getName() +
            " platform openmm-constraints has no solver that could replace OpenMM's. It has on Reference, CPU, OpenCL "
            "and CUDA: Platform.getPlatform(\"CPU\").");
    withOpenMMExceptions(system, "creating the Context", [&] {
        const ConstraintSet set = collect(context, nullptr);
        checkForces(system, set, false, throwProblem);
        kernel = platform.createKernel(SolveConstraintsKernel::Name(), context);
        replacing = &kernel.getAs<SolveConstraintsKernel>();
        replacing->initialize(context, set);
        warnOf(system, set);
    });
}

void ConstraintForceImpl::updateContextState(ContextImpl& context, bool& forcesInvalid) {
    const bool isOurs = dynamic_cast<ConstraintIntegrator*>(&currentIntegrator(context.getIntegrator())) != nullptr;
    if (!isOurs && declaresAny && replacingImpl(context) == nullptr) // whatever the System says since
        throwProblem(wrongIntegrator("The integrator of this Context"));
    if (isOurs || replacing == nullptr)
        return;
    if (replacing->projectStart(context))
        forcesInvalid = true;
    if (!areDegreesCounted)
        countDegreesOfFreedom(context.getSystem(), context.getIntegrator(), replacing->findRanks(context));
    areDegreesCounted = true;
}

namespace {

/** Whether reading an energy computes forces. */
bool computesForcesForEnergy(const Integrator& integrator) {
    struct Open : Integrator {
        static bool requiresForce(const Integrator& one) {
            return (one.*(&Open::kineticEnergyRequiresForce))();
        }
    };
    return Open::requiresForce(integrator);
}

} // namespace

double ConstraintForceImpl::calcForcesAndEnergy(ContextImpl& context, bool includeForces, bool includeEnergy, int) {
    Integrator& integrator = currentIntegrator(context.getIntegrator());
    auto* ours = dynamic_cast<ConstraintIntegrator*>(&integrator);
    if (ours != nullptr && !defaultParameters.empty())
        ours->requireProjected();
    if (ours == nullptr && includeEnergy && replacing != nullptr)
        withOpenMMExceptions(context.getSystem(), "computing the energy", [&] { replacing->requireSolved(context); });
    if (!includeForces || !isFirst(context) || (includeEnergy && computesForcesForEnergy(integrator)))
        return 0;
    if (ours != nullptr)
        ours->requireNearConstraints();
    else if (const ConstraintForceImpl* impl = replacingImpl(context))
        withOpenMMExceptions(context.getSystem(), "computing forces",
                             [&] { impl->replacing->requireNearConstraints(context); });
    return 0;
}

bool ConstraintForceImpl::isFirst(ContextImpl& context) const {
    for (ForceImpl* force : context.getForceImpls())
        if (const auto* impl = dynamic_cast<ConstraintForceImpl*>(force); impl != nullptr && impl->declaresAny)
            return impl == this;
    return false;
}

void ConstraintForceImpl::updateParametersInContext(ContextImpl& context) {
    Integrator& integrator = context.getIntegrator();
    const auto update = [](Integrator& one) {
        if (auto* ours = dynamic_cast<ConstraintIntegrator*>(&one))
            ours->updateConstraints();
    };
    ConstraintForceImpl* const impl = replacingImpl(context);
    ConstraintSet set;
    if (impl != nullptr) // what is wrong is found before anybody takes new targets
        withOpenMMExceptions(context.getSystem(), "updateParametersInContext()",
                             [&] { set = impl->collect(context, &context.getParameters()); });
    if (auto* compound = dynamic_cast<CompoundIntegrator*>(&integrator))
        for (int i = 0; i < compound->getNumIntegrators(); i++)
            update(compound->getIntegrator(i));
    else
        update(integrator);
    if (impl != nullptr && !impl->replacing->setTargets(set))
        throw OpenMMException(otherThingsThanTargets);
    context.systemChanged();
}

ConstraintForceImpl* ConstraintForceImpl::replacingImpl(ContextImpl& context) {
    for (ForceImpl* force : context.getForceImpls())
        if (auto* impl = dynamic_cast<ConstraintForceImpl*>(force); impl != nullptr && impl->replacing != nullptr)
            return impl;
    return nullptr;
}

SolverSummary ConstraintForceImpl::getSolverSummary(ContextImpl& context) {
    if (const auto* ours = dynamic_cast<const ConstraintIntegrator*>(&currentIntegrator(context.getIntegrator())))
        return ours->getSolverSummary();
    if (const ConstraintForceImpl* impl = replacingImpl(context))
        return impl->replacing->getSummary();
    throw OpenMMException("getSolverSummary: no solver of openmm-constraints is in this Context. Use one of its "
                          "integrators, or setReplacesSolver(True).");
}

vector<double> ConstraintForceImpl::getMultipliers(ContextImpl& context) const {
    const auto* integrator = dynamic_cast<const ConstraintIntegrator*>(&currentIntegrator(context.getIntegrator()));
    if (integrator == nullptr)
        throw OpenMMException(
            "getMultipliers: only integrators of openmm-constraints know multipliers, as RattleLangevinIntegrator: "
            "others do not say how long a step is, by whose square the solver's impulses are divided.");
    const System& system = context.getSystem();
    for (int f = 0; f < system.getNumForces(); f++)
        if (&system.getForce(f) == &owner)
            return integrator->getMultipliersOf(f);
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
