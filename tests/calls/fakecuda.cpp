// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// A stand-in for NVIDIA's driver (libcuda.so.1): OpenMM's CUDA platform starts without a GPU, and NVRTC compiles every
// kernel with OpenMM's real options. There is one device, whose memory is the host's. Copies are real; kernels are
// looked up, their launches checked and noted, but not run. With the stand-in for NVRTC (tests/emulator), which
// compiles kernels for the host, they are run. It refuses what the driver refuses, by the same codes, and says why on
// stderr (docs/gpu.md); Driver*.cpp are its parts.
//
// Variables of the environment: FAKECUDA_CAPABILITY is the compute capability, times 10 (90), FAKECUDA_MULTIPROCESSORS
// how many there are (8), FAKECUDA_BLOCK how many threads a block may have (1024), FAKECUDA_DRIVER the CUDA version
// that the driver is for (13000: 13.0); like a real one it refuses PTX of a newer NVRTC. EMULATOR_LOG is a file for the
// names of all kernels that modules have ("has") and that were run ("ran"). FAKECUDA_RECORD: see Recorder.h.
#include "Driver.h"
#include "Recorder.h"
#include "calls.h"
#include <cstdio>

using namespace FakeDriver;

extern "C" {

// ---- what tests ask

const char* takeCalls() {
    static std::string taken;
    const Guard guard(lock);
    taken = takeRecord();
    return taken.c_str();
}

long objectsInUse() {
    return arraysInUse();
}

void keepModules(const char* path) {
    FakeDriver::keepModules(path);
}

void recordLaunches(int isWanted) {
    Recorder::start(isWanted != 0);
}

void emulateWith(unsigned int order, unsigned char fill) {
    Emulator::conditions() = {order, fill};
}

// ---- the device

CUresult cuInit(unsigned int) {
    return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
    *version = driverVersion();
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
    *count = 1;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int) {
    *device = 0;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice) {
    std::snprintf(name, length, "fakecuda sm_%d", capability());
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = capability() / 10;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = capability() % 10;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = multiprocessors();
        break;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
        *value = 1;
        break;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = 1000000;
        break;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *value = 32;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
        *value = largestBlock();
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *value = 48 * 1024;
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *value = sharedMemory();
        break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        *value = sharedMemory() + reservedSharedMemory;
        break;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
        *value = reservedSharedMemory;
        break;
    default:
        return refuse(CUDA_ERROR_INVALID_VALUE, "unknown device attribute " + std::to_string(attribute));
    }
    return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) {
    *bytes = (size_t) 80 << 30;
    return CUDA_SUCCESS;
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
    *can = 0;
    return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult result, const char** name) {
    switch (result) {
#define NAME(code)                                                                                                     \
    case code:                                                                                                         \
        *name = #code;                                                                                                 \
        return CUDA_SUCCESS;
        NAME(CUDA_SUCCESS)
        NAME(CUDA_ERROR_INVALID_VALUE)
        NAME(CUDA_ERROR_OUT_OF_MEMORY)
        NAME(CUDA_ERROR_INVALID_CONTEXT)
        NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED)
        NAME(CUDA_ERROR_INVALID_PTX)
        NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        NAME(CUDA_ERROR_FILE_NOT_FOUND)
        NAME(CUDA_ERROR_INVALID_HANDLE)
        NAME(CUDA_ERROR_NOT_FOUND)
        NAME(CUDA_ERROR_ILLEGAL_ADDRESS)
        NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED)
        NAME(CUDA_ERROR_LAUNCH_FAILED)
        NAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
#undef NAME
    default:
        *name = nullptr;
        return CUDA_ERROR_INVALID_VALUE;
    }
}
// NVRTC and the CUDA runtime ask for undocumented tables, and do without them.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

} // extern "C"
