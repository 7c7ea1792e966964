// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_LAZY_PROGRAM_H_
#define OPENMM_CONSTRAINTS_LAZY_PROGRAM_H_

#include "Device.h"
#include <memory>

namespace ConstraintPlugin {

/** A program that is compiled when the first of its kernels is needed: compiling takes seconds, and many Contexts need
 * few of theirs. */
class LazyProgram {
public:
    /** @param sharedBytes, isCooperative  see Device::compile() */
    LazyProgram(Device& device, std::string text, std::size_t sharedBytes = 0, bool isCooperative = false)
        : device(device), text(std::move(text)), sharedBytes(sharedBytes), isCooperative(isCooperative) {
    }
    OpenMM::ComputeKernel createKernel(const std::string& name) {
        if (program == nullptr)
            program = device.compile(text, sharedBytes, isCooperative);
        return program->createKernel(name);
    }
    /** Compile another text from now on. Kernels have to be created again. */
    void replace(const std::string& other) {
        text = other;
        program = nullptr;
    }

private:
    Device& device;
    std::string text;
    std::size_t sharedBytes;
    bool isCooperative;
    OpenMM::ComputeProgram program;
};

} // namespace ConstraintPlugin

#endif
