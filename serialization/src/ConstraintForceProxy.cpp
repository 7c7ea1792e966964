// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForceProxy.h"
#include "ListedCoordinates.h"
#include "NameList.h"
#include "StrictNode.h"
#include <algorithm>
#include <memory>

using namespace OpenMM;

namespace ConstraintPlugin {

// Properties that a Force does not use are not written, so that earlier releases can read the file.
static const int Oldest = 2, VersionWithNames = 3, VersionWithStartTimes = 4, VersionWithParameters = 5,
                 VersionWithReplacedSolver = 6, VersionWithCoordinationNumbers = 7;

static double readStartTime(const SerializationNode& node) {
    return node.hasProperty("startTime") ? readProperty<double>(node, "startTime") : 0;
}

static void writeInterpolation(SerializationNode& node, const std::string& parameter, double value1) {
    node.setStringProperty("parameter", parameter).setDoubleProperty("valueAt1", value1);
}

/** set(parameter, value at 1) if a constraint interpolates. */
template <class Set>
static void readInterpolation(const SerializationNode& node, Set set) {
    if (node.hasProperty("parameter"))
        set(node.getStringProperty("parameter"), readProperty<double>(node, "valueAt1"));
}

// <Distances><Distance p1="0" p2="1" d="0.1" rate="0"/></Distances>; of angles, the value is "a".

static std::string listName(CoordinateKind kind) {
    return std::string(traitsOf(kind).method) + "s";
}

/** <Particle group="1" p="0"/> for each particle of two groups. */
static void writeGroups(SerializationNode& node, const std::vector<int> (&groups)[2]) {
    for (int g : {0, 1})
        for (int p : groups[g])
            node.createChildNode("Particle").setIntProperty("group", g + 1).setIntProperty("p", p);
}

static void readGroups(const SerializationNode& node, std::vector<int> (&groups)[2]) {
    for (const SerializationNode& particle : node.getChildren())
        groups[readProperty<int>(particle, "group") == 1 ? 0 : 1].push_back(readProperty<int>(particle, "p"));
}

static std::string particleName(int place) {
    return "p" + std::to_string(place + 1);
}

static const char* valueName(CoordinateKind kind) {
    return isAngular(kind) ? "a" : "d";
}

/** Many pairs of particles as one text of "0 1 1 2", for one property instead of a million nodes. */
static std::string writeBonds(const std::vector<std::pair<int, int>>& bonds) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    for (const auto& [p, q] : bonds)
        text << (text.tellp() > 0 ? " " : "") << p << ' ' << q;
    return text.str();
}

static std::vector<std::pair<int, int>> readBonds(const std::string& written) {
    std::istringstream text(written);
    text.imbue(std::locale::classic());
    std::vector<std::pair<int, int>> bonds;
    for (int p, q; !(text >> std::ws).eof(); bonds.emplace_back(p, q))
        if (!(text >> p >> q))
            throw OpenMMException("Malformed XML: the particles of Bonds are no pairs of whole numbers");
    return bonds;
}

static void writePosition(SerializationNode& node, const Vec3& x) {
    node.setDoubleProperty("x", x[0]).setDoubleProperty("y", x[1]).setDoubleProperty("z", x[2]);
}

static Vec3 readPosition(const SerializationNode& node) {
    return {readProperty<double>(node, "x"), readProperty<double>(node, "y"), readProperty<double>(node, "z")};
}

/** Earlier releases ignore them. */
static void writeReferencePositions(const ConstraintForce& force, SerializationNode& node) {
    std::vector<int> particles;
    std::vector<Vec3> positions;
    force.getReferencePositions(particles, positions);
    if (particles.empty())
        return;
    SerializationNode& list = node.createChildNode("ReferencePositions");
    for (std::size_t i = 0; i < particles.size(); i++)
        writePosition(list.createChildNode("Position").setIntProperty("p", particles[i]), positions[i]);
}

static void readReferencePositions(const SerializationNode& list, ConstraintForce& force) {
    std::vector<int> particles;
    std::vector<Vec3> positions;
    for (const SerializationNode& child : list.getChildren()) {
        particles.push_back(readProperty<int>(child, "p"));
        positions.push_back(readPosition(child));
    }
    force.setReferencePositions(particles, positions);
}

/** Nothing if there are none. @param writeMotion  (node, rate, start time) */
template <class WriteMotion>
static void writeCoordinationNumbers(const ConstraintForce& force, SerializationNode& node, WriteMotion writeMotion) {
    if (force.getNumCoordinationNumbers() == 0)
        return;
    SerializationNode& list = node.createChildNode("CoordinationNumbers");
    for (int i = 0; i < force.getNumCoordinationNumbers(); i++) {
        std::vector<int> groups[2];
        double number, r0, cutoff;
        int n, m;
        force.getCoordinationNumberParameters(i, groups[0], groups[1], number, r0, n, m, cutoff);
        SerializationNode& child = list.createChildNode("CoordinationNumber");
        child.setDoubleProperty("s", number).setDoubleProperty("r0", r0).setIntProperty("n", n).setIntProperty("m", m);
        child.setDoubleProperty("cutoff", cutoff);
        writeMotion(child, force.getCoordinationNumberRate(i), force.getCoordinationNumberStartTime(i));
        std::string parameter;
        force.getCoordinationNumberInterpolation(i, parameter, number);
        if (!parameter.empty())
            writeInterpolation(child, parameter, number);
        writeGroups(child, groups);
    }
}

static void readCoordinationNumbers(const SerializationNode& list, ConstraintForce& force) {
    for (const SerializationNode& child : list.getChildren()) {
        std::vector<int> groups[2];
        readGroups(child, groups);
        const double number = readProperty<double>(child, "s"), r0 = readProperty<double>(child, "r0"),
                     cutoff = readProperty<double>(child, "cutoff"), rate = readProperty<double>(child, "rate");
        const int n = readProperty<int>(child, "n"), m = readProperty<int>(child, "m");
        const int index =
            force.addCoordinationNumber(groups[0], groups[1], number, r0, n, m, cutoff, rate, readStartTime(child));
        readInterpolation(child, [&](const std::string& parameter, double value1) {
            force.setCoordinationNumberInterpolation(index, parameter, value1);
        });
    }
}

void ConstraintForceProxy::serialize(const void* object, SerializationNode& node) const {
    const ConstraintForce& force = *static_cast<const ConstraintForce*>(object);
    const bool hasNames = !force.getParticleNames().empty();
    bool hasStartTimes = false;
    const auto writeMotion = [&](SerializationNode& child, double rate, double startTime) {
        child.setDoubleProperty("rate", rate);
        if (startTime != 0) {
            child.setDoubleProperty("startTime", startTime);
            hasStartTimes = true;
        }
    };
    if (hasNames)
        node.createChildNode("ParticleNames").setStringProperty("names", writeNames(force.getParticleNames()));
    if (!force.getBonds().empty()) // earlier releases ignore them
        node.createChildNode("Bonds").setStringProperty("particles", writeBonds(force.getBonds()));
    if (!force.getCountedPairs().empty())
        node.createChildNode("CountedPairs").setStringProperty("particles", writeBonds(force.getCountedPairs()));
    writeReferencePositions(force, node);
    node.setIntProperty("forceGroup", force.getForceGroup());
    node.setStringProperty("name", force.getName());
    node.setBoolProperty("usesPeriodic", force.usesPeriodicBoundaryConditions());
    if (force.getReplacesSolver())
        node.setBoolProperty("replacesSolver", true);
    ListedCoordinates::forEachKind(force, [&](CoordinateKind kind, const auto& coordinates) {
        SerializationNode& list = node.createChildNode(listName(kind));
        for (const ListedCoordinates::Coordinate& c : coordinates) {
            SerializationNode& child = list.createChildNode(traitsOf(kind).method);
            for (int p = 0; p < traitsOf(kind).numParticles; p++)
                child.setIntProperty(particleName(p), c.particles[p]);
            child.setDoubleProperty(valueName(kind), c.value);
            writeMotion(child, c.motion.rate, c.motion.startTime);
            if (c.interpolation.parameter >= 0)
                writeInterpolation(child, force.getGlobalParameterName(c.interpolation.parameter),
                                   c.interpolation.value1);
        }
    });
    SerializationNode& centroidDistances = node.createChildNode("CentroidDistances");
    for (int i = 0; i < force.getNumCentroidDistances(); i++) {
        std::vector<int> groups[2];
        double distance;
        force.getCentroidDistanceParameters(i, groups[0], groups[1], distance);
        SerializationNode& child = centroidDistances.createChildNode("CentroidDistance");
        child.setDoubleProperty("d", distance);
        writeMotion(child, force.getCentroidDistanceRate(i), force.getCentroidDistanceStartTime(i));
        std::string parameter;
        force.getCentroidDistanceInterpolation(i, parameter, distance);
        if (!parameter.empty())
            writeInterpolation(child, parameter, distance);
        writeGroups(child, groups);
    }
    writeCoordinationNumbers(force, node, writeMotion);
    SerializationNode& bodies = node.createChildNode("RigidBodies");
    for (int i = 0; i < force.getNumRigidBodies(); i++) {
        std::vector<int> particles;
        std::vector<Vec3> positions;
        force.getRigidBodyParameters(i, particles, positions);
        SerializationNode& body = bodies.createChildNode("RigidBody");
        for (std::size_t j = 0; j < particles.size(); j++)
            body.createChildNode("Particle").setIntProperty("p", particles[j]);
        for (const Vec3& x : positions)
            writePosition(body.createChildNode("Position"), x);
    }
    if (force.getNumGlobalParameters() > 0) {
        SerializationNode& globals = node.createChildNode("GlobalParameters");
        for (int i = 0; i < force.getNumGlobalParameters(); i++)
            globals.createChildNode("Parameter")
                .setStringProperty("name", force.getGlobalParameterName(i))
                .setDoubleProperty("default", force.getGlobalParameterDefaultValue(i));
    }
    const bool isReplacing = force.getReplacesSolver() || !force.getCountedPairs().empty();
    node.setIntProperty("version", force.getNumCoordinationNumbers() > 0 ? VersionWithCoordinationNumbers
                                   : isReplacing                         ? VersionWithReplacedSolver
                                   : force.getNumGlobalParameters() > 0  ? VersionWithParameters
                                   : hasStartTimes                       ? VersionWithStartTimes
                                   : hasNames                            ? VersionWithNames
                                                                         : Oldest);
}

void* ConstraintForceProxy::deserialize(const SerializationNode& node) const {
    const int version = requireVersion(node, "ConstraintForce", Oldest, VersionWithCoordinationNumbers);
    auto force = std::make_unique<ConstraintForce>();
    force->setForceGroup(readProperty<int>(node, "forceGroup"));
    force->setName(node.getStringProperty("name"));
    force->setUsesPeriodicBoundaryConditions(readProperty<bool>(node, "usesPeriodic"));
    if (node.hasProperty("replacesSolver"))
        force->setReplacesSolver(readProperty<bool>(node, "replacesSolver"));
    const auto& children = node.getChildren();
    for (const SerializationNode& child : children)
        if (child.getName() == "GlobalParameters")
            for (const SerializationNode& parameter : child.getChildren())
                force->addGlobalParameter(parameter.getStringProperty("name"),
                                          readProperty<double>(parameter, "default"));
    ListedCoordinates::forEachKind(*force, [&](CoordinateKind kind, auto& coordinates) {
        for (const SerializationNode& child : node.getChildNode(listName(kind)).getChildren()) {
            ListedCoordinates::Coordinate c{{},
                                            readProperty<double>(child, valueName(kind)),
                                            {readProperty<double>(child, "rate"), readStartTime(child)}};
            for (int p = 0; p < traitsOf(kind).numParticles; p++)
                c.particles[p] = readProperty<int>(child, particleName(p));
            coordinates.push_back(c);
            readInterpolation(child, [&](const std::string& parameter, double value1) {
                const int index = (int) coordinates.size() - 1;
                if (kind == CoordinateKind::Distance)
                    force->setDistanceInterpolation(index, parameter, value1);
                else if (kind == CoordinateKind::Angle)
                    force->setAngleInterpolation(index, parameter, value1);
                else
                    force->setDihedralInterpolation(index, parameter, value1);
            });
        }
    });
    for (const SerializationNode& child : node.getChildNode("CentroidDistances").getChildren()) {
        std::vector<int> groups[2];
        readGroups(child, groups);
        const int index = force->addCentroidDistance(groups[0], groups[1], readProperty<double>(child, "d"),
                                                     readProperty<double>(child, "rate"), readStartTime(child));
        readInterpolation(child, [&](const std::string& parameter, double value1) {
            force->setCentroidDistanceInterpolation(index, parameter, value1);
        });
    }
    for (const SerializationNode& body : node.getChildNode("RigidBodies").getChildren()) {
        std::vector<int> particles;
        std::vector<Vec3> positions;
        for (const SerializationNode& child : body.getChildren())
            if (child.getName() == "Particle")
                particles.push_back(readProperty<int>(child, "p"));
            else
                positions.push_back(readPosition(child));
        force->addRigidBody(particles, positions);
    }
    if (version == VersionWithNames ||
        std::any_of(children.begin(), children.end(),
                    [](const SerializationNode& child) { return child.getName() == "ParticleNames"; }))
        force->setParticleNames(readNames(node.getChildNode("ParticleNames").getStringProperty("names")));
    for (const SerializationNode& child : node.getChildren())
        if (child.getName() == "Bonds")
            force->setBonds(readBonds(child.getStringProperty("particles")));
        else if (child.getName() == "CountedPairs")
            force->setCountedPairs(readBonds(child.getStringProperty("particles")));
        else if (child.getName() == "ReferencePositions")
            readReferencePositions(child, *force);
        else if (child.getName() == "CoordinationNumbers")
            readCoordinationNumbers(child, *force);
    return force.release();
}

} // namespace ConstraintPlugin
