// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceSteps.h"
#include "openmm/KernelFactory.h"
#include "openmm/OpenMMException.h"
#include "openmm/reference/ReferencePlatform.h"

using namespace OpenMM;

namespace ConstraintPlugin {

class ReferenceKernelFactory : public KernelFactory {
public:
    KernelImpl* createKernelImpl(std::string name, const Platform& platform, ContextImpl&) const override {
        if (name == IntegrateRattleStepName)
            return new ReferenceRattleStep(name, platform);
        if (name == IntegrateShakeStepName)
            return new ReferenceShakeStep(name, platform);
        if (name == IntegrateRattleLangevinStepName)
            return new ReferenceRattleLangevinStep(name, platform);
        if (name == IntegrateConstraintForceStepName)
            return new ReferenceConstraintForceStep(name, platform);
        throw OpenMMException("Tried to create kernel with illegal kernel name '" + name + "'");
    }
};

} // namespace ConstraintPlugin

extern "C" void registerPlatforms() {
}

/** One factory serves Reference and CPU, which is derived from it. */
extern "C" void registerKernelFactories() {
    for (int i = 0; i < Platform::getNumPlatforms(); i++) {
        Platform& platform = Platform::getPlatform(i);
        if (dynamic_cast<ReferencePlatform*>(&platform) == nullptr)
            continue;
        auto* factory = new ConstraintPlugin::ReferenceKernelFactory(); // the platforms own it, one each
        for (const ConstraintPlugin::StepScheme& scheme : ConstraintPlugin::stepSchemes())
            platform.registerKernelFactory(scheme.kernelName, factory);
    }
}
