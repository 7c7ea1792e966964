// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Modules.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <mutex>
#include <set>

namespace Emulator {

static const std::string mark = "emulated "; // of nvrtc.cpp, before the path

bool isModule(const std::string& ptx) {
    return ptx.compare(0, mark.size(), mark) == 0;
}

std::string libraryOf(const std::string& ptx) {
    return ptx.substr(mark.size(), ptx.find('\n') - mark.size());
}

const Kernel* loadKernels(const std::string& ptx) {
    const std::string path = libraryOf(ptx);
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::fprintf(stderr, "emulator: %s\n", dlerror());
        return nullptr;
    }
    *(Device**) dlsym(library, "emulator") = &device();
    const auto* kernels = (const Kernel*) dlsym(library, "emulatedKernels");
    for (const Kernel* kernel = kernels; kernel->name != nullptr; kernel++)
        log(std::string("has ") + kernel->name);
    return kernels;
}

void log(const std::string& line) {
    static std::mutex lock;
    static std::set<std::string> known;
    std::lock_guard<std::mutex> guard(lock);
    const char* path = std::getenv("EMULATOR_LOG");
    if (path != nullptr && known.insert(line).second)
        std::ofstream(path, std::ios::app) << line + "\n";
}

} // namespace Emulator
