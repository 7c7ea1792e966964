// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Modules: PTX, or libraries of the stand-in for NVRTC, and their kernels.
#include "Driver.h"
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <regex>
#include <sstream>
#include <utility>

using namespace FakeDriver;

namespace {

std::string folder;

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

void readEmulated(Module& module, const std::string& ptx) {
    const Emulator::Kernel* kernel = Emulator::loadKernels(ptx);
    for (; kernel != nullptr && kernel->name != nullptr; kernel++) {
        Function& function = module.functions.try_emplace(kernel->name, module.context).first->second;
        function.name = kernel->name;
        function.emulated = kernel;
        function.library = Emulator::libraryOf(ptx);
        for (int i = 0; i < kernel->numParameters; i++)
            function.parameters.push_back({kernel->size[i], kernel->isPointer[i]});
    }
}

void readPtx(Module& module, const std::string& ptx) {
    static const std::regex entry(R"(\.entry\s+(\w+)\s*(\([^)]*\))?([^{]*))"), bounds(R"(\.minnctapersm\s+(\d+))");
    for (std::sregex_iterator each(ptx.begin(), ptx.end(), entry), end; each != end; ++each) {
        Function& function = module.functions.try_emplace((*each)[1], module.context).first->second;
        function.name = (*each)[1];
        function.parameters = readParameters((*each)[2]);
        const std::string directives = (*each)[3];
        std::smatch found;
        function.together = std::regex_search(directives, found, bounds) ? std::stoi(found[1]) : 1;
    }
}

CUresult load(Context& context, CUmodule* result, const std::string& ptx) {
    if (isTooNew(ptx))
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    auto module = std::make_unique<Module>(context);
    if (Emulator::isModule(ptx))
        readEmulated(*module, ptx);
    else
        readPtx(*module, ptx);
    if (module->functions.empty())
        return refuse(CUDA_ERROR_INVALID_PTX, "a module has no kernel");
    keep(ptx);
    know(module.get());
    for (const auto& [name, function] : module->functions)
        know(&function);
    *result = (CUmodule) module.get();
    context.modules.push_back(std::move(module));
    return CUDA_SUCCESS;
}

} // namespace

namespace FakeDriver {

void keepModules(const std::string& path) {
    folder = path;
}

} // namespace FakeDriver

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char* path) {
    return inCurrent("cuModuleLoad", [&](Context& context) {
        std::ifstream file(path);
        if (!file)
            return CUDA_ERROR_FILE_NOT_FOUND; // OpenMM tries its cache first
        record("program cuModuleLoad");
        std::ostringstream text;
        text << file.rdbuf();
        return load(context, module, text.str());
    });
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*, void**) {
    return inCurrent("cuModuleLoadDataEx", [&](Context& context) {
        record("program cuModuleLoadDataEx");
        return load(context, module, (const char*) image);
    });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
    return inCurrent("cuModuleGetFunction", [&](Context& context) {
        auto* const module = (Module*) handle;
        if (const CUresult result = requireOwn(context, module, "cuModuleGetFunction", "module");
            result != CUDA_SUCCESS)
            return result;
        const auto found = module->functions.find(name);
        if (found == module->functions.end())
            return refuse(CUDA_ERROR_NOT_FOUND, std::string("the module has no kernel ") + name);
        *function = (CUfunction) &found->second;
        return CUDA_SUCCESS;
    });
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    return inCurrent("cuFuncGetAttribute", [&](Context& context) {
        if (attribute != CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
            return refuse(CUDA_ERROR_INVALID_VALUE, "unknown function attribute " + std::to_string(attribute));
        *value = 1024;
        return requireOwn(context, (Function*) function, "cuFuncGetAttribute", "function");
    });
}
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    return inCurrent("cuFuncSetAttribute", [&](Context& context) {
        auto* const function = (Function*) handle;
        if (const CUresult result = requireOwn(context, function, "cuFuncSetAttribute", "function");
            result != CUDA_SUCCESS)
            return result;
        if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 || value > sharedMemory())
            return refuse(CUDA_ERROR_INVALID_VALUE,
                          "function attribute " + std::to_string(attribute) + " of " + std::to_string(value));
        function->dynamicLimit = value;
        return CUDA_SUCCESS;
    });
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
    const Guard guard(lock);
    *name = ((const Function*) function)->name.c_str();
    return CUDA_SUCCESS;
}
/** By launch bounds, which a multiprocessor has registers for, and by shared memory, without arrays of declared size.
 */
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int, size_t shared) {
    return inCurrent("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&](Context& context) {
        const auto* const function = (const Function*) handle;
        const CUresult result =
            requireOwn(context, function, "cuOccupancyMaxActiveBlocksPerMultiprocessor", "function");
        if (result == CUDA_SUCCESS)
            *blocks = std::min(function->together,
                               (sharedMemory() + reservedSharedMemory) / ((int) shared + reservedSharedMemory));
        return result;
    });
}

} // extern "C"
