// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForceProxy.h"
#include "ConstraintIntegratorProxy.h"
#include "CustomConstraintForceProxy.h"
#include "RattleLangevinIntegratorProxy.h"
#include "openmmconstraints/ConstraintForce.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include "openmmconstraints/RattleIntegrator.h"
#include "openmmconstraints/RattleLangevinIntegrator.h"
#include "openmmconstraints/ShakeIntegrator.h"
#include <typeinfo>

using namespace ConstraintPlugin;
using OpenMM::SerializationProxy;

/** Runs when the library is loaded, after libOpenMM's own initialization, on which it depends. */
extern "C" __attribute__((constructor)) void registerConstraintSerializationProxies() {
    SerializationProxy::registerProxy(typeid(ConstraintForce), new ConstraintForceProxy());
    SerializationProxy::registerProxy(typeid(CustomConstraintForce), new CustomConstraintForceProxy());
    SerializationProxy::registerProxy(typeid(RattleIntegrator),
                                      new ConstraintIntegratorProxy<RattleIntegrator>("RattleIntegrator"));
    SerializationProxy::registerProxy(typeid(RattleLangevinIntegrator), new RattleLangevinIntegratorProxy());
    SerializationProxy::registerProxy(typeid(ShakeIntegrator),
                                      new ConstraintIntegratorProxy<ShakeIntegrator>("ShakeIntegrator"));
}
