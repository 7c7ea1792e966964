// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_RATTLE_LANGEVIN_INTEGRATOR_PROXY_H_
#define OPENMM_CONSTRAINTS_RATTLE_LANGEVIN_INTEGRATOR_PROXY_H_

#include "openmm/serialization/SerializationProxy.h"

namespace ConstraintPlugin {

/** Serves RattleLangevinIntegrator: the shared settings, temperature, friction and seed. */
class RattleLangevinIntegratorProxy : public OpenMM::SerializationProxy {
public:
    RattleLangevinIntegratorProxy();
    void serialize(const void* object, OpenMM::SerializationNode& node) const override;
    void* deserialize(const OpenMM::SerializationNode& node) const override;
};

} // namespace ConstraintPlugin

#endif
