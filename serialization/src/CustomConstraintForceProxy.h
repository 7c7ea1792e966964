// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CUSTOM_CONSTRAINT_FORCE_PROXY_H_
#define OPENMM_CONSTRAINTS_CUSTOM_CONSTRAINT_FORCE_PROXY_H_

#include "openmm/serialization/SerializationProxy.h"

namespace ConstraintPlugin {

/** Writes and reads a CustomConstraintForce: force group, name, periodic flag, expression, parameters, tables and every
 *  constraint. */
class CustomConstraintForceProxy : public OpenMM::SerializationProxy {
public:
    CustomConstraintForceProxy() : SerializationProxy("CustomConstraintForce") {
    }
    void serialize(const void* object, OpenMM::SerializationNode& node) const override;
    void* deserialize(const OpenMM::SerializationNode& node) const override;
};

} // namespace ConstraintPlugin

#endif
