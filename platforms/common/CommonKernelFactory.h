// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_COMMON_KERNEL_FACTORY_H_
#define CONSTRAINTS_COMMON_KERNEL_FACTORY_H_

#include "CommonMTSSteps.h"
#include "CommonRattleNoseHooverStep.h"
#include "CommonSolveKernel.h"
#include "OpenMMSeries.h"
#include "SystemChecks.h"
#include "openmm/KernelFactory.h"
#include "openmm/OpenMMException.h"
#include "openmmconstraints/Integrators.h"

namespace ConstraintPlugin {

/** Makes the step kernels on OpenCL or CUDA: platforms whose PlatformData has contexts. */
template <class PlatformData, class PlatformDevice>
class CommonKernelFactory : public OpenMM::KernelFactory {
public:
    OpenMM::KernelImpl* createKernelImpl(std::string name, const OpenMM::Platform& platform,
                                         OpenMM::ContextImpl& context) const override {
        requireOpenMMSeries();
        // All data of the kernels are on the first device, even if several devices compute forces.
        auto device =
            std::make_unique<PlatformDevice>(*static_cast<PlatformData*>(context.getPlatformData())->contexts[0]);
        if (name == SolveConstraintsKernel::Name())
            return new CommonSolveKernel(name, platform, context, std::move(device));
        if (areAllOurs(context.getIntegrator()))
            solveByOwnIntegrator(context);
#define CREATE(step)                                                                                                   \
    if (name == "Integrate" #step "Step")                                                                              \
        return new Common##step##Step(name, platform, context, std::move(device));
        CONSTRAINT_STEPS(CREATE)
#undef CREATE
        throw OpenMM::OpenMMException("Tried to create kernel with illegal kernel name '" + name + "'");
    }
    /** Add the kernels to the platform of that name. It is no error if OpenMM lacks this platform: its library may be
     *  installed on a machine that does not support it. */
    static void registerWith(const std::string& platformName) {
        for (int i = 0; i < OpenMM::Platform::getNumPlatforms(); i++) {
            OpenMM::Platform& platform = OpenMM::Platform::getPlatform(i);
            if (platform.getName() != platformName)
                continue;
            for (const StepScheme& scheme : stepSchemes()) // the platform owns them
                platform.registerKernelFactory(scheme.kernelName, new CommonKernelFactory());
            platform.registerKernelFactory(SolveConstraintsKernel::Name(), new CommonKernelFactory());
        }
    }
};

} // namespace ConstraintPlugin

#endif
