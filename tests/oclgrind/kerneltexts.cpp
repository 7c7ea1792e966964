// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
//
// A library for LD_PRELOAD before oclgrind's, so that a test can change what a program gives to OpenCL:
//   CONSTRAINTS_KERNEL_TEXTS    a folder: the text of every program is written to a file there, named by its hash, or,
//                               if there is one of that name, the file is compiled instead
//   CONSTRAINTS_BUFFER_PATTERN  a number: buffers without initial values are filled with this byte
// Results of such runs are compared in mutants.py.
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace {

template <class Function>
Function* next(const char* name, Function*) {
    auto* found = (Function*) dlsym(RTLD_NEXT, name);
    if (found == nullptr)
        abort(); // oclgrind comes after this library
    return found;
}
#define NEXT(function) next(#function, &function)

std::string replaced(const std::string& text, const std::string& folder) {
    const std::string path = folder + "/" + std::to_string(std::hash<std::string>()(text)) + ".cl";
    std::ifstream there(path);
    if (there.is_open()) {
        std::ostringstream other;
        other << there.rdbuf();
        return other.str();
    }
    std::ofstream(path) << text;
    return text;
}

} // namespace

extern "C" {

void* clCreateProgramWithSource(void* context, unsigned count, const char** parts, const size_t* sizes, int* error) {
    std::string text;
    for (unsigned i = 0; i < count; i++)
        text += sizes != nullptr && sizes[i] > 0 ? std::string(parts[i], sizes[i]) : std::string(parts[i]);
    if (const char* folder = std::getenv("CONSTRAINTS_KERNEL_TEXTS"))
        text = replaced(text, folder);
    const char* whole = text.c_str();
    return NEXT(clCreateProgramWithSource)(context, 1, &whole, nullptr, error);
}

void* clCreateBuffer(void* context, unsigned long flags, size_t size, void* host, int* error) {
    const char* byte = std::getenv("CONSTRAINTS_BUFFER_PATTERN");
    if (byte == nullptr || host != nullptr)
        return NEXT(clCreateBuffer)(context, flags, size, host, error);
    std::vector<char> pattern(size, (char) std::atoi(byte));
    const unsigned long copyHostMemory = 1 << 5; // CL_MEM_COPY_HOST_PTR
    return NEXT(clCreateBuffer)(context, flags | copyHostMemory, size, pattern.data(), error);
}

} // extern "C"
