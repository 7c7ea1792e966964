// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonKernelFactory.h"
#include "openmm/opencl/OpenCLContext.h"
#include "openmm/opencl/OpenCLPlatform.h"

namespace ConstraintPlugin {

class OpenCLPoll : public DevicePoll {
public:
    explicit OpenCLPoll(OpenMM::OpenCLContext& cl) : cl(cl) {
    }
    ~OpenCLPoll() override {
        if (hasBegun)
            event.wait();
    }

protected:
    void copy(OpenMM::ComputeArray& array) override {
        cl.getQueue().enqueueReadBuffer(cl.unwrap(array).getDeviceBuffer(), CL_FALSE, 0, sizeof(copied), copied.data(),
                                        nullptr, &event);
        cl.getQueue().flush();
    }
    bool isComplete() const override {
        return event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE;
    }
    std::array<int, 2> values() const override {
        return copied;
    }

private:
    OpenMM::OpenCLContext& cl;
    cl::Event event;
    std::array<int, 2> copied{};
};

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
    std::unique_ptr<DevicePoll> makePoll() override {
        return std::make_unique<OpenCLPoll>(cl);
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
