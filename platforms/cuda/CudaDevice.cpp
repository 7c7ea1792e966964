// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CudaDevice.h"
#include "openmm/OpenMMException.h"
#include "openmm/common/ComputeArray.h"
#include "openmm/common/ContextSelector.h"
#include <array>
#include <cstring>
#include <deque>

namespace OpenMM {

/** OpenMM's kernel texts, which are in its library but not in its headers. */
class CudaKernelSources {
public:
    static const std::string vectorOps;
};

} // namespace OpenMM

using namespace OpenMM;

namespace ConstraintPlugin {

namespace {

void check(CudaContext& cu, CUresult result, const char* what) {
    if (result != CUDA_SUCCESS)
        throw OpenMMException(std::string("CUDA: ") + what + ": " + cu.getErrorString(result));
}

/** A kernel that is launched with dynamic shared memory, cooperatively, or with as many blocks as there is work for,
 * which OpenMM's kernels do not support: they have six blocks for each multiprocessor at most. If four of them fit
 * there, a third of the work is left for a second turn, in which half of the device idles. */
class OwnKernel : public ComputeKernelImpl {
public:
    OwnKernel(CudaContext& cu, CUfunction function, const std::string& name, std::size_t sharedBytes,
              bool isCooperative)
        : cu(cu), function(function), name(name), sharedBytes(sharedBytes), isCooperative(isCooperative) {
        check(cu, cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int) sharedBytes),
              "shared memory for a kernel");
    }
    std::string getName() const override {
        return name;
    }
    int getMaxBlockSize() const override {
        int size = 0;
        check(cu, cuFuncGetAttribute(&size, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function), "threads of a block");
        return size;
    }
    void execute(int threads, int blockSize) override {
        std::vector<void*> pointers;
        for (Argument& argument : arguments)
            pointers.push_back(argument.array != nullptr ? (void*) &argument.array->getDevicePointer()
                                                         : argument.bytes.data());
        pointers.push_back(nullptr); // the driver takes as many as the kernel has: one too few is no accident then
        const unsigned int blocks = (threads + blockSize - 1) / blockSize;
        const unsigned int bytes = (unsigned int) sharedBytes;
        const CUstream stream = cu.getCurrentStream();
        check(cu,
              isCooperative
                  ? cuLaunchCooperativeKernel(function, blocks, 1, 1, blockSize, 1, 1, bytes, stream, pointers.data())
                  : cuLaunchKernel(function, blocks, 1, 1, blockSize, 1, 1, bytes, stream, pointers.data(), nullptr),
              isCooperative ? "a cooperative launch" : "a launch");
    }

protected:
    void addArrayArg(ArrayInterface& value) override {
        addEmptyArg();
        setArrayArg((int) arguments.size() - 1, value);
    }
    void addPrimitiveArg(const void* value, int size) override {
        addEmptyArg();
        setPrimitiveArg((int) arguments.size() - 1, value, size);
    }
    void addEmptyArg() override {
        arguments.emplace_back();
    }
    void setArrayArg(int index, ArrayInterface& value) override {
        arguments.at(index).array = &cu.unwrap(value);
    }
    void setPrimitiveArg(int index, const void* value, int size) override {
        Argument& argument = arguments.at(index);
        if (size > (int) argument.bytes.size())
            throw OpenMMException("Unsupported value type for kernel argument");
        std::memcpy(argument.bytes.data(), value, size);
        argument.array = nullptr;
    }

private:
    struct Argument {
        CudaArray* array = nullptr; // or a number:
        alignas(16) std::array<char, 32> bytes{};
    };
    CudaContext& cu;
    CUfunction function;
    std::string name;
    std::size_t sharedBytes;
    bool isCooperative;
    std::deque<Argument> arguments;
};

class OwnProgram : public ComputeProgramImpl {
public:
    OwnProgram(CudaContext& cu, CUmodule module, std::size_t sharedBytes, bool isCooperative)
        : cu(cu), module(module), sharedBytes(sharedBytes), isCooperative(isCooperative) {
    }
    ComputeKernel createKernel(const std::string& name) override {
        return std::make_shared<OwnKernel>(cu, cu.getKernel(module, name), name, sharedBytes, isCooperative);
    }

private:
    CudaContext& cu;
    CUmodule module;
    std::size_t sharedBytes;
    bool isCooperative;
};

/** The copy goes to pinned memory: to other memory the driver would wait for it. */
class CudaPoll : public DevicePoll {
public:
    explicit CudaPoll(CudaContext& cu) : cu(cu) {
        check(cu, cuMemHostAlloc(&pinned, sizeof(std::array<int, 2>), 0), "pinned memory");
        check(cu, cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "an event");
    }
    CudaPoll(const CudaPoll&) = delete;
    CudaPoll& operator=(const CudaPoll&) = delete;
    ~CudaPoll() override {
        const ContextSelector selector(cu);
        cuEventSynchronize(event);
        cuEventDestroy(event);
        cuMemFreeHost(pinned);
    }

protected:
    void copy(ComputeArray& array) override {
        const CUstream stream = cu.getCurrentStream();
        check(cu, cuMemcpyDtoHAsync(pinned, cu.unwrap(array).getDevicePointer(), sizeof(std::array<int, 2>), stream),
              "reading failures");
        check(cu, cuEventRecord(event, stream), "an event");
    }
    bool isComplete() const override {
        const CUresult result = cuEventQuery(event);
        if (result != CUDA_ERROR_NOT_READY)
            check(cu, result, "an event");
        return result == CUDA_SUCCESS;
    }
    std::array<int, 2> values() const override {
        return *static_cast<const std::array<int, 2>*>(pinned);
    }

private:
    CudaContext& cu;
    void* pinned = nullptr;
    CUevent event = nullptr;
};

} // namespace

std::unique_ptr<DevicePoll> CudaDevice::makePoll() {
    return std::make_unique<CudaPoll>(cu);
}

int CudaDevice::attribute(CUdevice_attribute which) {
    int value = 0;
    check(cu, cuDeviceGetAttribute(&value, which, cu.getDevice()), "properties of the device");
    return value;
}

std::size_t CudaDevice::sharedMemory() {
    return attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
}

std::size_t CudaDevice::memory() {
    std::size_t bytes = 0;
    check(cu, cuDeviceTotalMem(&bytes, cu.getDevice()), "memory of the device");
    return bytes;
}

/** CUDA takes some of it for itself, for each block. */
int CudaDevice::blocksInSharedMemory(std::size_t bytes) {
    constexpr int unit = 256; // at most, of what is given to a block
    const int needed = (int) bytes + attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    return attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / (unit * ((needed + unit - 1) / unit));
}

int CudaDevice::largestBlock() {
    return attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

/** The launch bounds of the kernels ensure that one fits on a multiprocessor, or several where a launch has several
 *  times as many. A cooperative launch fails if not all of its blocks fit. */
int CudaDevice::cooperatingBlocks() {
    return attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) ? attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) : 1;
}

ComputeProgram CudaDevice::compile(const std::string& text, std::size_t sharedBytes, bool isCooperative) {
    return std::make_shared<OwnProgram>(cu, cu.createModule(CudaKernelSources::vectorOps + text), sharedBytes,
                                        isCooperative);
}

} // namespace ConstraintPlugin
