// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Launches: kernels of the stand-in for NVRTC run, of others it is noted that they would.
#include "Driver.h"
#include "Recorder.h"
#include <algorithm>
#include <cstring>

using namespace FakeDriver;

namespace {

constexpr int defaultSharedMemory = 48 << 10; // bytes of a block

struct Shape {
    unsigned int blocks, threads, shared;
    bool isCooperative;
};

/** The values of arguments, which a launch copies: the host may change its own at once. */
class Arguments {
public:
    Arguments(const Function& function, void** given) {
        constexpr std::size_t unit = 32; // the largest alignment
        std::size_t size = 0;
        for (const Parameter& parameter : function.parameters)
            size += (parameter.size + unit - 1) / unit * unit;
        bytes.resize(size + unit);
        char* place = bytes.data() + (unit - (std::uintptr_t) bytes.data() % unit) % unit;
        for (std::size_t i = 0; i < function.parameters.size(); i++) {
            const std::size_t ofThis = function.parameters[i].size;
            std::memcpy(place, given[i], ofThis);
            pointers.push_back(place);
            place += (ofThis + unit - 1) / unit * unit;
        }
    }
    Arguments(const Arguments&) = delete;
    void** all() {
        return pointers.data();
    }

private:
    std::vector<char> bytes;
    std::vector<void*> pointers;
};

/** OpenMM's copyFloatBuffer and copyDoubleBuffer: by them it sets positions and velocities, which the host side of an
 *  integrator may read again. */
template <class Real>
void copyCoordinates(void** arguments) {
    const Real* source = *(const Real**) arguments[0];
    Real* destination = *(Real**) arguments[1];
    for (int i = 0; i < *(const int*) arguments[2]; i++)
        for (int k = 0; k < 3; k++)
            destination[4 * i + k] = source[3 * i + k];
}

CUresult run(const Function& function, void** arguments, const Shape& shape) {
    if (function.emulated != nullptr) {
        Emulator::log("ran " + function.name);
        Recorder::beforeLaunch({*function.emulated, function.library, arguments, shape.blocks, shape.threads,
                                shape.shared, shape.isCooperative});
        const int limit = function.dynamicLimit ? sharedMemory() : defaultSharedMemory;
        const std::string problem = Emulator::run({*function.emulated, arguments, shape.blocks, shape.threads,
                                                   shape.shared, shape.isCooperative, (std::size_t) limit});
        Recorder::afterLaunch();
        return problem.empty() ? CUDA_SUCCESS : refuse(CUDA_ERROR_LAUNCH_FAILED, function.name + ": " + problem);
    }
    if (function.name == "copyFloatBuffer")
        copyCoordinates<float>(arguments);
    if (function.name == "copyDoubleBuffer")
        copyCoordinates<double>(arguments);
    return CUDA_SUCCESS;
}

CUresult requireArguments(const Context& context, const Function& function, void** arguments) {
    for (std::size_t i = 0; i < function.parameters.size(); i++) {
        const std::string which = function.name + ": argument " + std::to_string(i);
        if (arguments == nullptr || arguments[i] == nullptr)
            return refuse(CUDA_ERROR_INVALID_VALUE,
                          which + " of " + std::to_string(function.parameters.size()) + " was not given");
        if (!function.parameters[i].isPointer)
            continue;
        CUdeviceptr p;
        std::memcpy(&p, arguments[i], sizeof(p));
        if (p == 0)
            continue;
        const Context* const owner = ownerOf(p, 1);
        if (owner != &context) // CUDA says so when the kernel has run
            return refuse(CUDA_ERROR_ILLEGAL_ADDRESS,
                          which + (owner == nullptr ? " does not point to device memory"
                                                    : " points to the memory of another context"));
    }
    return CUDA_SUCCESS;
}

CUresult launch(Context& context, CUfunction handle, const Shape& shape, CUstream streamHandle, void** arguments) {
    const auto* const known = (const Function*) handle;
    if (const CUresult result = requireOwn(context, known, "a launch", "function"); result != CUDA_SUCCESS)
        return result;
    const Function& function = *known;
    Stream* const stream = streamOf(context, streamHandle, "a launch");
    if (stream == nullptr)
        return CUDA_ERROR_INVALID_HANDLE;
    const auto dynamicLimit = (unsigned int) function.dynamicLimit.value_or(defaultSharedMemory);
    if (shape.blocks == 0 || shape.threads == 0 || shape.threads > 1024 || shape.shared > dynamicLimit)
        return refuse(CUDA_ERROR_INVALID_VALUE, function.name + " is launched with " + std::to_string(shape.blocks) +
                                                    " blocks of " + std::to_string(shape.threads) + " threads and " +
                                                    std::to_string(shape.shared) + " bytes, of which it may have " +
                                                    std::to_string(dynamicLimit));
    if (shape.isCooperative) { // blocks that wait for each other have to be on the device at once
        const int room = (sharedMemory() + reservedSharedMemory) / ((int) shape.shared + reservedSharedMemory),
                  together = std::min(function.together, room);
        if (shape.blocks > (unsigned int) (together * multiprocessors()))
            return refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                          function.name + ": more blocks than " + std::to_string(together) + " on each multiprocessor");
        record("cooperative " + std::to_string(shape.blocks));
    }
    if (const CUresult result = requireArguments(context, function, arguments); result != CUDA_SUCCESS)
        return result;
    record("launch " + function.name);
    const auto values = std::make_shared<Arguments>(function, arguments);
    enqueue(*stream, [&function, values, shape] { return run(function, values->all(), shape); });
    return context.failure;
}

} // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,
                        unsigned int blockY, unsigned int blockZ, unsigned int shared, CUstream stream,
                        void** arguments, void**) {
    return inCurrent("cuLaunchKernel", [&](Context& context) {
        return launch(context, f, {gridX * gridY * gridZ, blockX * blockY * blockZ, shared, false}, stream, arguments);
    });
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                                   unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int shared,
                                   CUstream stream, void** arguments) {
    return inCurrent("cuLaunchCooperativeKernel", [&](Context& context) {
        return launch(context, f, {gridX * gridY * gridZ, blockX * blockY * blockZ, shared, true}, stream, arguments);
    });
}

} // extern "C"
