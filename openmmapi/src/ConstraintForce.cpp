// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ConstraintForce.h"
#include "ConstraintForceImpl.h"
#include "openmm/internal/AssertionUtilities.h"

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

/** @throws OpenMMException if there is no such entry */
template <class List>
auto& at(List& list, int index) {
    ASSERT_VALID_INDEX(index, list);
    return list[index];
}

} // namespace

int ConstraintForce::addDistance(int particle1, int particle2, double distance, double rate, double startTime) {
    distances.push_back({{particle1, particle2}, distance, {rate, startTime}});
    return getNumDistances() - 1;
}

void ConstraintForce::getDistanceParameters(int index, int& particle1, int& particle2, double& distance) const {
    const Coordinate& c = at(distances, index);
    particle1 = c.particles[0];
    particle2 = c.particles[1];
    distance = c.value;
}

void ConstraintForce::setDistanceParameters(int index, int particle1, int particle2, double distance) {
    Coordinate& c = at(distances, index);
    c = {{particle1, particle2}, distance, c.motion};
}

double ConstraintForce::getDistanceRate(int index) const {
    return at(distances, index).motion.rate;
}

double ConstraintForce::getDistanceStartTime(int index) const {
    return at(distances, index).motion.startTime;
}

void ConstraintForce::setDistanceRate(int index, double rate, double startTime) {
    at(distances, index).motion = {rate, startTime};
}

int ConstraintForce::addAngle(int particle1, int particle2, int particle3, double angle, double rate,
                              double startTime) {
    angles.push_back({{particle1, particle2, particle3}, angle, {rate, startTime}});
    return getNumAngles() - 1;
}

void ConstraintForce::getAngleParameters(int index, int& particle1, int& particle2, int& particle3,
                                         double& angle) const {
    const Coordinate& c = at(angles, index);
    particle1 = c.particles[0];
    particle2 = c.particles[1];
    particle3 = c.particles[2];
    angle = c.value;
}

void ConstraintForce::setAngleParameters(int index, int particle1, int particle2, int particle3, double angle) {
    Coordinate& c = at(angles, index);
    c = {{particle1, particle2, particle3}, angle, c.motion};
}

double ConstraintForce::getAngleRate(int index) const {
    return at(angles, index).motion.rate;
}

double ConstraintForce::getAngleStartTime(int index) const {
    return at(angles, index).motion.startTime;
}

void ConstraintForce::setAngleRate(int index, double rate, double startTime) {
    at(angles, index).motion = {rate, startTime};
}

int ConstraintForce::addDihedral(int particle1, int particle2, int particle3, int particle4, double angle, double rate,
                                 double startTime) {
    dihedrals.push_back({{particle1, particle2, particle3, particle4}, angle, {rate, startTime}});
    return getNumDihedrals() - 1;
}

void ConstraintForce::getDihedralParameters(int index, int& particle1, int& particle2, int& particle3, int& particle4,
                                            double& angle) const {
    const Coordinate& c = at(dihedrals, index);
    particle1 = c.particles[0];
    particle2 = c.particles[1];
    particle3 = c.particles[2];
    particle4 = c.particles[3];
    angle = c.value;
}

void ConstraintForce::setDihedralParameters(int index, int particle1, int particle2, int particle3, int particle4,
                                            double angle) {
    Coordinate& c = at(dihedrals, index);
    c = {{particle1, particle2, particle3, particle4}, angle, c.motion};
}

double ConstraintForce::getDihedralRate(int index) const {
    return at(dihedrals, index).motion.rate;
}

double ConstraintForce::getDihedralStartTime(int index) const {
    return at(dihedrals, index).motion.startTime;
}

void ConstraintForce::setDihedralRate(int index, double rate, double startTime) {
    at(dihedrals, index).motion = {rate, startTime};
}

int ConstraintForce::addCentroidDistance(const std::vector<int>& particles1, const std::vector<int>& particles2,
                                         double distance, double rate, double startTime) {
    centroidDistances.push_back({particles1, particles2, distance, {rate, startTime}});
    return getNumCentroidDistances() - 1;
}

void ConstraintForce::getCentroidDistanceParameters(int index, std::vector<int>& particles1,
                                                    std::vector<int>& particles2, double& distance) const {
    const CentroidDistance& c = at(centroidDistances, index);
    particles1 = c.particles1;
    particles2 = c.particles2;
    distance = c.distance;
}

void ConstraintForce::setCentroidDistanceParameters(int index, const std::vector<int>& particles1,
                                                    const std::vector<int>& particles2, double distance) {
    CentroidDistance& c = at(centroidDistances, index);
    c = {particles1, particles2, distance, c.motion};
}

double ConstraintForce::getCentroidDistanceRate(int index) const {
    return at(centroidDistances, index).motion.rate;
}

double ConstraintForce::getCentroidDistanceStartTime(int index) const {
    return at(centroidDistances, index).motion.startTime;
}

void ConstraintForce::setCentroidDistanceRate(int index, double rate, double startTime) {
    at(centroidDistances, index).motion = {rate, startTime};
}

int ConstraintForce::addRigidBody(const std::vector<int>& particles, const std::vector<Vec3>& positions) {
    bodies.push_back({particles, positions});
    return getNumRigidBodies() - 1;
}

void ConstraintForce::getRigidBodyParameters(int index, std::vector<int>& particles,
                                             std::vector<Vec3>& positions) const {
    const Body& body = at(bodies, index);
    particles = body.particles;
    positions = body.positions;
}

void ConstraintForce::setRigidBodyParameters(int index, const std::vector<int>& particles,
                                             const std::vector<Vec3>& positions) {
    at(bodies, index) = {particles, positions};
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
