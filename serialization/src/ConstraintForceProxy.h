// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_PROXY_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_PROXY_H_

#include "openmm/serialization/SerializationProxy.h"

namespace ConstraintPlugin {

/** Writes and reads a ConstraintForce: force group, name, periodic flag and every constraint. */
class ConstraintForceProxy : public OpenMM::SerializationProxy {
public:
    ConstraintForceProxy() : SerializationProxy("ConstraintForce") {
    }
    void serialize(const void* object, OpenMM::SerializationNode& node) const override;
    void* deserialize(const OpenMM::SerializationNode& node) const override;
};

} // namespace ConstraintPlugin

#endif
