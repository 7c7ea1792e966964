// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Memory of the device is the host's. Addresses tell the context that memory belongs to ("unified addressing"), so that
// copies, and releases, may be made while another context is current; kernels see the memory of their own context only.
#include "Driver.h"
#include "Recorder.h"
#include <cstdlib>
#include <cstring>

using namespace FakeDriver;

namespace {

struct Block {
    std::size_t size;
    Context* owner;
};
using Blocks = std::map<std::uintptr_t, Block>;
Blocks onDevice, pinned;
long abandoned = 0; // arrays on the device that went with their context

const Block* within(const Blocks& blocks, std::uintptr_t p, std::size_t size) {
    auto next = blocks.upper_bound(p);
    if (next == blocks.begin())
        return nullptr;
    const auto& [start, block] = *--next;
    return p + size <= start + block.size ? &block : nullptr;
}

bool isPinned(const void* p, std::size_t size) {
    return within(pinned, (std::uintptr_t) p, size) != nullptr;
}

CUresult allocate(Context& context, Blocks& blocks, void** p, std::size_t size, const char* call) {
    if (size == 0)
        return refuse(CUDA_ERROR_INVALID_VALUE, std::string(call) + ": memory of no size was asked for");
    *p = Recorder::isSet() ? Recorder::allocate(size) : std::malloc(size);
    if (*p == nullptr)
        return CUDA_ERROR_OUT_OF_MEMORY;
    std::memset(*p, Emulator::conditions().fill, size);
    blocks[(std::uintptr_t) *p] = {size, &context};
    return CUDA_SUCCESS;
}

void giveBack(std::uintptr_t p) {
    if (!Recorder::isSet())
        std::free((void*) p);
}

/** What may still use it runs before. */
CUresult release(Blocks& blocks, std::uintptr_t p, const char* call) {
    if (p == 0)
        return CUDA_SUCCESS;
    const auto found = blocks.find(p);
    if (found == blocks.end())
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      std::string(call) + ": memory is released that was not allocated, or was released before");
    runAll(*found->second.owner);
    blocks.erase(found);
    giveBack(p);
    return CUDA_SUCCESS;
}

CUresult requireOnDevice(CUdeviceptr p, std::size_t size, const char* call) {
    return ownerOf(p, size) != nullptr
               ? CUDA_SUCCESS
               : refuse(CUDA_ERROR_INVALID_VALUE, std::string(call) + ": a copy of " + std::to_string(size) +
                                                      " bytes leaves an array on the device, or it was released");
}

/** A copy in a stream. Host memory is read or written when the stream has come to it: of what is not pinned, CUDA's
 *  documentation says that it "might" be copied before the call returns. */
CUresult copy(Context& context, CUstream stream, const char* call, void* to, const void* from, std::size_t size,
              std::initializer_list<CUdeviceptr> devices) {
    for (CUdeviceptr p : devices)
        if (const CUresult result = requireOnDevice(p, size, call); result != CUDA_SUCCESS)
            return result;
    Stream* const queue = streamOf(context, stream, call);
    if (queue == nullptr)
        return CUDA_ERROR_INVALID_HANDLE;
    enqueue(*queue, [to, from, size] {
        std::memmove(to, from, size);
        return CUDA_SUCCESS;
    });
    return context.failure;
}

/** The same, and wait for it. It is in the default stream. */
CUresult copyAndWait(Context& context, const char* call, void* to, const void* from, std::size_t size,
                     CUdeviceptr device) {
    CUresult result = copy(context, nullptr, call, to, from, size, {device});
    if (result == CUDA_SUCCESS)
        result = runAll(context.defaultStream);
    record(std::string("wait ") + call);
    return result;
}

} // namespace

namespace FakeDriver {

const Context* ownerOf(CUdeviceptr p, std::size_t size) {
    for (const Blocks* blocks : {&onDevice, &pinned})
        if (const Block* block = within(*blocks, p, size); block != nullptr)
            return block->owner;
    return nullptr;
}

void releaseAll(const Context& context) {
    for (Blocks* blocks : {&onDevice, &pinned})
        for (auto each = blocks->begin(); each != blocks->end();)
            if (each->second.owner == &context) {
                abandoned += blocks == &onDevice ? 1 : 0;
                giveBack(each->first);
                each = blocks->erase(each);
            } else
                ++each;
}

long arraysInUse() {
    const Guard guard(lock);
    return (long) onDevice.size() + abandoned;
}

} // namespace FakeDriver

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* p, std::size_t size) {
    return inCurrent("cuMemAlloc",
                     [&](Context& context) { return allocate(context, onDevice, (void**) p, size, "cuMemAlloc"); });
}
CUresult cuMemFree(CUdeviceptr p) {
    return releaseInCurrent("cuMemFree", [&](Context&) { return release(onDevice, p, "cuMemFree"); });
}
CUresult cuMemHostAlloc(void** p, std::size_t size, unsigned int) {
    return inCurrent("cuMemHostAlloc",
                     [&](Context& context) { return allocate(context, pinned, p, size, "cuMemHostAlloc"); });
}
CUresult cuMemFreeHost(void* p) {
    return releaseInCurrent("cuMemFreeHost",
                            [&](Context&) { return release(pinned, (std::uintptr_t) p, "cuMemFreeHost"); });
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned int) {
    return inCurrent("cuMemHostGetDevicePointer", [&](Context&) {
        if (!isPinned(host, 1))
            return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemHostGetDevicePointer: the memory is not pinned");
        *device = (CUdeviceptr) host;
        return CUDA_SUCCESS;
    });
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t size) {
    return inCurrent("cuMemcpyHtoD", [&](Context& context) {
        return copyAndWait(context, "cuMemcpyHtoD", (void*) to, from, size, to);
    });
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
    return inCurrent("cuMemcpyHtoDAsync", [&](Context& context) {
        return copy(context, stream, "cuMemcpyHtoDAsync", (void*) to, from, size, {to});
    });
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t size) {
    return inCurrent("cuMemcpyDtoH", [&](Context& context) {
        return copyAndWait(context, "cuMemcpyDtoH", to, (const void*) from, size, from);
    });
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
    return inCurrent("cuMemcpyDtoHAsync", [&](Context& context) {
        if (!isPinned(to, size))
            record("wait cuMemcpyDtoHAsync to pageable memory"); // which it may do, or not
        return copy(context, stream, "cuMemcpyDtoHAsync", to, (const void*) from, size, {from});
    });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
    return inCurrent("cuMemcpyDtoDAsync", [&](Context& context) {
        return copy(context, stream, "cuMemcpyDtoDAsync", (void*) to, (const void*) from, size, {to, from});
    });
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
    return cuMemcpyDtoDAsync(to, from, size, stream);
}

} // extern "C"
