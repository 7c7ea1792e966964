// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SystemConstraints.h"
#include "openmm/serialization/XmlSerializer.h"
#include <algorithm>
#include <numeric>
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
    std::vector<int> next(system.getNumParticles()), count(system.getNumParticles());
    std::iota(next.begin(), next.end(), 0);
    const auto root = [&](int p) {
        while (next[p] != p)
            p = next[p] = next[next[p]];
        return p;
    };
    int p1, p2;
    double length;
    for (int i = 0; i < system.getNumConstraints(); i++) {
        system.getConstraintParameters(i, p1, p2, length);
        if (std::min(p1, p2) < 0 || std::max(p1, p2) >= system.getNumParticles())
            return false; // OpenMM reports it
        const int to = root(p1), from = root(p2);
        if (to != from) {
            next[from] = to;
            count[to] += count[from];
        }
        if (++count[to] >= many)
            return true;
    }
    return false;
}

} // namespace ConstraintPlugin
