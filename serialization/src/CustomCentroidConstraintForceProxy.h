// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CUSTOM_CENTROID_CONSTRAINT_FORCE_PROXY_H_
#define OPENMM_CONSTRAINTS_CUSTOM_CENTROID_CONSTRAINT_FORCE_PROXY_H_

#include "openmm/serialization/SerializationProxy.h"

namespace ConstraintPlugin {

/** Writes and reads a CustomCentroidConstraintForce: force group, name, periodic flag, expression, parameters, tables,
 *  groups and every constraint. */
class CustomCentroidConstraintForceProxy : public OpenMM::SerializationProxy {
public:
    CustomCentroidConstraintForceProxy() : SerializationProxy("CustomCentroidConstraintForce") {
    }
    void serialize(const void* object, OpenMM::SerializationNode& node) const override;
    void* deserialize(const OpenMM::SerializationNode& node) const override;
};

} // namespace ConstraintPlugin

#endif
