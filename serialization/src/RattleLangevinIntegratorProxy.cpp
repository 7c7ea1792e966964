// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "RattleLangevinIntegratorProxy.h"
#include "ConstraintIntegratorProxy.h"
#include "openmmconstraints/RattleLangevinIntegrator.h"

using namespace OpenMM;

namespace ConstraintPlugin {

static const int Version = 1;

RattleLangevinIntegratorProxy::RattleLangevinIntegratorProxy() : SerializationProxy("RattleLangevinIntegrator") {
}

void RattleLangevinIntegratorProxy::serialize(const void* object, SerializationNode& node) const {
    const auto& integrator = *static_cast<const RattleLangevinIntegrator*>(object);
    node.setIntProperty("version", Version);
    writeShared(integrator, node);
    node.setDoubleProperty("temperature", integrator.getTemperature());
    node.setDoubleProperty("friction", integrator.getFriction());
    node.setIntProperty("randomSeed", integrator.getRandomNumberSeed());
}

void* RattleLangevinIntegratorProxy::deserialize(const SerializationNode& node) const {
    requireVersion(node, getTypeName(), Version);
    auto integrator = std::make_unique<RattleLangevinIntegrator>(readProperty<double>(node, "temperature"),
                                                                 readProperty<double>(node, "friction"),
                                                                 readProperty<double>(node, "stepSize"));
    readShared(*integrator, node);
    integrator->setRandomNumberSeed(readProperty<int>(node, "randomSeed"));
    return integrator.release();
}

} // namespace ConstraintPlugin
