// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ConstraintForce.h"
#include "ConstraintForceImpl.h"
#include "openmm/internal/AssertionUtilities.h"

using namespace OpenMM;

namespace ConstraintPlugin {

int ConstraintForce::addDistance(int particle1, int particle2, double distance, double rate, double startTime) {
    distances.push_back({particle1, particle2, distance, {rate, startTime}});
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
    distances[index] = {particle1, particle2, distance, distances[index].motion};
}

double ConstraintForce::getDistanceRate(int index) const {
    ASSERT_VALID_INDEX(index, distances);
    return distances[index].motion.rate;
}

double ConstraintForce::getDistanceStartTime(int index) const {
    ASSERT_VALID_INDEX(index, distances);
    return distances[index].motion.startTime;
}

void ConstraintForce::setDistanceRate(int index, double rate, double startTime) {
    ASSERT_VALID_INDEX(index, distances);
    distances[index].motion = {rate, startTime};
}

int ConstraintForce::addAngle(int particle1, int particle2, int particle3, double angle, double rate,
                              double startTime) {
    angles.push_back({particle1, particle2, particle3, angle, {rate, startTime}});
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
    angles[index] = {particle1, particle2, particle3, angle, angles[index].motion};
}

double ConstraintForce::getAngleRate(int index) const {
    ASSERT_VALID_INDEX(index, angles);
    return angles[index].motion.rate;
}

double ConstraintForce::getAngleStartTime(int index) const {
    ASSERT_VALID_INDEX(index, angles);
    return angles[index].motion.startTime;
}

void ConstraintForce::setAngleRate(int index, double rate, double startTime) {
    ASSERT_VALID_INDEX(index, angles);
    angles[index].motion = {rate, startTime};
}

int ConstraintForce::addDihedral(int particle1, int particle2, int particle3, int particle4, double angle, double rate,
                                 double startTime) {
    dihedrals.push_back({particle1, particle2, particle3, particle4, angle, {rate, startTime}});
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
    dihedrals[index] = {particle1, particle2, particle3, particle4, angle, dihedrals[index].motion};
}

double ConstraintForce::getDihedralRate(int index) const {
    ASSERT_VALID_INDEX(index, dihedrals);
    return dihedrals[index].motion.rate;
}

double ConstraintForce::getDihedralStartTime(int index) const {
    ASSERT_VALID_INDEX(index, dihedrals);
    return dihedrals[index].motion.startTime;
}

void ConstraintForce::setDihedralRate(int index, double rate, double startTime) {
    ASSERT_VALID_INDEX(index, dihedrals);
    dihedrals[index].motion = {rate, startTime};
}

int ConstraintForce::addCentroidDistance(const std::vector<int>& particles1, const std::vector<int>& particles2,
                                         double distance, double rate, double startTime) {
    centroidDistances.push_back({particles1, particles2, distance, {rate, startTime}});
    return getNumCentroidDistances() - 1;
}

void ConstraintForce::getCentroidDistanceParameters(int index, std::vector<int>& particles1,
                                                    std::vector<int>& particles2, double& distance) const {
    ASSERT_VALID_INDEX(index, centroidDistances);
    particles1 = centroidDistances[index].particles1;
    particles2 = centroidDistances[index].particles2;
    distance = centroidDistances[index].distance;
}

void ConstraintForce::setCentroidDistanceParameters(int index, const std::vector<int>& particles1,
                                                    const std::vector<int>& particles2, double distance) {
    ASSERT_VALID_INDEX(index, centroidDistances);
    centroidDistances[index] = {particles1, particles2, distance, centroidDistances[index].motion};
}

double ConstraintForce::getCentroidDistanceRate(int index) const {
    ASSERT_VALID_INDEX(index, centroidDistances);
    return centroidDistances[index].motion.rate;
}

double ConstraintForce::getCentroidDistanceStartTime(int index) const {
    ASSERT_VALID_INDEX(index, centroidDistances);
    return centroidDistances[index].motion.startTime;
}

void ConstraintForce::setCentroidDistanceRate(int index, double rate, double startTime) {
    ASSERT_VALID_INDEX(index, centroidDistances);
    centroidDistances[index].motion = {rate, startTime};
}

int ConstraintForce::addRigidBody(const std::vector<int>& particles, const std::vector<Vec3>& positions) {
    bodies.push_back({particles, positions});
    return getNumRigidBodies() - 1;
}

void ConstraintForce::getRigidBodyParameters(int index, std::vector<int>& particles,
                                             std::vector<Vec3>& positions) const {
    ASSERT_VALID_INDEX(index, bodies);
    particles = bodies[index].particles;
    positions = bodies[index].positions;
}

void ConstraintForce::setRigidBodyParameters(int index, const std::vector<int>& particles,
                                             const std::vector<Vec3>& positions) {
    ASSERT_VALID_INDEX(index, bodies);
    bodies[index] = {particles, positions};
}

std::vector<double> ConstraintForce::getMultipliers(Context& context) const {
    return dynamic_cast<const ConstraintForceImpl&>(getImplInContext(context)).getMultipliers(getContextImpl(context));
}

void ConstraintForce::updateParametersInContext(Context& context) {
    dynamic_cast<ConstraintForceImpl&>(getImplInContext(context)).updateParametersInContext(getContextImpl(context));
}

ForceImpl* ConstraintForce::createImpl() const {
    return new ConstraintForceImpl(*this);
}

} // namespace ConstraintPlugin
