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

/** The settings that one integrator has besides: none, unless specialized (OwnSettings.h). */
template <class Integrator>
struct OwnSettings {
    static void write(const Integrator&, OpenMM::SerializationNode&) {
    }
    /** @return an integrator with its own settings and its step size */
    static std::unique_ptr<Integrator> read(const OpenMM::SerializationNode& node) {
        return std::make_unique<Integrator>(readProperty<double>(node, "stepSize"));
    }
};

/** Serves any ConstraintIntegrator. */
template <class Integrator>
class ConstraintIntegratorProxy : public OpenMM::SerializationProxy {
public:
    explicit ConstraintIntegratorProxy(const std::string& type) : SerializationProxy(type) {
    }
    void serialize(const void* object, OpenMM::SerializationNode& node) const override {
        const Integrator& integrator = *static_cast<const Integrator*>(object);
        node.setIntProperty("version", Version);
        writeShared(integrator, node);
        OwnSettings<Integrator>::write(integrator, node);
    }
    void* deserialize(const OpenMM::SerializationNode& node) const override {
        requireVersion(node, getTypeName(), Version);
        auto integrator = OwnSettings<Integrator>::read(node);
        readShared(*integrator, node);
        return integrator.release();
    }

private:
    static const int Version = 1;
};

} // namespace ConstraintPlugin

#endif
