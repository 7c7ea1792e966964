// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForceProxy.h"
#include "CustomConstraintForceProxy.h"
#include "OwnSettings.h"
#include "openmmconstraints/ConstraintForce.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include "openmmconstraints/Integrators.h"
#include <typeinfo>

using namespace ConstraintPlugin;
using OpenMM::SerializationProxy;

template <class Integrator>
static void registerIntegrator(const std::string& name) {
    SerializationProxy::registerProxy(typeid(Integrator), new ConstraintIntegratorProxy<Integrator>(name));
}

/** Runs when the library is loaded, after libOpenMM's own initialization, on which it depends. */
extern "C" __attribute__((constructor)) void registerConstraintSerializationProxies() {
    SerializationProxy::registerProxy(typeid(ConstraintForce), new ConstraintForceProxy());
    SerializationProxy::registerProxy(typeid(CustomConstraintForce), new CustomConstraintForceProxy());
#define REGISTER(integrator) registerIntegrator<integrator>(#integrator);
    CONSTRAINT_INTEGRATORS(REGISTER)
#undef REGISTER
}
