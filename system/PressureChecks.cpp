// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PressureChecks.h"
#include "ConstraintErrors.h"
#include "FixedAxes.h"
#include "SystemChecks.h"
#include "openmm/CustomExternalForce.h"

using namespace OpenMM;

namespace ConstraintPlugin {

static const char* const cannotCompute = "The pressure cannot be computed: ";

void checkPressure(const System& system, const ConstraintSet& set, int groups, const ProblemReport& report) {
    if (!usesPeriodicBoundaries(system))
        report(problemOf(set, "box", {},
                         std::string(cannotCompute) + "no Force of the System uses periodic boundary conditions, so it "
                                                      "has no volume.",
                         "Give a Force a periodic method, as setNonbondedMethod(NonbondedForce.PME) or "
                         "setUsesPeriodicBoundaryConditions(True); without a box there is getConstraintVirial()."));
    for (int i = 0; i < system.getNumParticles(); i++)
        if (system.getParticleMass(i) == 0 && !system.isVirtualSite(i)) {
            ConstraintProblem problem = problemOf(
                set, "anchor", {},
                cannotCompute + describeParticle(set, i) +
                    " has no mass and is no virtual site. It is fixed in space, and does not scale with the "
                    "box.",
                "Give it a mass before the Context is made: system.setParticleMass(" + std::to_string(i) + ", mass).");
            problem.particles = {i};
            report(problem);
        }
    for (int f = 0; f < system.getNumForces(); f++) {
        const auto* external = dynamic_cast<const CustomExternalForce*>(&system.getForce(f));
        if (external == nullptr || external->getNumParticles() == 0 || (groups >> external->getForceGroup() & 1) == 0)
            continue;
        report(problemOf(set, "combination", {},
                         cannotCompute + external->getName() + " (Force " + std::to_string(f) +
                             " of the System) depends on places in space, which do not scale with the box.",
                         "Remove it before the Context is made: system.removeForce(" + std::to_string(f) +
                             "), or hold particles relative to others, as by a CustomCentroidBondForce."));
    }
}

void checkPressureOfSurfaces(const ConstraintSet& set, const ProblemReport& report) {
    for (int k = 0; k < (int) set.constraints.size(); k++) {
        const Constraint& c = set.constraints[k];
        if (c.kind != CoordinateKind::Custom || set.isIgnored(c))
            continue;
        const Axes fixed = fixedBy(set, c, true);
        const auto axis = std::find(fixed.begin(), fixed.end(), true);
        if (axis == fixed.end())
            continue;
        report(
            problemOf(set, "combination", {k},
                      cannotCompute + describeConstraint(set, k) + " fixes places in space along " +
                          "xyz"[axis - fixed.begin()] + ", which do not scale with the box.",
                      "Use an expression in differences of coordinates only, or ask for getConstraintVirial(), which "
                      "depends on the origin then."));
    }
}

} // namespace ConstraintPlugin
