// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CoreExceptions.h"
#include "CollectConstraints.h"

using namespace OpenMM;

namespace ConstraintPlugin {

ConstraintProblem problemOf(const FactorTooLarge& error) {
    const EliminationLimits limits;
    const bool ofEntries = error.fill.entries > (double) limits.entries;
    return {"too-large",
            error.constraints,
            error.particles,
            ofEntries ? error.fill.entries : error.fill.updates,
            (double) (ofEntries ? limits.entries : limits.updates),
            error.what(),
            error.remedy};
}

ConstraintProblem outOfMemory(const char* activity, const std::string& what, bool isOfSolver) {
    return {"memory",
            {},
            {},
            ConstraintProblem::none,
            ConstraintProblem::none,
            std::string("Out of memory in ") + activity + ", for " + what + ".",
            std::string(isOfSolver ? "setSolver(Iterative), which needs no factor, or fewer coupled constraints, "
                                   : "fewer constraints or particles in one Context, ") +
                "or a machine (or a limit of this process) with more memory."};
}

std::string describeSize(const System& system) {
    long long number = system.getNumConstraints();
    for (int f = 0; f < system.getNumForces(); f++)
        forEachConstrainedGroup(system.getForce(f), [&](const std::vector<int>&) { number++; });
    return std::to_string(number) + " constraints among " + std::to_string(system.getNumParticles()) + " particles";
}

} // namespace ConstraintPlugin
