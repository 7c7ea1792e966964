// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SystemChecks.h"
#include "CollectConstraints.h"
#include "OpenMMVectors.h"
#include "openmm/CompoundIntegrator.h"
#include "openmm/OpenMMException.h"
#include "openmm/VerletIntegrator.h"
#include "openmmconstraints/ConstraintForce.h"
#include "openmmconstraints/ExpressionConstraintForce.h"
#include "openmmconstraints/Integrators.h"
#include <algorithm>
#include <typeinfo>

using namespace OpenMM;

namespace ConstraintPlugin {

#define NAME(integrator) ", " #integrator
static const std::string useInstead = "Use an integrator of openmm-constraints (" +
                                      std::string(CONSTRAINT_INTEGRATORS(NAME)).substr(2) +
                                      "), call openmmconstraints.replaceSolver(system), with which any integrator "
                                      "solves them, or remove these Forces.";
#undef NAME

ConstraintProblem wrongIntegrator(const std::string& which) {
    return {"integrator",
            {},
            {},
            ConstraintProblem::none,
            ConstraintProblem::none,
            which + " does not solve the constraints of a ConstraintForce or CustomConstraintForce.",
            useInstead};
}

static bool isOurs(const Integrator& integrator) {
    return dynamic_cast<const ConstraintIntegrator*>(&integrator) != nullptr;
}

/** The integrator, or its children. */
static std::vector<const Integrator*> childrenOf(const Integrator& integrator) {
    const auto* compound = dynamic_cast<const CompoundIntegrator*>(&integrator);
    std::vector<const Integrator*> all;
    for (int i = 0; compound != nullptr && i < compound->getNumIntegrators(); i++)
        all.push_back(&compound->getIntegrator(i));
    return compound == nullptr ? std::vector<const Integrator*>{&integrator} : all;
}

Integrator& currentIntegrator(Integrator& integrator) {
    auto* compound = dynamic_cast<CompoundIntegrator*>(&integrator);
    return compound == nullptr ? integrator : compound->getIntegrator(compound->getCurrentIntegrator());
}

double toleranceOf(const Integrator& integrator) {
    return std::max(integrator.getConstraintTolerance(), 1e-14);
}

bool areAllOurs(const Integrator& integrator) {
    const std::vector<const Integrator*> all = childrenOf(integrator);
    return std::all_of(all.begin(), all.end(), [](const Integrator* one) { return isOurs(*one); });
}

const ConstraintForce* findReplacingForce(const System& system) {
    for (int f = 0; f < system.getNumForces(); f++)
        if (const auto* force = dynamic_cast<const ConstraintForce*>(&system.getForce(f));
            force != nullptr && force->getReplacesSolver())
            return force;
    return nullptr;
}

/** Recognized by its name, because OpenMM's RPMD plugin may not be installed. */
static bool isRingPolymer(const Integrator& integrator) {
    return std::string(typeid(integrator).name()).find("RPMDIntegrator") != std::string::npos;
}

void checkIntegrator(const System& system, const Integrator& integrator, const ProblemReport& report) {
    const std::vector<const Integrator*> all = childrenOf(integrator);
    const bool isCompound = all.size() != 1 || all[0] != &integrator,
               isReplaced = findReplacingForce(system) != nullptr;
    for (size_t i = 0; i < all.size(); i++) {
        const std::string which = isCompound ? "Integrator " + std::to_string(i) + " of the CompoundIntegrator"
                                             : "The integrator of this Context";
        if (isRingPolymer(*all[i]) && isReplaced)
            report({"integrator",
                    {},
                    {},
                    ConstraintProblem::none,
                    ConstraintProblem::none,
                    which + " is an RPMDIntegrator, which solves no constraints of its copies of the System.",
                    "Use another integrator, or remove the constraints."});
        // OpenMM's minimizer on a GPU makes a Context with a VerletIntegrator and never calls step(). So a
        // VerletIntegrator is accepted here, and its first step throws: see ConstraintForceImpl::updateContextState().
        const bool isVerlet = !isCompound && typeid(*all[i]) == typeid(VerletIntegrator);
        if (!isOurs(*all[i]) && !isReplaced && !isVerlet)
            report(wrongIntegrator(which));
    }
}

/** Some Forces throw if they are asked whether they are periodic; they count as not periodic. */
static bool isPeriodic(const Force& force) {
    try {
        return force.usesPeriodicBoundaryConditions();
    } catch (const OpenMMException&) {
        return false;
    }
}

void requirePositions(const System& system, const std::vector<Vec3>& positions) {
    if ((int) positions.size() != system.getNumParticles())
        throw OpenMMException("There are " + std::to_string(positions.size()) + " positions for a System of " +
                              std::to_string(system.getNumParticles()) + " particles.");
}

bool usesPeriodicBoundaries(const System& system) {
    for (int f = 0; f < system.getNumForces(); f++)
        if (isPeriodic(system.getForce(f)))
            return true;
    return false;
}

Box defaultBox(const System& system) {
    Vec3 v[3];
    system.getDefaultPeriodicBoxVectors(v[0], v[1], v[2]);
    return toBox(v[0], v[1], v[2]);
}

std::optional<ConstraintProblem> whyNotConstrainable(const System& system, int particle) {
    const std::string index = std::to_string(particle);
    const int n = system.getNumParticles();
    ConstraintProblem problem;
    problem.particles = {particle};
    if (particle < 0 || particle >= n) {
        problem.message = "particle index " + index + " is out of range: the System has " + std::to_string(n) +
                          " particles, 0 to " + std::to_string(n - 1) + ".";
        problem.bound = n - 1;
    } else if (system.isVirtualSite(particle)) {
        problem.message =
            "particle " + index + " is a virtual site, which follows other particles and cannot be constrained.";
        problem.remedy = "Constrain the particles that define it.";
    } else
        return {};
    problem.kind = "particles";
    problem.value = particle;
    return problem;
}

template <class ForceWithParameters>
static void addParameterNames(const Force& force, std::vector<std::string>& names) {
    const auto* ours = dynamic_cast<const ForceWithParameters*>(&force);
    for (int i = 0; ours != nullptr && i < ours->getNumGlobalParameters(); i++)
        names.push_back(ours->getGlobalParameterName(i));
}

std::vector<std::string> declaredParameters(const System& system) {
    std::vector<std::string> names;
    for (int f = 0; f < system.getNumForces(); f++) {
        addParameterNames<ConstraintForce>(system.getForce(f), names);
        addParameterNames<ExpressionConstraintForce>(system.getForce(f), names);
    }
    return names;
}

const char* const useLargerBox =
    "Use a larger box (System.setDefaultPeriodicBoxVectors) or setUsesPeriodicBoundaryConditions(False).";

} // namespace ConstraintPlugin
