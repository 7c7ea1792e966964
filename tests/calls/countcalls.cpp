// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// A library for LD_PRELOAD that notes what OpenMM asks of OpenCL and CUDA and passes it on: see calls.h. It needs no
// header of theirs: arguments that are only passed on are pointers or integers.
#include "calls.h"
#include <atomic>
#include <cstddef>
#include <dlfcn.h>
#include <mutex>
#include <stdexcept>
#include <string>

namespace {

std::mutex lock;
std::string calls;
std::atomic<long> numObjects{0};

void record(const std::string& call) {
    std::lock_guard<std::mutex> guard(lock);
    calls += call + "\n";
}

/** The real function. Its library is loaded by a plugin of OpenMM, whose symbols RTLD_NEXT does not see. */
template <class Function>
Function* real(const char* library, const char* name, Function*) {
    void* handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
    auto* found = handle == nullptr ? nullptr : (Function*) dlsym(handle, name);
    if (found == nullptr)
        throw std::runtime_error(std::string(library) + " has no " + name);
    return found;
}
#define REAL(library, function)                                                                                        \
    ([] {                                                                                                              \
        static auto* const found = real(library, #function, &function);                                                \
        return found;                                                                                                  \
    }())
#define OPENCL(function) REAL("libOpenCL.so.1", function)
#define CUDA(function) REAL("libcuda.so.1", function)

} // namespace

extern "C" {

const char* takeCalls() {
    static std::string taken;
    std::lock_guard<std::mutex> guard(lock);
    taken.swap(calls);
    calls.clear();
    return taken.c_str();
}

long objectsInUse() {
    return numObjects;
}

// ---- OpenCL
// -----------------------------------------------------------------------------------------------------------

int clGetKernelInfo(void* kernel, unsigned what, size_t size, void* value, size_t* needed) {
    return OPENCL(clGetKernelInfo)(kernel, what, size, value, needed);
}
int clEnqueueNDRangeKernel(void* queue, void* kernel, unsigned dimensions, const size_t* offset, const size_t* size,
                           const size_t* group, unsigned numEvents, void* events, void* event) {
    char name[256] = "?";
    const unsigned functionName = 0x1190; // CL_KERNEL_FUNCTION_NAME
    clGetKernelInfo(kernel, functionName, sizeof(name), name, nullptr);
    record(std::string("launch ") + name);
    return OPENCL(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, size, group, numEvents, events, event);
}
int clEnqueueReadBuffer(void* queue, void* buffer, unsigned blocking, size_t offset, size_t size, void* host,
                        unsigned numEvents, void* events, void* event) {
    if (blocking)
        record("wait clEnqueueReadBuffer");
    return OPENCL(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size, host, numEvents, events, event);
}
int clEnqueueWriteBuffer(void* queue, void* buffer, unsigned blocking, size_t offset, size_t size, const void* host,
                         unsigned numEvents, void* events, void* event) {
    if (blocking)
        record("wait clEnqueueWriteBuffer");
    return OPENCL(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, host, numEvents, events, event);
}
void* clEnqueueMapBuffer(void* queue, void* buffer, unsigned blocking, unsigned long flags, size_t offset, size_t size,
                         unsigned numEvents, void* events, void* event, int* error) {
    if (blocking)
        record("wait clEnqueueMapBuffer");
    return OPENCL(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, size, numEvents, events, event, error);
}
int clFinish(void* queue) {
    record("wait clFinish");
    return OPENCL(clFinish)(queue);
}
int clWaitForEvents(unsigned numEvents, void* events) {
    record("wait clWaitForEvents");
    return OPENCL(clWaitForEvents)(numEvents, events);
}

/** What makes an object, and what counts its owners. */
#define MAKES(function, PARAMETERS, ...)                                                                               \
    void* function PARAMETERS {                                                                                        \
        void* object = OPENCL(function)(__VA_ARGS__);                                                                  \
        numObjects += object != nullptr;                                                                               \
        return object;                                                                                                 \
    }
#define COUNTS_OWNERS(OBJECT)                                                                                          \
    int clRetain##OBJECT(void* object) {                                                                               \
        numObjects++;                                                                                                  \
        return OPENCL(clRetain##OBJECT)(object);                                                                       \
    }                                                                                                                  \
    int clRelease##OBJECT(void* object) {                                                                              \
        numObjects--;                                                                                                  \
        return OPENCL(clRelease##OBJECT)(object);                                                                      \
    }
MAKES(clCreateBuffer, (void* context, unsigned long flags, size_t size, void* host, int* error), context, flags, size,
      host, error)
void* clCreateProgramWithSource(void* context, unsigned count, const char** text, const size_t* size, int* error) {
    record("program clCreateProgramWithSource");
    void* object = OPENCL(clCreateProgramWithSource)(context, count, text, size, error);
    numObjects += object != nullptr;
    return object;
}
MAKES(clCreateKernel, (void* program, const char* name, int* error), program, name, error)
MAKES(clCreateCommandQueue, (void* context, void* device, unsigned long properties, int* error), context, device,
      properties, error)
COUNTS_OWNERS(MemObject)
COUNTS_OWNERS(Program)
COUNTS_OWNERS(Kernel)
COUNTS_OWNERS(CommandQueue)

// ---- CUDA
// -------------------------------------------------------------------------------------------------------------

int cuFuncGetName(const char** name, void* function) {
    return CUDA(cuFuncGetName)(name, function);
}
int cuLaunchKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned shared, void* stream, void** arguments, void** extra) {
    const char* name = "?";
    cuFuncGetName(&name, function);
    record(std::string("launch ") + name);
    return CUDA(cuLaunchKernel)(function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream, arguments,
                                extra);
}
int cuLaunchCooperativeKernel(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                              unsigned blockY, unsigned blockZ, unsigned shared, void* stream, void** arguments) {
    const char* name = "?";
    cuFuncGetName(&name, function);
    record(std::string("launch ") + name);
    return CUDA(cuLaunchCooperativeKernel)(function, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, stream,
                                           arguments);
}
int cuModuleLoad(void** module, const char* path) {
    const int result = CUDA(cuModuleLoad)(module, path);
    if (result == 0) // OpenMM tries its cache first
        record("program cuModuleLoad");
    return result;
}
int cuModuleLoadDataEx(void** module, const void* image, unsigned numOptions, void* options, void** values) {
    record("program cuModuleLoadDataEx");
    return CUDA(cuModuleLoadDataEx)(module, image, numOptions, options, values);
}
int cuMemAlloc_v2(size_t* array, size_t size) {
    numObjects++;
    return CUDA(cuMemAlloc_v2)(array, size);
}
int cuMemFree_v2(size_t array) {
    numObjects--;
    return CUDA(cuMemFree_v2)(array);
}
int cuMemcpyHtoD_v2(size_t to, const void* from, size_t size) {
    record("wait cuMemcpyHtoD");
    return CUDA(cuMemcpyHtoD_v2)(to, from, size);
}
int cuMemcpyDtoH_v2(void* to, size_t from, size_t size) {
    record("wait cuMemcpyDtoH");
    return CUDA(cuMemcpyDtoH_v2)(to, from, size);
}
int cuStreamSynchronize(void* stream) {
    record("wait cuStreamSynchronize");
    return CUDA(cuStreamSynchronize)(stream);
}
int cuEventSynchronize(void* event) {
    record("wait cuEventSynchronize");
    return CUDA(cuEventSynchronize)(event);
}
int cuCtxSynchronize() {
    record("wait cuCtxSynchronize");
    return CUDA(cuCtxSynchronize)();
}

} // extern "C"
