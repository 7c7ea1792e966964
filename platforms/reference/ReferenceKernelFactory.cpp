// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PoolRunner.h"
#include "ReferenceSteps.h"
#include "openmm/KernelFactory.h"
#include "openmm/OpenMMException.h"
#include "openmm/reference/ReferencePlatform.h"

using namespace OpenMM;

namespace ConstraintPlugin {

/** On Reference, everything is solved by the readable solvers; on CPU, by the fast ones, on as many threads as its
 * forces use. */
static std::shared_ptr<TaskRunner> makeRunner(const Platform& platform, ContextImpl& context) {
    if (platform.getName() == "Reference")
        return nullptr;
    int numThreads = 1;
    for (const std::string& property : platform.getPropertyNames())
        if (property == "Threads")
            numThreads = std::stoi(platform.getPropertyValue(context.getOwner(), property));
    return std::make_shared<PoolRunner>(numThreads);
}

class ReferenceKernelFactory : public KernelFactory {
public:
    KernelImpl* createKernelImpl(std::string name, const Platform& platform, ContextImpl& context) const override {
        if (name == IntegrateRattleStepName)
            return new ReferenceRattleStep(name, platform, makeRunner(platform, context));
        if (name == IntegrateShakeStepName)
            return new ReferenceShakeStep(name, platform, makeRunner(platform, context));
        if (name == IntegrateRattleLangevinStepName)
            return new ReferenceRattleLangevinStep(name, platform, makeRunner(platform, context));
        if (name == IntegrateGeodesicLangevinStepName)
            return new ReferenceGeodesicLangevinStep(name, platform, makeRunner(platform, context));
        if (name == IntegrateRattleNoseHooverStepName)
            return new ReferenceRattleNoseHooverStep(name, platform, makeRunner(platform, context));
        if (name == IntegrateConstraintForceStepName)
            return new ReferenceConstraintForceStep(name, platform, nullptr); // no stage of it is for distances alone
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
        // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks)
        for (const ConstraintPlugin::StepScheme& scheme : ConstraintPlugin::stepSchemes())
            platform.registerKernelFactory(scheme.kernelName, factory);
    }
}
