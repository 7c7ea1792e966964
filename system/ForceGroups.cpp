// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Force groups of integrators with multiple time steps.
#include "SystemChecks.h"
#include "openmm/AndersenThermostat.h"
#include "openmm/CMMotionRemover.h"
#include "openmm/MonteCarloAnisotropicBarostat.h"
#include "openmm/MonteCarloBarostat.h"
#include "openmm/MonteCarloFlexibleBarostat.h"
#include "openmm/MonteCarloMembraneBarostat.h"
#include "openmm/NonbondedForce.h"
#include "openmmconstraints/ConstraintForce.h"
#include "openmmconstraints/ConstraintIntegrator.h"
#include "openmmconstraints/ExpressionConstraintForce.h"
#include "openmmconstraints/MultipleTimeSteps.h"

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

template <class... Forces>
bool isAnyOf(const Force& force) {
    return ((dynamic_cast<const Forces*>(&force) != nullptr) || ...);
}

/** Whether a Force changes velocities or the box only, between steps, or is solved. */
bool exertsNoForce(const Force& force) {
    return isAnyOf<CMMotionRemover, AndersenThermostat, MonteCarloBarostat, MonteCarloAnisotropicBarostat,
                   MonteCarloFlexibleBarostat, MonteCarloMembraneBarostat, ConstraintForce, ExpressionConstraintForce>(
        force);
}

bool hasReciprocalSpace(const NonbondedForce& force) {
    const auto method = force.getNonbondedMethod();
    return method == NonbondedForce::Ewald || method == NonbondedForce::PME || method == NonbondedForce::LJPME;
}

} // namespace

void checkForceGroups(const System& system, const ConstraintIntegrator& integrator, const ProblemReport& report) {
    const MultipleTimeSteps* steps = integrator.getMultipleTimeSteps();
    if (steps == nullptr)
        return;
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        if (exertsNoForce(force))
            continue;
        const auto require = [&](int group, const std::string& what, const std::string& setter) {
            const bool isIntegrated = (integrator.getIntegrationForceGroups() >> group & 1) != 0;
            if (steps->has(group) || !isIntegrated)
                return;
            const std::string number = std::to_string(group);
            report({"combination",
                    {},
                    {},
                    (double) group,
                    ConstraintProblem::none,
                    what + force.getName() + " (Force " + std::to_string(f) + " of the System) is in force group " +
                        number + ", which the integrator does not list: its forces would be left out.",
                    "List the group, as in groups=[(" + number +
                        ", 1), ...], or move the Force to a listed one: " + setter + "(group)."});
        };
        const auto* nonbonded = dynamic_cast<const NonbondedForce*>(&force);
        const int reciprocal =
            nonbonded != nullptr && hasReciprocalSpace(*nonbonded) ? nonbonded->getReciprocalSpaceForceGroup() : -1;
        if (reciprocal < 0 || nonbonded->getIncludeDirectSpace())
            require(force.getForceGroup(), "", "setForceGroup");
        if (reciprocal >= 0)
            require(reciprocal, "The reciprocal space of ", "setReciprocalSpaceForceGroup");
    }
}

} // namespace ConstraintPlugin
