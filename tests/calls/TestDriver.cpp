// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The stand-in for NVIDIA's driver itself: what it refuses, and with which code, and when streams do their work.
#include <cstdlib>
#include <cuda.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

extern "C" CUresult cuProfilerStop();

namespace {

/** A context that is current on this thread, which it is alone. */
class Current {
public:
    Current() {
        CUctxCreateParams parameters{};
        EXPECT_EQ(cuCtxCreate(&context, &parameters, 0, 0), CUDA_SUCCESS);
    }
    ~Current() {
        destroy();
    }
    Current(const Current&) = delete;
    void destroy() {
        if (context != nullptr) {
            EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
        }
        context = nullptr;
    }
    CUcontext context = nullptr;
};

template <class Handle, class Make>
Handle made(Make make) {
    Handle handle{};
    EXPECT_EQ(make(&handle), CUDA_SUCCESS);
    return handle;
}
CUdeviceptr newArray(std::size_t size) {
    return made<CUdeviceptr>([&](CUdeviceptr* p) { return cuMemAlloc(p, size); });
}
CUstream newStream(unsigned int flags = CU_STREAM_NON_BLOCKING) {
    return made<CUstream>([&](CUstream* s) { return cuStreamCreate(s, flags); });
}
CUevent newEvent() {
    return made<CUevent>([](CUevent* e) { return cuEventCreate(e, 0); });
}
/** The kernel copies three floats of each of n particles to four; the stand-in does that, too. */
const char* const text = ".visible .entry copyFloatBuffer(.param .u64 .ptr .align 1 from,\n"
                         ".param .u64 .ptr .align 1 to, .param .u32 n) { }";
CUmodule newModule() {
    return made<CUmodule>([](CUmodule* m) { return cuModuleLoadDataEx(m, text, 0, nullptr, nullptr); });
}
CUfunction functionOf(CUmodule module) {
    return made<CUfunction>([&](CUfunction* f) { return cuModuleGetFunction(f, module, "copyFloatBuffer"); });
}
CUresult launch(CUfunction function, CUdeviceptr from, CUdeviceptr to, int n, CUstream stream = nullptr,
                unsigned int shared = 0) {
    void* arguments[] = {&from, &to, &n};
    return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, shared, stream, arguments, nullptr);
}
CUresult launchTogether(CUfunction function, int blocks) {
    CUdeviceptr none = 0;
    int n = 0;
    void* arguments[] = {&none, &none, &n};
    return cuLaunchCooperativeKernel(function, blocks, 1, 1, 32, 1, 1, 0, nullptr, arguments);
}
float firstOf(CUdeviceptr array) {
    float value = 0;
    EXPECT_EQ(cuMemcpyDtoH(&value, array, sizeof(value)), CUDA_SUCCESS);
    return value;
}

/** Every function that needs a current context, by its name. Handles and memory are of the context that was. */
std::vector<std::pair<std::string, std::function<CUresult()>>> callsInAContext() {
    static CUdeviceptr array;
    static float host[4];
    static void* pinned;
    static CUmodule module;
    static CUfunction function;
    static CUstream stream;
    static CUevent event;
    static int value;
    array = newArray(16);
    cuMemHostAlloc(&pinned, 16, 0);
    module = newModule();
    function = functionOf(module);
    stream = newStream();
    event = newEvent();
    static CUdeviceptr other;
    static CUmodule otherModule;
    static CUfunction otherFunction;
    static CUstream otherStream;
    static CUevent otherEvent;
    static void* otherPinned;
#define CALL(name, ...)                                                                                                \
    {                                                                                                                  \
#name, [] { return name(__VA_ARGS__); }                                                                        \
    }
    return {CALL(cuMemAlloc, &other, 16),
            CALL(cuMemFree, array),
            CALL(cuMemHostAlloc, &otherPinned, 16, 0),
            CALL(cuMemFreeHost, pinned),
            CALL(cuMemHostGetDevicePointer, &other, pinned, 0),
            CALL(cuMemcpyHtoD, array, host, 16),
            CALL(cuMemcpyHtoDAsync, array, host, 16, nullptr),
            CALL(cuMemcpyDtoH, host, array, 16),
            CALL(cuMemcpyDtoHAsync, host, array, 16, nullptr),
            CALL(cuMemcpyDtoDAsync, array, array, 16, nullptr),
            CALL(cuMemcpyAsync, array, array, 16, nullptr),
            CALL(cuStreamCreate, &otherStream, 0),
            CALL(cuStreamDestroy, stream),
            CALL(cuStreamSynchronize, stream),
            CALL(cuStreamWaitEvent, stream, event, 0),
            CALL(cuEventCreate, &otherEvent, 0),
            CALL(cuEventDestroy, event),
            CALL(cuEventRecord, event, stream),
            CALL(cuEventQuery, event),
            CALL(cuEventSynchronize, event),
            CALL(cuModuleLoad, &otherModule, "/dev/null"),
            CALL(cuModuleLoadDataEx, &otherModule, text, 0, nullptr, nullptr),
            CALL(cuModuleGetFunction, &otherFunction, module, "copyFloatBuffer"),
            CALL(cuFuncGetAttribute, &value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
            CALL(cuFuncSetAttribute, function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64),
            CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, &value, function, 32, 0),
            CALL(launch, function, array, array, 1),
            CALL(launchTogether, function, 1),
            CALL(cuCtxSetCacheConfig, CU_FUNC_CACHE_PREFER_SHARED),
            CALL(cuCtxSynchronize),
            CALL(cuProfilerStop)};
#undef CALL
}

} // namespace

TEST(Driver, NeedsACurrentContext) {
    const Current current;
    const auto calls = callsInAContext();
    CUcontext popped = nullptr;
    ASSERT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
    EXPECT_EQ(popped, current.context);
    for (const auto& [name, call] : calls)
        EXPECT_EQ(call(), CUDA_ERROR_INVALID_CONTEXT) << name;
}

TEST(Driver, KnowsAContextThatAnotherThreadDestroyed) {
    Current current;
    const auto calls = callsInAContext();
    std::thread([&] { current.destroy(); }).join();
    for (const auto& [name, call] : calls)
        EXPECT_EQ(call(), CUDA_ERROR_CONTEXT_IS_DESTROYED) << name;
    CUcontext popped = nullptr;
    EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
}

TEST(Driver, HasAStackOfContextsForEachThread) {
    CUcontext popped = nullptr, now = nullptr;
    EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
    Current first, second;
    cuCtxGetCurrent(&now);
    EXPECT_EQ(now, second.context);
    std::thread([] {
        CUcontext ofThread = nullptr;
        EXPECT_EQ(cuCtxPopCurrent(&ofThread), CUDA_ERROR_INVALID_CONTEXT);
    }).join();
    EXPECT_EQ(cuCtxPushCurrent(first.context), CUDA_SUCCESS);
    cuCtxPopCurrent(&popped);
    EXPECT_EQ(popped, first.context);
    EXPECT_EQ(cuCtxSetCurrent(first.context), CUDA_SUCCESS); // in place of the second
    EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
    cuCtxGetCurrent(&now);
    EXPECT_EQ(now, first.context);
    const CUcontext destroyed = second.context;
    second.destroy();
    EXPECT_EQ(cuCtxPushCurrent(destroyed), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxDestroy(destroyed), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPushCurrent((CUcontext) &now), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(Driver, RefusesWhatIsOfAnotherContext) {
    const Current first;
    const CUmodule module = newModule();
    const CUfunction function = functionOf(module);
    const CUstream stream = newStream();
    const CUevent event = newEvent();
    const CUdeviceptr array = newArray(64);
    CUfunction found;
    const auto expectRefused = [&] {
        int value;
        EXPECT_EQ(cuModuleGetFunction(&found, module, "copyFloatBuffer"), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
                  CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64),
                  CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(launch(function, 0, 0, 0), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(launchTogether(function, 1), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(cuEventDestroy(event), CUDA_ERROR_INVALID_HANDLE);
    };
    Current second;
    expectRefused();
    const CUfunction own = functionOf(newModule());
    EXPECT_EQ(launch(own, 0, 0, 0, stream), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(launch(own, array, array, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    // As CUDA's addresses tell the context: copies and waiting.
    EXPECT_EQ(firstOf(array), firstOf(array));
    EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamWaitEvent(newStream(), event, 0), CUDA_SUCCESS);
}

TEST(Driver, RefusesWhatIsOfADestroyedContext) {
    const Current current;
    Current destroyed;
    const CUmodule module = newModule();
    const CUfunction function = functionOf(module);
    const CUstream stream = newStream();
    const CUevent event = newEvent();
    const CUdeviceptr array = newArray(64);
    destroyed.destroy();
    CUfunction found;
    float host;
    EXPECT_EQ(cuModuleGetFunction(&found, module, "copyFloatBuffer"), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(launch(function, 0, 0, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuStreamWaitEvent(nullptr, event, 0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuMemcpyDtoH(&host, array, sizeof(host)), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemFree(array), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(launch(functionOf(newModule()), array, array, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(Driver, RefusesWhatWasReleased) {
    const Current current;
    const CUdeviceptr array = newArray(16);
    void* pinned = nullptr;
    cuMemHostAlloc(&pinned, 16, 0);
    const CUstream stream = newStream();
    const CUevent event = newEvent();
    for (const CUresult expected : {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE}) {
        EXPECT_EQ(cuMemFree(array), expected);
        EXPECT_EQ(cuMemFreeHost(pinned), expected);
    }
    for (const CUresult expected : {CUDA_SUCCESS, CUDA_ERROR_INVALID_HANDLE}) {
        EXPECT_EQ(cuStreamDestroy(stream), expected);
        EXPECT_EQ(cuEventDestroy(event), expected);
    }
    CUdeviceptr none;
    EXPECT_EQ(cuMemAlloc(&none, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST(Driver, RefusesCopiesBeyondAnArray) {
    const Current current;
    const CUdeviceptr array = newArray(16);
    char host[32] = {};
    EXPECT_EQ(cuMemcpyHtoD(array + 8, host, 8), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD(array + 8, host, 9), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyHtoDAsync(array, host, 17, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH(host, array, 17), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoHAsync(host, array, 17, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoDAsync(newArray(32), array, 17, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoDAsync(array, newArray(32), 17, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuMemcpyDtoH(host, (CUdeviceptr) host, 8), CUDA_ERROR_INVALID_VALUE);
}

TEST(Driver, RefusesLaunchesThatDoNotFit) {
    const Current current;
    const CUfunction function = functionOf(newModule());
    EXPECT_EQ(launch(function, 0, 0, 0, nullptr, 48 << 10), CUDA_SUCCESS);
    EXPECT_EQ(launch(function, 0, 0, 0, nullptr, (48 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
    const auto allow = [&](int bytes) {
        return cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
    };
    EXPECT_EQ(allow(100 << 10), CUDA_SUCCESS);
    EXPECT_EQ(launch(function, 0, 0, 0, nullptr, 100 << 10), CUDA_SUCCESS);
    EXPECT_EQ(launch(function, 0, 0, 0, nullptr, (100 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(allow(300 << 10), CUDA_ERROR_INVALID_VALUE); // no device has so much
    EXPECT_EQ(launchTogether(function, 8), CUDA_SUCCESS);  // one on each multiprocessor
    EXPECT_EQ(launchTogether(function, 9), CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    CUdeviceptr none = 0;
    void* tooFew[] = {&none, &none, nullptr};
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, tooFew, nullptr), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
    float host = 0;
    EXPECT_EQ(launch(function, (CUdeviceptr) &host, 0, 0), CUDA_ERROR_ILLEGAL_ADDRESS);
    CUfunction unknown;
    EXPECT_EQ(cuModuleGetFunction(&unknown, newModule(), "another"), CUDA_ERROR_NOT_FOUND);
}

/** What is copied without waiting is what the host has when somebody waits; values of arguments are those at the
 *  launch. */
TEST(Driver, ReadsTheHostAtTheNextSynchronization) {
    const Current current;
    const CUstream stream = newStream();
    const CUdeviceptr three = newArray(12), four = newArray(16);
    float host[3] = {1, 1, 1}, back = -1;
    EXPECT_EQ(cuMemcpyHtoDAsync(three, host, 12, stream), CUDA_SUCCESS);
    int n = 1;
    CUdeviceptr from = three, to = four;
    void* arguments[] = {&from, &to, &n};
    EXPECT_EQ(cuLaunchKernel(functionOf(newModule()), 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr), CUDA_SUCCESS);
    n = 1000;
    from = to = 0;
    EXPECT_EQ(cuMemcpyDtoHAsync(&back, four, sizeof(back), stream), CUDA_SUCCESS);
    host[0] = 2;
    EXPECT_EQ(back, -1);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(back, 2);
}

TEST(Driver, OrdersStreamsByEventsAndByTheDefaultStreamOnly) {
    const Current current;
    const CUdeviceptr array = newArray(4);
    const float zero = 0, values[] = {1, 2, 3, 4};
    const auto put = [&](const float& value, CUstream stream) {
        EXPECT_EQ(cuMemcpyHtoDAsync(array, &value, 4, stream), CUDA_SUCCESS);
    };
    const CUstream apart = newStream(), other = newStream(), waiting = newStream(CU_STREAM_DEFAULT);
    put(values[0], apart);
    EXPECT_EQ(cuMemcpyHtoD(array, &zero, 4), CUDA_SUCCESS); // does not wait for a stream apart
    EXPECT_EQ(firstOf(array), 0);
    EXPECT_EQ(cuStreamSynchronize(apart), CUDA_SUCCESS);
    EXPECT_EQ(firstOf(array), 1);
    put(values[1], waiting); // which the default stream waits for
    EXPECT_EQ(firstOf(array), 2);
    const CUevent event = newEvent();
    EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS); // nothing was recorded
    put(values[2], apart);
    EXPECT_EQ(cuEventRecord(event, apart), CUDA_SUCCESS);
    put(zero, apart);
    EXPECT_EQ(cuStreamWaitEvent(other, event, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
    EXPECT_EQ(firstOf(array), 3);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    EXPECT_EQ(firstOf(array), 0);
    put(values[3], apart);
    EXPECT_EQ(cuEventRecord(event, apart), CUDA_SUCCESS);
    EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
    EXPECT_EQ(firstOf(array), 4);
    put(zero, apart);
    EXPECT_EQ(cuEventRecord(event, apart), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(firstOf(array), 4);
    EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
    EXPECT_EQ(firstOf(array), 0);
}

TEST(Driver, NamesItsErrors) {
    const char* name = nullptr;
    EXPECT_EQ(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &name), CUDA_SUCCESS);
    EXPECT_EQ(std::string(name), "CUDA_ERROR_INVALID_CONTEXT");
    EXPECT_EQ(cuGetErrorName((CUresult) 12345, &name), CUDA_ERROR_INVALID_VALUE);
}

/** With AddressSanitizer (CMakeLists.txt), which ends the program. */
TEST(DriverMemory, DISABLED_IsReadAfterItWasFreed) {
    const Current current;
    const CUdeviceptr array = newArray(64);
    void* host = std::malloc(64);
    cuMemcpyHtoDAsync(array, host, 64, nullptr);
    std::free(host);
    cuCtxSynchronize();
}
