// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/internal/HeldPairs.h"
#include "openmm/CustomAngleForce.h"
#include "openmm/CustomBondForce.h"
#include "openmm/HarmonicAngleForce.h"
#include "openmm/HarmonicBondForce.h"

using namespace OpenMM;

namespace ConstraintPlugin {

std::vector<HeldPair> collectHeldPairs(const System& system) {
    std::vector<HeldPair> pairs;
    const auto add = [&](int p, int q, bool isBond, const Force& force) {
        const bool moves = system.getParticleMass(p) > 0 || system.getParticleMass(q) > 0;
        if (moves && !system.isVirtualSite(p) && !system.isVirtualSite(q))
            pairs.push_back({p, q, isBond, force.usesPeriodicBoundaryConditions()});
    };
    int p, q, r;
    double value, k;
    std::vector<double> parameters;
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        if (const auto* bonds = dynamic_cast<const HarmonicBondForce*>(&force))
            for (int i = 0; i < bonds->getNumBonds(); i++) {
                bonds->getBondParameters(i, p, q, value, k);
                if (k != 0)
                    add(p, q, true, force);
            }
        if (const auto* bonds = dynamic_cast<const CustomBondForce*>(&force))
            for (int i = 0; i < bonds->getNumBonds(); i++) {
                bonds->getBondParameters(i, p, q, parameters);
                add(p, q, true, force);
            }
        if (const auto* angles = dynamic_cast<const HarmonicAngleForce*>(&force))
            for (int i = 0; i < angles->getNumAngles(); i++) {
                angles->getAngleParameters(i, p, q, r, value, k);
                if (k != 0)
                    add(p, r, false, force);
            }
        if (const auto* angles = dynamic_cast<const CustomAngleForce*>(&force))
            for (int i = 0; i < angles->getNumAngles(); i++) {
                angles->getAngleParameters(i, p, q, r, parameters);
                add(p, r, false, force);
            }
    }
    return pairs;
}

} // namespace ConstraintPlugin
