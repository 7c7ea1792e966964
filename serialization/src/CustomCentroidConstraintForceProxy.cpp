// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CustomCentroidConstraintForceProxy.h"
#include "ExpressionNode.h"
#include "StrictNode.h"
#include "openmmconstraints/CustomCentroidConstraintForce.h"
#include <memory>

using namespace OpenMM;

namespace ConstraintPlugin {

/** Groups are written as CustomCentroidBondForce writes them, without weights if these are the masses. */
void CustomCentroidConstraintForceProxy::serialize(const void* object, SerializationNode& node) const {
    const auto& force = *static_cast<const CustomCentroidConstraintForce*>(object);
    writeExpression(force, node);
    node.setIntProperty("groups", force.getNumGroupsPerConstraint());
    SerializationNode& groups = node.createChildNode("Groups");
    std::vector<int> particles;
    std::vector<double> weights;
    for (int i = 0; i < force.getNumGroups(); i++) {
        force.getGroupParameters(i, particles, weights);
        SerializationNode& group = groups.createChildNode("Group");
        for (std::size_t p = 0; p < particles.size(); p++) {
            SerializationNode& particle = group.createChildNode("Particle");
            particle.setIntProperty("p", particles[p]);
            if (!weights.empty())
                particle.setDoubleProperty("weight", weights[p]);
        }
    }
    writeConstraints(force, node);
}

void* CustomCentroidConstraintForceProxy::deserialize(const SerializationNode& node) const {
    requireExpressionVersion(node, getTypeName());
    auto force = std::make_unique<CustomCentroidConstraintForce>(readProperty<int>(node, "groups"),
                                                                 node.getStringProperty("expression"));
    readExpression(node, *force);
    for (const SerializationNode& group : node.getChildNode("Groups").getChildren()) {
        std::vector<int> particles;
        std::vector<double> weights;
        for (const SerializationNode& particle : group.getChildren()) {
            particles.push_back(readProperty<int>(particle, "p"));
            if (particle.hasProperty("weight"))
                weights.push_back(readProperty<double>(particle, "weight"));
        }
        force->addGroup(particles, weights);
    }
    readConstraints(node, *force);
    return force.release();
}

} // namespace ConstraintPlugin
