// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SystemConstraints.h"
#include "DisjointSets.h"
#include "openmm/serialization/XmlSerializer.h"
#include <algorithm>
#include <vector>

using namespace OpenMM;

namespace ConstraintPlugin {

const SystemConstraints* findSystemConstraints(const System& system) {
    for (int f = system.getNumForces() - 1; f >= 0; f--)
        if (const auto* force = dynamic_cast<const SystemConstraints*>(&system.getForce(f)))
            return force;
    return nullptr;
}

std::unique_ptr<System> withoutOwnConstraints(const System& system) {
    std::unique_ptr<System> copy(XmlSerializer::clone<System>(system));
    auto force = std::make_unique<SystemConstraints>();
    int p1, p2;
    double length;
    for (int i = 0; i < system.getNumConstraints(); i++) {
        system.getConstraintParameters(i, p1, p2, length);
        force->addDistance(p1, p2, length);
    }
    for (int i = copy->getNumConstraints() - 1; i >= 0; i--)
        copy->removeConstraint(i);
    copy->addForce(force.release());
    return copy;
}

bool isOwnSetupSlow(const System& system) {
    constexpr int many = 1000;
    DisjointSets sets(system.getNumParticles());
    std::vector<int> count(system.getNumParticles());
    int p1, p2;
    double length;
    for (int i = 0; i < system.getNumConstraints(); i++) {
        system.getConstraintParameters(i, p1, p2, length);
        if (std::min(p1, p2) < 0 || std::max(p1, p2) >= system.getNumParticles())
            return false; // OpenMM reports it
        const int to = sets.find(p1), from = sets.find(p2);
        if (sets.join(to, from))
            count[to] += count[from];
        if (++count[to] >= many)
            return true;
    }
    return false;
}

} // namespace ConstraintPlugin
