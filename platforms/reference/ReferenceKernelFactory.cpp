// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "OpenMMSeries.h"
#include "PoolRunner.h"
#include "ReferenceMTSSteps.h"
#include "ReferenceSolveKernel.h"
#include "SystemChecks.h"
#include "openmm/KernelFactory.h"
#include "openmm/OpenMMException.h"
#include "openmm/reference/ReferencePlatform.h"
#include "openmmconstraints/Integrators.h"

using namespace OpenMM;

namespace ConstraintPlugin {

/** Reference uses the simple solvers for all clusters. CPU uses DistanceSolver, with as many threads as its forces
 * have. An explicit constraint force has no threads, nor have the loops of its step: DistanceSolver does not solve for
 * accelerations. */
static std::shared_ptr<TaskRunner> makeRunner(const std::string& kernelName, const Platform& platform,
                                              ContextImpl& context) {
    if (platform.getName() == "Reference" ||
        (kernelName != SolveConstraintsKernel::Name() && stepSchemeOf(kernelName).isExplicit))
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
        requireOpenMMSeries();
        if (name == SolveConstraintsKernel::Name())
            return new ReferenceSolveKernel(name, platform, makeRunner(name, platform, context));
        if (areAllOurs(context.getIntegrator()))
            solveByOwnIntegrator(context);
#define CREATE(step)                                                                                                   \
    if (name == "Integrate" #step "Step")                                                                              \
        return new Reference##step##Step(name, platform, makeRunner(name, platform, context));
        CONSTRAINT_STEPS(CREATE)
#undef CREATE
        throw OpenMMException("Tried to create kernel with illegal kernel name '" + name + "'");
    }
};

} // namespace ConstraintPlugin

extern "C" void registerPlatforms() {
}

/** One factory is for Reference and for CPU, which is derived from it. */
extern "C" void registerKernelFactories() {
    for (int i = 0; i < Platform::getNumPlatforms(); i++) {
        Platform& platform = Platform::getPlatform(i);
        if (dynamic_cast<ReferencePlatform*>(&platform) == nullptr)
            continue;
        for (const ConstraintPlugin::StepScheme& scheme : ConstraintPlugin::stepSchemes()) // the platform owns them
            platform.registerKernelFactory(scheme.kernelName, new ConstraintPlugin::ReferenceKernelFactory());
        platform.registerKernelFactory(ConstraintPlugin::SolveConstraintsKernel::Name(),
                                       new ConstraintPlugin::ReferenceKernelFactory());
    }
}
