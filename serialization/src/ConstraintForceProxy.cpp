// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForceProxy.h"
#include "StrictNode.h"
#include "openmmconstraints/ConstraintForce.h"
#include <memory>

using namespace OpenMM;

namespace ConstraintPlugin {

static const int Version = 1;

void ConstraintForceProxy::serialize(const void* object, SerializationNode& node) const {
    const ConstraintForce& force = *static_cast<const ConstraintForce*>(object);
    node.setIntProperty("version", Version);
    node.setIntProperty("forceGroup", force.getForceGroup());
    node.setStringProperty("name", force.getName());
    node.setBoolProperty("usesPeriodic", force.usesPeriodicBoundaryConditions());
    SerializationNode& distances = node.createChildNode("Distances");
    for (int i = 0; i < force.getNumDistances(); i++) {
        int particle1, particle2;
        double distance;
        force.getDistanceParameters(i, particle1, particle2, distance);
        distances.createChildNode("Distance")
            .setIntProperty("p1", particle1)
            .setIntProperty("p2", particle2)
            .setDoubleProperty("d", distance);
    }
    SerializationNode& angles = node.createChildNode("Angles");
    for (int i = 0; i < force.getNumAngles(); i++) {
        int particle1, particle2, particle3;
        double angle;
        force.getAngleParameters(i, particle1, particle2, particle3, angle);
        angles.createChildNode("Angle")
            .setIntProperty("p1", particle1)
            .setIntProperty("p2", particle2)
            .setIntProperty("p3", particle3)
            .setDoubleProperty("a", angle);
    }
    SerializationNode& dihedrals = node.createChildNode("Dihedrals");
    for (int i = 0; i < force.getNumDihedrals(); i++) {
        int particle1, particle2, particle3, particle4;
        double angle;
        force.getDihedralParameters(i, particle1, particle2, particle3, particle4, angle);
        dihedrals.createChildNode("Dihedral")
            .setIntProperty("p1", particle1)
            .setIntProperty("p2", particle2)
            .setIntProperty("p3", particle3)
            .setIntProperty("p4", particle4)
            .setDoubleProperty("a", angle);
    }
}

void* ConstraintForceProxy::deserialize(const SerializationNode& node) const {
    requireVersion(node, "ConstraintForce", Version);
    auto force = std::make_unique<ConstraintForce>();
    force->setForceGroup(readProperty<int>(node, "forceGroup"));
    force->setName(node.getStringProperty("name"));
    force->setUsesPeriodicBoundaryConditions(readProperty<bool>(node, "usesPeriodic"));
    for (const SerializationNode& distance : node.getChildNode("Distances").getChildren())
        force->addDistance(readProperty<int>(distance, "p1"), readProperty<int>(distance, "p2"),
                           readProperty<double>(distance, "d"));
    for (const SerializationNode& angle : node.getChildNode("Angles").getChildren())
        force->addAngle(readProperty<int>(angle, "p1"), readProperty<int>(angle, "p2"), readProperty<int>(angle, "p3"),
                        readProperty<double>(angle, "a"));
    for (const SerializationNode& dihedral : node.getChildNode("Dihedrals").getChildren())
        force->addDihedral(readProperty<int>(dihedral, "p1"), readProperty<int>(dihedral, "p2"),
                           readProperty<int>(dihedral, "p3"), readProperty<int>(dihedral, "p4"),
                           readProperty<double>(dihedral, "a"));
    return force.release();
}

} // namespace ConstraintPlugin
