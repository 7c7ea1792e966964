// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "HeldPairs.h"
#include "SystemChecks.h"
#include "openmm/CustomAngleForce.h"
#include "openmm/CustomBondForce.h"
#include "openmm/HarmonicAngleForce.h"
#include "openmm/HarmonicBondForce.h"
#include "openmmconstraints/ConstraintForce.h"

using namespace OpenMM;

namespace ConstraintPlugin {

std::vector<HeldPair> collectHeldPairs(const System& system) {
    std::vector<HeldPair> pairs;
    const bool isPeriodic = usesPeriodicBoundaries(system);
    const auto add = [&](int p, int q, bool isBond) {
        const bool moves = system.getParticleMass(p) > 0 || system.getParticleMass(q) > 0;
        if (moves && !system.isVirtualSite(p) && !system.isVirtualSite(q))
            pairs.push_back({p, q, isBond, isPeriodic});
    };
    int p, q, r;
    double value, k;
    std::vector<double> parameters;
    for (int f = 0; f < system.getNumForces(); f++) {
        const Force& force = system.getForce(f);
        if (const auto* listed = dynamic_cast<const ConstraintForce*>(&force)) {
            std::vector<std::vector<int>> neighbours(listed->getBonds().empty() ? 0 : system.getNumParticles());
            for (const auto& [a, b] : listed->getBonds()) {
                add(a, b, true);
                for (auto [end, other] : {std::pair(a, b), std::pair(b, a)}) {
                    for (int second : neighbours[end])
                        if (second != other) // a bond may be listed twice
                            add(other, second, false);
                    neighbours[end].push_back(other);
                }
            }
        }
        if (const auto* bonds = dynamic_cast<const HarmonicBondForce*>(&force))
            for (int i = 0; i < bonds->getNumBonds(); i++) {
                bonds->getBondParameters(i, p, q, value, k);
                if (k != 0)
                    add(p, q, true);
            }
        if (const auto* bonds = dynamic_cast<const CustomBondForce*>(&force))
            for (int i = 0; i < bonds->getNumBonds(); i++) {
                bonds->getBondParameters(i, p, q, parameters);
                add(p, q, true);
            }
        if (const auto* angles = dynamic_cast<const HarmonicAngleForce*>(&force))
            for (int i = 0; i < angles->getNumAngles(); i++) {
                angles->getAngleParameters(i, p, q, r, value, k);
                if (k != 0)
                    add(p, r, false);
            }
        if (const auto* angles = dynamic_cast<const CustomAngleForce*>(&force))
            for (int i = 0; i < angles->getNumAngles(); i++) {
                angles->getAngleParameters(i, p, q, r, parameters);
                add(p, r, false);
            }
    }
    return pairs;
}

} // namespace ConstraintPlugin
