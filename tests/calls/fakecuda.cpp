// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// A stand-in for NVIDIA's driver (libcuda.so.1): OpenMM's CUDA platform starts without a GPU, and NVRTC compiles every
// kernel with OpenMM's real options. There is one device, whose memory is the host's. Copies are real; kernels are
// looked up, their launches checked and noted, but not run. With the stand-in for NVRTC (tests/emulator), which
// compiles kernels for the host, they are run.
//
// Variables of the environment: FAKECUDA_CAPABILITY is the compute capability, times 10 (90), FAKECUDA_MULTIPROCESSORS
// how many there are (8), FAKECUDA_BLOCK how many threads a block may have (1024), FAKECUDA_DRIVER the CUDA version
// that the driver is for (13000: 13.0); like a real one it refuses PTX of a newer NVRTC. EMULATOR_LOG is a file for the
// names of all kernels that modules have ("has") and that were run ("ran"). FAKECUDA_RECORD: see Recorder.h.
#include "Modules.h"
#include "Recorder.h"
#include "calls.h"
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <fstream>
#include <iomanip>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Parameter {
    size_t size;
    bool pointer;
};
constexpr int defaultSharedMemory = 48 << 10; // bytes of a block
constexpr int maxTogether = 8;                // of what is emulated, which says nothing of launch bounds
struct Function {
    std::string name, library; // of a kernel that the stand-in for NVRTC compiled
    std::vector<Parameter> parameters;
    std::optional<int> dynamicLimit; // bytes of shared memory that it asked for; else declared ones count, too
    int together = maxTogether;      // blocks for which a multiprocessor has registers, by the launch bounds
    const Emulator::Kernel* emulated = nullptr;
};
struct Module {
    std::map<std::string, Function> functions;
};

std::mutex lock; // OpenMM may call from several threads
std::map<std::uintptr_t, size_t> allocations, pinned;
std::vector<std::unique_ptr<Module>> modules;
std::string calls, folder;
thread_local std::vector<CUcontext> contexts;

/** For handles of things that need no state. */
template <class Handle>
Handle newHandle() {
    static std::uintptr_t last = 0x1000;
    return (Handle) (last += 16);
}

void record(const std::string& call) {
    std::lock_guard<std::mutex> guard(lock);
    calls += call + "\n";
    Recorder::note(call);
}

CUresult refuse(CUresult result, const std::string& why) {
    std::fprintf(stderr, "fakecuda: %s\n", why.c_str());
    return result;
}

bool within(const std::map<std::uintptr_t, size_t>& blocks, std::uintptr_t p, size_t size) {
    auto next = blocks.upper_bound(p);
    if (next == blocks.begin())
        return false;
    const auto& [start, length] = *--next;
    return p + size <= start + length;
}
bool onDevice(CUdeviceptr p, size_t size) {
    std::lock_guard<std::mutex> guard(lock);
    return within(allocations, p, size) || within(pinned, p, size);
}
bool isPinned(const void* p, size_t size) {
    std::lock_guard<std::mutex> guard(lock);
    return within(pinned, (std::uintptr_t) p, size);
}

CUresult allocate(std::map<std::uintptr_t, size_t>& blocks, void** p, size_t size) {
    if (size == 0)
        return refuse(CUDA_ERROR_INVALID_VALUE, "memory of no size was asked for");
    *p = Recorder::isSet() ? Recorder::allocate(size) : std::malloc(size);
    if (*p == nullptr)
        return CUDA_ERROR_OUT_OF_MEMORY;
    std::memset(*p, Emulator::conditions().fill, size);
    std::lock_guard<std::mutex> guard(lock);
    blocks[(std::uintptr_t) *p] = size;
    return CUDA_SUCCESS;
}
CUresult release(std::map<std::uintptr_t, size_t>& blocks, std::uintptr_t p) {
    std::lock_guard<std::mutex> guard(lock);
    if (p != 0 && blocks.erase(p) == 0)
        return refuse(CUDA_ERROR_INVALID_VALUE, "memory is released that was not allocated");
    if (!Recorder::isSet())
        std::free((void*) p);
    return CUDA_SUCCESS;
}

CUresult copy(CUdeviceptr device, void* to, const void* from, size_t size) {
    if (!onDevice(device, size))
        return refuse(CUDA_ERROR_INVALID_VALUE, "a copy of " + std::to_string(size) + " bytes leaves device memory");
    std::memmove(to, from, size);
    return CUDA_SUCCESS;
}

int fromEnvironment(const char* name, int otherwise) {
    const char* wanted = std::getenv(name);
    return wanted == nullptr ? otherwise : std::atoi(wanted);
}
int capability() {
    return fromEnvironment("FAKECUDA_CAPABILITY", 90);
}
int driverVersion() {
    return fromEnvironment("FAKECUDA_DRIVER", 13000);
}
int multiprocessors() {
    return fromEnvironment("FAKECUDA_MULTIPROCESSORS", 8);
}

/** Bytes that a block may have at most: of an A100, a GeForce, and an H100. */
int sharedMemory() {
    switch (capability()) {
    case 80:
    case 87:
        return 163 * 1024;
    case 86:
    case 89:
    case 120:
        return 99 * 1024;
    default:
        return 227 * 1024;
    }
}

/** Of a block, for the driver. */
constexpr int reservedSharedMemory = 1024;

/** "(.param .u64 .ptr .align 1 name, .param .align 16 .b8 name[32])" */
std::vector<Parameter> readParameters(const std::string& text) {
    static const std::regex declaration(R"(\.param([^,)]*))"), type(R"(\.[a-z](\d+)\b)"), array(R"(\[(\d+)\])");
    std::vector<Parameter> parameters;
    for (std::sregex_iterator each(text.begin(), text.end(), declaration), end; each != end; ++each) {
        const std::string words = (*each)[1];
        std::smatch match;
        size_t size = 0;
        if (std::regex_search(words, match, type))
            size = std::stoul(match[1]) / 8;
        if (std::regex_search(words, match, array))
            size *= std::stoul(match[1]);
        parameters.push_back({size, words.find(".ptr") != std::string::npos});
    }
    return parameters;
}

/** Whether a driver for this version of CUDA is too old for PTX that begins with a line as ".version 9.0": that of
 * NVRTC 13.0. Since then both have the same minor version; there is no PTX of its own for CUDA 12.6. */
bool isTooNew(const std::string& ptx) {
    static const std::regex version(R"(\.version\s+(\d+)\.(\d+))");
    const int major = driverVersion() / 1000, minor = driverVersion() % 1000 / 10;
    std::smatch found;
    return std::regex_search(ptx, found, version) &&
           std::pair(std::stoi(found[1]), std::stoi(found[2])) >
               std::pair(major - 4, minor - (major == 12 && minor >= 6 ? 1 : 0));
}

/** The text under a name made from itself, so that a module appears once however often it is loaded. */
void keep(const std::string& ptx) {
    if (folder.empty())
        return;
    std::uint64_t hash = 14695981039346656037u; // FNV-1a
    for (unsigned char c : ptx)
        hash = (hash ^ c) * 1099511628211u;
    std::ostringstream name;
    name << folder << "/" << std::hex << std::setw(16) << std::setfill('0') << hash << ".ptx";
    std::ofstream(name.str()) << ptx;
}

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

CUresult load(CUmodule* result, const std::string& ptx) {
    if (isTooNew(ptx))
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    static const std::regex entry(R"(\.entry\s+(\w+)\s*(\([^)]*\))?([^{]*))"), bounds(R"(\.minnctapersm\s+(\d+))");
    auto module = std::make_unique<Module>();
    if (Emulator::isModule(ptx)) {
        const Emulator::Kernel* kernel = Emulator::loadKernels(ptx);
        for (; kernel != nullptr && kernel->name != nullptr; kernel++) {
            Function& function = module->functions[kernel->name];
            function.name = kernel->name;
            function.emulated = kernel;
            function.library = Emulator::libraryOf(ptx);
            for (int i = 0; i < kernel->numParameters; i++)
                function.parameters.push_back({0, kernel->isPointer[i]});
        }
    } else
        for (std::sregex_iterator each(ptx.begin(), ptx.end(), entry), end; each != end; ++each) {
            Function& function = module->functions[(*each)[1]];
            function.name = (*each)[1];
            function.parameters = readParameters((*each)[2]);
            const std::string directives = (*each)[3];
            std::smatch found;
            function.together = std::regex_search(directives, found, bounds) ? std::stoi(found[1]) : 1;
        }
    if (module->functions.empty())
        return refuse(CUDA_ERROR_INVALID_PTX, "a module has no kernel");
    keep(ptx);
    std::lock_guard<std::mutex> guard(lock);
    *result = (CUmodule) module.get();
    modules.push_back(std::move(module));
    return CUDA_SUCCESS;
}

} // namespace

extern "C" {

// ---- what tests ask
// ---------------------------------------------------------------------------------------------------

const char* takeCalls() {
    static std::string taken;
    std::lock_guard<std::mutex> guard(lock);
    taken.swap(calls);
    calls.clear();
    return taken.c_str();
}

long objectsInUse() {
    std::lock_guard<std::mutex> guard(lock);
    return (long) allocations.size();
}

void keepModules(const char* path) {
    folder = path;
}

void recordLaunches(int isWanted) {
    Recorder::start(isWanted != 0);
}

void emulateWith(unsigned int order, unsigned char fill) {
    Emulator::conditions() = {order, fill};
}

// ---- device and contexts
// ----------------------------------------------------------------------------------------------

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
        *value = fromEnvironment("FAKECUDA_BLOCK", 1024);
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
CUresult cuCtxEnablePeerAccess(CUcontext, unsigned int) {
    return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
}
// cuda.h names the newest form by a macro, and older ones are called by older OpenMMs.
#undef cuCtxCreate
CUresult cuCtxCreate_v2(CUcontext* context, unsigned int, CUdevice) {
    contexts.push_back(*context = newHandle<CUcontext>());
    return CUDA_SUCCESS;
}
CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams*, unsigned int flags, CUdevice device) {
    return cuCtxCreate_v2(context, flags, device);
}
CUresult cuCtxDestroy(CUcontext) {
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
    contexts.push_back(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
    if (contexts.empty())
        return refuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    *context = contexts.back();
    contexts.pop_back();
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
    if (!contexts.empty())
        contexts.pop_back();
    contexts.push_back(context);
    return CUDA_SUCCESS;
}
CUresult cuCtxSetCacheConfig(CUfunc_cache) {
    return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
    record("wait cuCtxSynchronize");
    return CUDA_SUCCESS;
}
CUresult cuProfilerStop() {
    return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult result, const char** name) {
    static thread_local std::string text;
    text = result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
                                                        : "error " + std::to_string(result) + " of the fake driver";
    *name = text.c_str();
    return CUDA_SUCCESS;
}
// NVRTC and the CUDA runtime ask for undocumented tables, and do without them.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

// ---- memory
// -----------------------------------------------------------------------------------------------------------

CUresult cuMemAlloc(CUdeviceptr* p, size_t size) {
    return allocate(allocations, (void**) p, size);
}
CUresult cuMemFree(CUdeviceptr p) {
    return release(allocations, p);
}
CUresult cuMemHostAlloc(void** p, size_t size, unsigned int) {
    return allocate(pinned, p, size);
}
CUresult cuMemFreeHost(void* p) {
    return release(pinned, (std::uintptr_t) p);
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* host, unsigned int) {
    *device = (CUdeviceptr) host;
    return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t size) {
    record("wait cuMemcpyHtoD");
    return copy(to, (void*) to, from, size);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t size, CUstream) {
    return copy(to, (void*) to, from, size);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t size) {
    record("wait cuMemcpyDtoH");
    return copy(from, to, (const void*) from, size);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t size, CUstream) {
    if (!isPinned(to, size))
        record("wait cuMemcpyDtoHAsync to pageable memory");
    return copy(from, to, (const void*) from, size);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream) {
    return onDevice(from, size) ? copy(to, (void*) to, (const void*) from, size) : copy(from, nullptr, nullptr, size);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return cuMemcpyDtoDAsync(to, from, size, stream);
}

// ---- streams and events
// -----------------------------------------------------------------------------------------------

CUresult cuStreamCreate(CUstream* stream, unsigned int) {
    *stream = newHandle<CUstream>();
    return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream) {
    return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream) {
    record("wait cuStreamSynchronize");
    return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned int) {
    return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned int) {
    *event = newHandle<CUevent>();
    return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent) {
    return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent, CUstream) {
    Recorder::note("record cuEventRecord"); // a later wait is for what was launched before
    return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent) {
    record("wait cuEventSynchronize");
    return CUDA_SUCCESS;
}

// ---- modules and kernels
// ----------------------------------------------------------------------------------------------

CUresult cuModuleLoad(CUmodule* module, const char* path) {
    std::ifstream file(path);
    if (!file)
        return CUDA_ERROR_FILE_NOT_FOUND; // OpenMM tries its cache first
    record("program cuModuleLoad");
    std::ostringstream text;
    text << file.rdbuf();
    return load(module, text.str());
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*, void**) {
    record("program cuModuleLoadDataEx");
    return load(module, (const char*) image);
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    auto& functions = ((Module*) module)->functions;
    auto found = functions.find(name);
    if (found == functions.end())
        return refuse(CUDA_ERROR_NOT_FOUND, std::string("the module has no kernel ") + name);
    *function = (CUfunction) &found->second;
    return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        return refuse(CUDA_ERROR_INVALID_VALUE, "unknown function attribute " + std::to_string(attribute));
    *value = 1024;
    return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value > sharedMemory())
        return refuse(CUDA_ERROR_INVALID_VALUE,
                      "function attribute " + std::to_string(attribute) + " of " + std::to_string(value));
    ((Function*) function)->dynamicLimit = value;
    return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
    *name = ((const Function*) function)->name.c_str();
    return CUDA_SUCCESS;
}
/** By launch bounds, which a multiprocessor has registers for, and by shared memory, without arrays of declared size.
 */
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int, size_t shared) {
    *blocks = std::min(((const Function*) function)->together,
                       (sharedMemory() + reservedSharedMemory) / ((int) shared + reservedSharedMemory));
    return CUDA_SUCCESS;
}
static CUresult launch(CUfunction f, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,
                       unsigned int blockY, unsigned int blockZ, unsigned int shared, void** arguments,
                       bool isCooperative) {
    const Function& function = *(const Function*) f;
    const unsigned int threads = blockX * blockY * blockZ;
    const int dynamicLimit = function.dynamicLimit.value_or(defaultSharedMemory);
    if (gridX * gridY * gridZ == 0 || threads == 0 || threads > 1024 || shared > (unsigned int) dynamicLimit)
        return refuse(CUDA_ERROR_INVALID_VALUE, function.name + " is launched with " + std::to_string(gridX) +
                                                    " blocks of " + std::to_string(threads) + " threads and " +
                                                    std::to_string(shared) + " bytes");
    for (size_t i = 0; i < function.parameters.size(); i++) {
        if (arguments[i] == nullptr)
            return refuse(CUDA_ERROR_INVALID_VALUE, function.name + " has no argument " + std::to_string(i));
        if (!function.parameters[i].pointer)
            continue;
        CUdeviceptr p;
        std::memcpy(&p, arguments[i], sizeof(p));
        if (p != 0 && !onDevice(p, 1))
            return refuse(CUDA_ERROR_ILLEGAL_ADDRESS,
                          function.name + ": argument " + std::to_string(i) + " does not point to device memory");
    }
    record("launch " + function.name);
    if (function.emulated != nullptr) {
        Emulator::log("ran " + function.name);
        const unsigned int blocks = gridX * gridY * gridZ;
        Recorder::beforeLaunch(
            {*function.emulated, function.library, arguments, blocks, threads, shared, isCooperative});
        const int limit = function.dynamicLimit ? sharedMemory() : defaultSharedMemory;
        const std::string problem =
            Emulator::run({*function.emulated, arguments, blocks, threads, shared, isCooperative, (size_t) limit});
        Recorder::afterLaunch();
        return problem.empty() ? CUDA_SUCCESS : refuse(CUDA_ERROR_LAUNCH_FAILED, function.name + ": " + problem);
    }
    if (function.name == "copyFloatBuffer")
        copyCoordinates<float>(arguments);
    if (function.name == "copyDoubleBuffer")
        copyCoordinates<double>(arguments);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,
                        unsigned int blockY, unsigned int blockZ, unsigned int shared, CUstream, void** arguments,
                        void**) {
    return launch(f, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, arguments, false);
}

/** Blocks that wait for each other have to be on the device at once. */
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                                   unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int shared,
                                   CUstream, void** arguments) {
    int together = 0;
    cuOccupancyMaxActiveBlocksPerMultiprocessor(&together, f, (int) blockX, shared);
    if (gridX * gridY * gridZ > (unsigned int) (together * multiprocessors()))
        return refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
                      "more blocks than " + std::to_string(together) + " on each multiprocessor");
    {
        std::lock_guard<std::mutex> guard(lock);
        calls += "cooperative " + std::to_string(gridX * gridY * gridZ) + "\n";
    }
    return launch(f, gridX, gridY, gridZ, blockX, blockY, blockZ, shared, arguments, true);
}

} // extern "C"
