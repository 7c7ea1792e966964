// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/MoveConstraints.h"
#include "SystemChecks.h"
#include <vector>

using namespace OpenMM;

namespace ConstraintPlugin {

/** By this name a further call knows its Force, also in a System that was read from XML (inspection/kinds.py). */
static const char* const MOVED_CONSTRAINTS = "MovedConstraints";

/** Whether a Force is of an earlier call. Where anything but distances was added to it since, more distances would
 *  change the place of that in getMultipliers(): then it counts as the user's. */
static bool isOwn(const ConstraintForce& force) {
    return force.getName() == MOVED_CONSTRAINTS && force.getNumAngles() == 0 && force.getNumDihedrals() == 0 &&
           force.getNumCentroidDistances() == 0 && force.getNumCoordinationNumbers() == 0 &&
           force.getNumRigidBodies() == 0;
}

/** The Force of an earlier call with this periodic setting, or a new one. */
static ConstraintForce& forceFor(System& system, bool periodic) {
    for (int f = 0; f < system.getNumForces(); f++) {
        auto* force = dynamic_cast<ConstraintForce*>(&system.getForce(f));
        if (force != nullptr && force->usesPeriodicBoundaryConditions() == periodic && isOwn(*force))
            return *force;
    }
    auto* force = new ConstraintForce();
    force->setName(MOVED_CONSTRAINTS);
    force->setUsesPeriodicBoundaryConditions(periodic);
    system.addForce(force);
    return *force;
}

namespace {

enum class Fate { Stays, Moves, Goes };

} // namespace

/** Decide over each of a System's constraints, in a time that grows with their number: removing the first would move
 *  all others. @param decide  (how many of its two particles are massless) -> what becomes of it */
template <class Decide>
static ConstraintForce* moveWhere(System& system, Decide decide) {
    struct Pair {
        int particle1, particle2;
        double distance;
    };
    const bool periodic = usesPeriodicBoundaries(system);
    const double longest = defaultBox(system).halfWidth();
    std::vector<Pair> staying;
    ConstraintForce* forces[2] = {}; // without and with the minimum image
    for (int i = 0; i < system.getNumConstraints(); i++) {
        Pair c;
        system.getConstraintParameters(i, c.particle1, c.particle2, c.distance);
        int numMassless = 0;
        for (int p : {c.particle1, c.particle2}) // what is out of range is refused elsewhere
            numMassless += p >= 0 && p < system.getNumParticles() && system.getParticleMass(p) == 0;
        const Fate fate = decide(numMassless);
        if (fate == Fate::Stays)
            staying.push_back(c);
        if (fate != Fate::Moves)
            continue;
        const bool minimumImage = periodic && c.distance <= longest;
        if (forces[minimumImage] == nullptr)
            forces[minimumImage] = &forceFor(system, minimumImage);
        forces[minimumImage]->addDistance(c.particle1, c.particle2, c.distance);
    }
    if ((int) staying.size() < system.getNumConstraints()) {
        for (int i = system.getNumConstraints() - 1; i >= 0; i--)
            system.removeConstraint(i);
        for (const Pair& c : staying)
            system.addConstraint(c.particle1, c.particle2, c.distance);
    }
    return forces[1] != nullptr ? forces[1] : forces[0];
}

ConstraintForce* moveConstraints(System& system) {
    return moveWhere(system, [](int numMassless) { return numMassless == 2 ? Fate::Stays : Fate::Moves; });
}

ConstraintForce* moveAnchoredConstraints(System& system) {
    const Fate byNumber[] = {Fate::Stays, Fate::Moves, Fate::Goes};
    return moveWhere(system, [&](int numMassless) { return byNumber[numMassless]; });
}

} // namespace ConstraintPlugin
