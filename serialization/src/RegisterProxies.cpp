// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintForceProxy.h"
#include "CustomCentroidConstraintForceProxy.h"
#include "CustomConstraintForceProxy.h"
#include "OpenMMSeries.h"
#include "OwnSettings.h"
#include "openmmconstraints/ConstraintForce.h"
#include "openmmconstraints/CustomCentroidConstraintForce.h"
#include "openmmconstraints/CustomConstraintForce.h"
#include "openmmconstraints/Integrators.h"
#include <memory>
#include <typeinfo>

using namespace ConstraintPlugin;
using OpenMM::SerializationProxy;

/** Stands in for each of our proxies where OpenMM is of another series: XML cannot be read or written then. */
class RefusingProxy : public SerializationProxy {
public:
    explicit RefusingProxy(const std::string& typeName) : SerializationProxy(typeName) {
    }
    void serialize(const void*, OpenMM::SerializationNode&) const override {
        requireOpenMMSeries();
    }
    void* deserialize(const OpenMM::SerializationNode&) const override {
        requireOpenMMSeries();
        return nullptr;
    }
};

static void registerProxy(const std::type_info& type, std::unique_ptr<SerializationProxy> proxy) {
    if (!isOpenMMSeriesRight())
        proxy = std::make_unique<RefusingProxy>(proxy->getTypeName());
    SerializationProxy::registerProxy(type, proxy.release()); // which owns it
}

template <class Integrator>
static void registerIntegrator(const char* name) {
    registerProxy(typeid(Integrator), std::make_unique<ConstraintIntegratorProxy<Integrator>>(name));
}

/** Runs when the library is loaded, after libOpenMM's own initialization, on which it depends. */
extern "C" __attribute__((constructor)) void registerConstraintSerializationProxies() {
    registerProxy(typeid(ConstraintForce), std::make_unique<ConstraintForceProxy>());
    registerProxy(typeid(CustomCentroidConstraintForce), std::make_unique<CustomCentroidConstraintForceProxy>());
    registerProxy(typeid(CustomConstraintForce), std::make_unique<CustomConstraintForceProxy>());
#define REGISTER(integrator) registerIntegrator<integrator>(#integrator);
    CONSTRAINT_INTEGRATORS(REGISTER)
#undef REGISTER
}
