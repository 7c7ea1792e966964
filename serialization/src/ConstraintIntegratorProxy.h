// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_INTEGRATOR_PROXY_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_INTEGRATOR_PROXY_H_

#include "StrictNode.h"
#include "openmm/serialization/SerializationProxy.h"
#include "openmmconstraints/ConstraintIntegrator.h"
#include <memory>

namespace ConstraintPlugin {

/** Writes what every ConstraintIntegrator shares: step size, tolerance, solver, iterations, force groups. */
void writeShared(const ConstraintIntegrator& integrator, OpenMM::SerializationNode& node);
/** Reads it back, except the step size, which the constructor needs. */
void readShared(ConstraintIntegrator& integrator, const OpenMM::SerializationNode& node);

/** Serves an integrator that is built from its step size and has no settings but the shared ones. */
template <class Integrator>
class ConstraintIntegratorProxy : public OpenMM::SerializationProxy {
public:
    explicit ConstraintIntegratorProxy(const std::string& type) : SerializationProxy(type) {
    }
    void serialize(const void* object, OpenMM::SerializationNode& node) const override {
        node.setIntProperty("version", Version);
        writeShared(*static_cast<const Integrator*>(object), node);
    }
    void* deserialize(const OpenMM::SerializationNode& node) const override {
        requireVersion(node, getTypeName(), Version);
        auto integrator = std::make_unique<Integrator>(readProperty<double>(node, "stepSize"));
        readShared(*integrator, node);
        return integrator.release();
    }

private:
    static const int Version = 1;
};

} // namespace ConstraintPlugin

#endif
