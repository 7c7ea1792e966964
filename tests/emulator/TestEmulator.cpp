// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The emulator itself: kernels of a few lines, right and wrong ones.
#include "support/Variable.h"
#include <cstring>
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/** A function of the stand-ins for the driver and for NVRTC, which OpenMM's CUDA platform has loaded. */
template <class Function>
Function* find(const char* library, const char* name) {
    void* handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);
    auto* found = handle == nullptr ? nullptr : (Function*) dlsym(handle, name);
    if (found == nullptr)
        throw std::runtime_error(std::string(library) + " has no " + name +
                                 ": let LD_LIBRARY_PATH lead to the emulator");
    return found;
}
#define NAME_OF(function) #function // cuda.h defines some as macros
#define DRIVER(function) find<decltype(function)>("libcuda.so.1", NAME_OF(function))
#define NVRTC(Type, function) find<Type>("libnvrtc.so.13", #function)

/** A kernel in a context of its own: after one has failed, its context is of no use. */
class Kernel {
public:
    /** @param text  of a kernel with the name test and one argument, int* numbers */
    explicit Kernel(const std::string& text) {
        void* program;
        NVRTC(int(void**, const char*, const char*, int, const char**, const char**), nvrtcCreateProgram)
        (&program, text.c_str(), nullptr, 0, nullptr, nullptr);
        if (NVRTC(int(void*, int, const char**), nvrtcCompileProgram)(program, 0, nullptr) != 0)
            throw std::runtime_error("not compiled: " + text);
        std::size_t size;
        NVRTC(int(void*, std::size_t*), nvrtcGetPTXSize)(program, &size);
        std::vector<char> ptx(size);
        NVRTC(int(void*, char*), nvrtcGetPTX)(program, ptx.data());
        NVRTC(int(void**), nvrtcDestroyProgram)(&program);
        CUctxCreateParams parameters{};
        DRIVER(cuCtxCreate)(&context, &parameters, 0, 0);
        CUmodule module;
        if (DRIVER(cuModuleLoadDataEx)(&module, ptx.data(), 0, nullptr, nullptr) != CUDA_SUCCESS ||
            DRIVER(cuModuleGetFunction)(&function, module, "test") != CUDA_SUCCESS)
            throw std::runtime_error("not loaded: " + text);
    }
    ~Kernel() {
        DRIVER(cuCtxDestroy)(context);
    }
    Kernel(const Kernel&) = delete;
    struct Outcome {
        CUresult result;
        std::vector<int> numbers;
        std::string message;
    };
    Outcome launch(int numBlocks, int blockSize, bool isCooperative = false, int sharedBytes = 0) {
        CUdeviceptr array;
        const std::size_t bytes = maxNumbers * sizeof(int);
        DRIVER(cuMemAlloc)(&array, bytes);
        Outcome outcome;
        outcome.numbers.resize(maxNumbers, -1);
        DRIVER(cuMemcpyHtoD)(array, outcome.numbers.data(), bytes);
        void* arguments[] = {&array};
        testing::internal::CaptureStderr();
        outcome.result = isCooperative ? DRIVER(cuLaunchCooperativeKernel)(function, numBlocks, 1, 1, blockSize, 1, 1,
                                                                           sharedBytes, nullptr, arguments)
                                       : DRIVER(cuLaunchKernel)(function, numBlocks, 1, 1, blockSize, 1, 1, sharedBytes,
                                                                nullptr, arguments, nullptr);
        if (outcome.result == CUDA_SUCCESS)
            outcome.result = DRIVER(cuCtxSynchronize)();
        outcome.message = testing::internal::GetCapturedStderr();
        DRIVER(cuMemcpyDtoH)(outcome.numbers.data(), array, bytes);
        EXPECT_EQ(DRIVER(cuMemFree)(array), CUDA_SUCCESS);
        return outcome;
    }

private:
    static constexpr int maxNumbers = 4096;
    CUcontext context;
    CUfunction function;
};

const std::string begin = "extern \"C\" __global__ void test(int* numbers) {\n";

/** @return the first so many numbers */
std::vector<int> firstOf(const Kernel::Outcome& outcome, int count) {
    return {outcome.numbers.begin(), outcome.numbers.begin() + count};
}

void expectFailure(const std::string& text, const std::string& message, bool isCooperative = false) {
    const Kernel::Outcome outcome = Kernel(begin + text).launch(2, 64, isCooperative);
    EXPECT_EQ(outcome.result, CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(outcome.message.find("test: " + message), std::string::npos) << outcome.message;
}

} // namespace

TEST(Emulator, RunsEveryThreadOnce) {
    Kernel kernel(begin + "const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "numbers[i] = numbers[i] + 1 + i + 1000 * gridDim.x; }\n");
    std::vector<int> expected(300);
    std::iota(expected.begin(), expected.end(), 3000);
    const Kernel::Outcome outcome = kernel.launch(3, 100);
    EXPECT_EQ(outcome.result, CUDA_SUCCESS);
    EXPECT_EQ(firstOf(outcome, 300), expected);
    EXPECT_EQ(outcome.numbers[300], -1);
}

TEST(Emulator, GivesEveryBlockMemoryOfItsOwn) {
    Kernel kernel(begin + "extern __shared__ int dynamic[]; __shared__ int there[64]; const int i = threadIdx.x;\n"
                          "there[i] = i; dynamic[63 - i] = 100 * blockIdx.x; __syncthreads();\n"
                          "numbers[64 * blockIdx.x + i] = there[63 - i] + dynamic[i]; }\n");
    const Kernel::Outcome outcome = kernel.launch(2, 64, false, 64 * sizeof(int));
    EXPECT_EQ(outcome.result, CUDA_SUCCESS);
    EXPECT_EQ(outcome.numbers[0], 63);
    EXPECT_EQ(outcome.numbers[64 + 3], 60 + 100);
}

/** 48 KB for both, unless the host has asked for more. */
TEST(Emulator, CountsDeclaredMemoryWithTheRest) {
    Kernel kernel(begin +
                  "extern __shared__ int dynamic[]; __shared__ int there[12000];\n"
                  "there[threadIdx.x] = dynamic[threadIdx.x] = 3; numbers[threadIdx.x] = there[threadIdx.x]; }\n");
    EXPECT_EQ(kernel.launch(1, 64, false, 288 * sizeof(int)).result, CUDA_SUCCESS);
    const Kernel::Outcome outcome = kernel.launch(1, 64, false, 289 * sizeof(int));
    EXPECT_EQ(outcome.result, CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_NE(outcome.message.find("test: a block has 49156 bytes of shared memory, more than 49152"),
              std::string::npos)
        << outcome.message;
}

TEST(Emulator, AddsAtomically) {
    const Kernel::Outcome outcome =
        Kernel(begin + "atomicAdd(numbers, 2); atomicMin(numbers + 1, -7); }").launch(2, 64);
    EXPECT_EQ(outcome.numbers[0], 2 * 128 - 1);
    EXPECT_EQ(outcome.numbers[1], -7);
}

TEST(Emulator, ExchangesValuesInAWarp) {
    Kernel kernel(begin + "const int i = threadIdx.x, lane = i % 32;\n"
                          "numbers[i] = __shfl_sync(0xffffffff, i, lane ^ 1);\n"
                          "numbers[64 + i] = __shfl_up_sync(0xffffffff, i, 2);\n"
                          "numbers[128 + i] = (int) __ballot_sync(0xffffffff, lane < 4); }\n");
    const Kernel::Outcome outcome = kernel.launch(1, 64);
    EXPECT_EQ(outcome.numbers[40], 41);
    EXPECT_EQ(outcome.numbers[64 + 40], 38);
    EXPECT_EQ(outcome.numbers[64 + 33], 33);
    EXPECT_EQ(outcome.numbers[128 + 40], 15);
}

/** Blocks that wait for each other in a loop, as ours do. */
TEST(Emulator, RunsAllBlocksOfACooperativeLaunchAtOnce) {
    const std::string text = begin + "volatile int* arrived = numbers; if (threadIdx.x == 0) { atomicAdd(numbers, 1);\n"
                                     "while (*arrived < (int) gridDim.x - 1) __threadfence(); } __syncthreads();\n"
                                     "if (threadIdx.x == 1) numbers[1 + blockIdx.x] = *arrived; }\n";
    const Kernel::Outcome outcome = Kernel(text).launch(3, 64, true);
    EXPECT_EQ(outcome.result, CUDA_SUCCESS);
    EXPECT_EQ(firstOf(outcome, 4), std::vector<int>({2, 2, 2, 2}));
    EXPECT_EQ(Kernel(text).launch(100, 64, true).result, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    // One after the other, the first would wait for ever.
    EXPECT_EQ(Kernel(text).launch(3, 64, false).result, CUDA_ERROR_LAUNCH_FAILED);
}

/** As on a large device: more threads than Linux allows mappings, with a guard at each stack. */
TEST(Emulator, HasStacksForAllThreadsOfALargeDevice) {
    const ConstraintTests::Variable multiprocessors("FAKECUDA_MULTIPROCESSORS", "140");
    const Kernel::Outcome outcome =
        Kernel(begin + "atomicAdd(numbers, 1); __syncthreads(); }\n").launch(140, 256, true);
    EXPECT_EQ(outcome.result, CUDA_SUCCESS);
    EXPECT_EQ(outcome.numbers[0], 140 * 256 - 1);
}

TEST(Emulator, NamesAThreadWhoseStackOverflows) {
    expectFailure("if (threadIdx.x == 5) { volatile char much[256 * 1024 - 4096];\n"
                  "for (int i = 0; i < (int) sizeof(much); i++) much[i] = 1; } }\n",
                  "a thread needs more stack than the emulator has");
}

TEST(Emulator, NamesTheLineWhereThreadsWaitForOthersThatEnded) {
    expectFailure("if (threadIdx.x < 5)\n__syncthreads();\n}\n",
                  "threads wait in line 3 for 59 others that have ended");
}

TEST(Emulator, NamesTheLinesWhereThreadsOfABlockWait) {
    expectFailure("if (threadIdx.x < 5)\n__syncthreads();\nelse\n__syncthreads();\n}\n",
                  "threads of a block wait in different lines, 3 and 5");
}

TEST(Emulator, EndsWhatWouldWaitForEver) {
    expectFailure("volatile int* number = numbers; while (*number != 7) __threadfence(); }\n",
                  "threads wait for each other for ever", true);
}

/** As CUDA does, whose context is of no use then. What releases something succeeds. */
TEST(Emulator, RefusesAllElseAfterAKernelFailed) {
    Kernel kernel(begin + "if (threadIdx.x < 5) __syncthreads(); }\n");
    EXPECT_EQ(kernel.launch(1, 64).result, CUDA_ERROR_LAUNCH_FAILED);
    CUdeviceptr array;
    CUstream stream;
    EXPECT_EQ(DRIVER(cuMemAlloc)(&array, 16), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(DRIVER(cuStreamCreate)(&stream, 0), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(Kernel(begin + "numbers[0] = 7; }\n").launch(1, 1).numbers[0], 7); // in another context
}
