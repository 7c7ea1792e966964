// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CustomConstraintForceProxy.h"
#include "ExpressionNode.h"
#include "StrictNode.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include <memory>

using namespace OpenMM;

namespace ConstraintPlugin {

void CustomConstraintForceProxy::serialize(const void* object, SerializationNode& node) const {
    const CustomConstraintForce& force = *static_cast<const CustomConstraintForce*>(object);
    writeExpression(force, node);
    node.setIntProperty("particles", force.getNumParticlesPerConstraint());
    writeConstraints(force, node);
}

void* CustomConstraintForceProxy::deserialize(const SerializationNode& node) const {
    requireExpressionVersion(node, getTypeName());
    auto force = std::make_unique<CustomConstraintForce>(readProperty<int>(node, "particles"),
                                                         node.getStringProperty("expression"));
    readExpression(node, *force);
    readConstraints(node, *force);
    return force.release();
}

} // namespace ConstraintPlugin
