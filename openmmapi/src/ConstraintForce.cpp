// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ConstraintForce.h"
#include "ConstraintForceImpl.h"
#include "openmm/OpenMMException.h"
#include "openmm/internal/AssertionUtilities.h"
#include <map>

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

int ConstraintForce::addGlobalParameter(const std::string& name, double defaultValue) {
    checkNewName(name, "addGlobalParameter");
    globalParameters.push_back({name, defaultValue});
    return getNumGlobalParameters() - 1;
}

const std::string& ConstraintForce::getGlobalParameterName(int index) const {
    return at(globalParameters, index).name;
}

void ConstraintForce::setGlobalParameterName(int index, const std::string& name) {
    if (at(globalParameters, index).name != name)
        checkNewName(name, "setGlobalParameterName");
    globalParameters[index].name = name;
}

double ConstraintForce::getGlobalParameterDefaultValue(int index) const {
    return at(globalParameters, index).defaultValue;
}

void ConstraintForce::setGlobalParameterDefaultValue(int index, double defaultValue) {
    at(globalParameters, index).defaultValue = defaultValue;
}

void ConstraintForce::checkNewName(const std::string& name, const char* method) const {
    if (name.empty())
        throw OpenMMException(std::string(method) + ": a Context parameter needs a name.");
    for (const GlobalParameter& parameter : globalParameters)
        if (parameter.name == name)
            throw OpenMMException(std::string(method) + ": this ConstraintForce has a Context parameter \"" + name +
                                  "\" already. Use that one, or another name.");
}

ConstraintForce::Interpolation ConstraintForce::interpolationWith(const std::string& parameter, double value1,
                                                                  const char* method) const {
    if (parameter.empty())
        return {};
    for (int i = 0; i < getNumGlobalParameters(); i++)
        if (globalParameters[i].name == parameter)
            return {i, value1};
    throw OpenMMException(std::string(method) + ": this ConstraintForce has no Context parameter \"" + parameter +
                          "\". Call addGlobalParameter(\"" + parameter + "\", defaultValue) first.");
}

void ConstraintForce::readInterpolation(const Interpolation& given, std::string& parameter, double& value1) const {
    parameter = given.parameter < 0 ? "" : globalParameters[given.parameter].name;
    value1 = given.value1;
}

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
    c = {{particle1, particle2}, distance, c.motion, c.interpolation};
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

void ConstraintForce::getDistanceInterpolation(int index, std::string& parameter, double& distance1) const {
    readInterpolation(at(distances, index).interpolation, parameter, distance1);
}

void ConstraintForce::setDistanceInterpolation(int index, const std::string& parameter, double distance1) {
    at(distances, index).interpolation = interpolationWith(parameter, distance1, "setDistanceInterpolation");
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
    c = {{particle1, particle2, particle3}, angle, c.motion, c.interpolation};
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

void ConstraintForce::getAngleInterpolation(int index, std::string& parameter, double& angle1) const {
    readInterpolation(at(angles, index).interpolation, parameter, angle1);
}

void ConstraintForce::setAngleInterpolation(int index, const std::string& parameter, double angle1) {
    at(angles, index).interpolation = interpolationWith(parameter, angle1, "setAngleInterpolation");
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
    c = {{particle1, particle2, particle3, particle4}, angle, c.motion, c.interpolation};
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

void ConstraintForce::getDihedralInterpolation(int index, std::string& parameter, double& angle1) const {
    readInterpolation(at(dihedrals, index).interpolation, parameter, angle1);
}

void ConstraintForce::setDihedralInterpolation(int index, const std::string& parameter, double angle1) {
    at(dihedrals, index).interpolation = interpolationWith(parameter, angle1, "setDihedralInterpolation");
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
    c = {particles1, particles2, distance, c.motion, c.interpolation};
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

void ConstraintForce::getCentroidDistanceInterpolation(int index, std::string& parameter, double& distance1) const {
    readInterpolation(at(centroidDistances, index).interpolation, parameter, distance1);
}

void ConstraintForce::setCentroidDistanceInterpolation(int index, const std::string& parameter, double distance1) {
    at(centroidDistances, index).interpolation =
        interpolationWith(parameter, distance1, "setCentroidDistanceInterpolation");
}

int ConstraintForce::addCoordinationNumber(const std::vector<int>& particles1, const std::vector<int>& particles2,
                                           double number, double r0, int n, int m, double cutoff, double rate,
                                           double startTime) {
    coordinationNumbers.push_back({particles1, particles2, number, r0, n, m, cutoff, {rate, startTime}});
    return getNumCoordinationNumbers() - 1;
}

void ConstraintForce::getCoordinationNumberParameters(int index, std::vector<int>& particles1,
                                                      std::vector<int>& particles2, double& number, double& r0, int& n,
                                                      int& m, double& cutoff) const {
    const CoordinationNumber& c = at(coordinationNumbers, index);
    particles1 = c.particles1;
    particles2 = c.particles2;
    number = c.number;
    r0 = c.r0;
    n = c.n;
    m = c.m;
    cutoff = c.cutoff;
}

void ConstraintForce::setCoordinationNumberParameters(int index, const std::vector<int>& particles1,
                                                      const std::vector<int>& particles2, double number, double r0,
                                                      int n, int m, double cutoff) {
    CoordinationNumber& c = at(coordinationNumbers, index);
    c = {particles1, particles2, number, r0, n, m, cutoff, c.motion, c.interpolation};
}

double ConstraintForce::getCoordinationNumberRate(int index) const {
    return at(coordinationNumbers, index).motion.rate;
}

double ConstraintForce::getCoordinationNumberStartTime(int index) const {
    return at(coordinationNumbers, index).motion.startTime;
}

void ConstraintForce::setCoordinationNumberRate(int index, double rate, double startTime) {
    at(coordinationNumbers, index).motion = {rate, startTime};
}

void ConstraintForce::getCoordinationNumberInterpolation(int index, std::string& parameter, double& number1) const {
    readInterpolation(at(coordinationNumbers, index).interpolation, parameter, number1);
}

void ConstraintForce::setCoordinationNumberInterpolation(int index, const std::string& parameter, double number1) {
    at(coordinationNumbers, index).interpolation =
        interpolationWith(parameter, number1, "setCoordinationNumberInterpolation");
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

void ConstraintForce::getReferencePositions(std::vector<int>& particles, std::vector<Vec3>& positions) const {
    particles.clear();
    positions.clear();
    for (const auto& [particle, position] : referencePositions) {
        particles.push_back(particle);
        positions.push_back(position);
    }
}

void ConstraintForce::setReferencePositions(const std::vector<int>& particles, const std::vector<Vec3>& positions) {
    if (particles.size() != positions.size())
        throw OpenMMException("setReferencePositions: there are " + std::to_string(particles.size()) +
                              " particles and " + std::to_string(positions.size()) +
                              " positions. Give one position (nm) for each particle.");
    std::map<int, Vec3> given;
    for (std::size_t i = 0; i < particles.size(); i++)
        if (!given.emplace(particles[i], positions[i]).second)
            throw OpenMMException("setReferencePositions: particle " + std::to_string(particles[i]) +
                                  " is listed twice. Give one position (nm) for each particle.");
    referencePositions = std::move(given);
}

std::vector<double> ConstraintForce::getMultipliers(Context& context) const {
    return dynamic_cast<const ConstraintForceImpl&>(getImplInContext(context)).getMultipliers(getContextImpl(context));
}

SolverSummary ConstraintForce::getSolverSummary(Context& context) const {
    dynamic_cast<const ConstraintForceImpl&>(getImplInContext(context)); // throws where it is not in this Context
    return ConstraintForceImpl::getSolverSummary(getContextImpl(context));
}

void ConstraintForce::updateParametersInContext(Context& context) {
    dynamic_cast<ConstraintForceImpl&>(getImplInContext(context)).updateParametersInContext(getContextImpl(context));
}

ForceImpl* ConstraintForce::createImpl() const {
    std::map<std::string, double> defaults;
    for (const GlobalParameter& parameter : globalParameters)
        defaults[parameter.name] = parameter.defaultValue;
    return new ConstraintForceImpl(*this, std::move(defaults));
}

} // namespace ConstraintPlugin
