// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/MoveConstraints.h"
#include "openmmconstraints/internal/SystemChecks.h"

using namespace OpenMM;

namespace ConstraintPlugin {

/** The System's first ConstraintForce with this periodic setting, or a new one. */
static ConstraintForce& forceFor(System& system, bool periodic) {
    for (int f = 0; f < system.getNumForces(); f++) {
        auto* force = dynamic_cast<ConstraintForce*>(&system.getForce(f));
        if (force != nullptr && force->usesPeriodicBoundaryConditions() == periodic)
            return *force;
    }
    auto* force = new ConstraintForce();
    force->setUsesPeriodicBoundaryConditions(periodic);
    system.addForce(force);
    return *force;
}

ConstraintForce* moveConstraints(System& system) {
    const bool periodic = usesPeriodicBoundaries(system);
    const double longest = defaultBox(system).halfWidth();
    ConstraintForce* forces[2] = {}; // without and with the minimum image
    for (int i = 0; i < system.getNumConstraints(); i++) {
        int particle1, particle2;
        double distance;
        system.getConstraintParameters(i, particle1, particle2, distance);
        const bool minimumImage = periodic && distance <= longest;
        if (forces[minimumImage] == nullptr)
            forces[minimumImage] = &forceFor(system, minimumImage);
        forces[minimumImage]->addDistance(particle1, particle2, distance);
    }
    for (int i = system.getNumConstraints() - 1; i >= 0; i--) // removing the first would move all others each time
        system.removeConstraint(i);
    return forces[1] != nullptr ? forces[1] : forces[0];
}

} // namespace ConstraintPlugin
