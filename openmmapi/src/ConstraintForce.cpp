// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ConstraintForce.h"
#include "openmm/internal/AssertionUtilities.h"
#include "openmmconstraints/internal/ConstraintForceImpl.h"

using namespace OpenMM;

namespace ConstraintPlugin {

int ConstraintForce::addDistance(int particle1, int particle2, double distance) {
    distances.push_back({particle1, particle2, distance});
    return getNumDistances() - 1;
}

void ConstraintForce::getDistanceParameters(int index, int& particle1, int& particle2, double& distance) const {
    ASSERT_VALID_INDEX(index, distances);
    particle1 = distances[index].particle1;
    particle2 = distances[index].particle2;
    distance = distances[index].distance;
}

void ConstraintForce::setDistanceParameters(int index, int particle1, int particle2, double distance) {
    ASSERT_VALID_INDEX(index, distances);
    distances[index] = {particle1, particle2, distance};
}

ForceImpl* ConstraintForce::createImpl() const {
    return new ConstraintForceImpl(*this);
}

} // namespace ConstraintPlugin
