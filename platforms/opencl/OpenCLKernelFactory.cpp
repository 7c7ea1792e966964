// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonKernelFactory.h"
#include "openmm/opencl/OpenCLContext.h"
#include "openmm/opencl/OpenCLPlatform.h"

namespace ConstraintPlugin {

class OpenCLDevice : public Device {
public:
    explicit OpenCLDevice(OpenMM::OpenCLContext& cl) : cl(cl) {
    }
    OpenMM::ComputeContext& context() override {
        return cl;
    }
    std::size_t sharedMemory() override {
        return cl.getDevice().getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
    }
    std::size_t memory() override {
        return cl.getDevice().getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
    }
    std::size_t largestArray() override {
        return cl.getDevice().getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
    }
    int largestBlock() override {
        return (int) cl.getDevice().getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>();
    }
    OpenMM::ComputeProgram compile(const std::string& text, std::size_t, bool) override {
        return cl.compileProgram(text); // which declares all of its shared memory
    }

private:
    OpenMM::OpenCLContext& cl;
};

} // namespace ConstraintPlugin

extern "C" void registerPlatforms() {
}

extern "C" void registerKernelFactories() {
    using namespace ConstraintPlugin;
    CommonKernelFactory<OpenMM::OpenCLPlatform::PlatformData, OpenCLDevice>::registerWith("OpenCL");
}
