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

int ConstraintForce::addAngle(int particle1, int particle2, int particle3, double angle) {
    angles.push_back({particle1, particle2, particle3, angle});
    return getNumAngles() - 1;
}

void ConstraintForce::getAngleParameters(int index, int& particle1, int& particle2, int& particle3,
                                         double& angle) const {
    ASSERT_VALID_INDEX(index, angles);
    particle1 = angles[index].particle1;
    particle2 = angles[index].particle2;
    particle3 = angles[index].particle3;
    angle = angles[index].angle;
}

void ConstraintForce::setAngleParameters(int index, int particle1, int particle2, int particle3, double angle) {
    ASSERT_VALID_INDEX(index, angles);
    angles[index] = {particle1, particle2, particle3, angle};
}

int ConstraintForce::addDihedral(int particle1, int particle2, int particle3, int particle4, double angle) {
    dihedrals.push_back({particle1, particle2, particle3, particle4, angle});
    return getNumDihedrals() - 1;
}

void ConstraintForce::getDihedralParameters(int index, int& particle1, int& particle2, int& particle3, int& particle4,
                                            double& angle) const {
    ASSERT_VALID_INDEX(index, dihedrals);
    particle1 = dihedrals[index].particle1;
    particle2 = dihedrals[index].particle2;
    particle3 = dihedrals[index].particle3;
    particle4 = dihedrals[index].particle4;
    angle = dihedrals[index].angle;
}

void ConstraintForce::setDihedralParameters(int index, int particle1, int particle2, int particle3, int particle4,
                                            double angle) {
    ASSERT_VALID_INDEX(index, dihedrals);
    dihedrals[index] = {particle1, particle2, particle3, particle4, angle};
}

void ConstraintForce::updateParametersInContext(Context& context) {
    dynamic_cast<ConstraintForceImpl&>(getImplInContext(context)).updateParametersInContext(getContextImpl(context));
}

ForceImpl* ConstraintForce::createImpl() const {
    return new ConstraintForceImpl(*this);
}

} // namespace ConstraintPlugin
