// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DEVICE_H_
#define OPENMM_CONSTRAINTS_DEVICE_H_

#include "openmm/common/ComputeContext.h"
#include <cstddef>
#include <string>

namespace ConstraintPlugin {

/** What OpenMM's ComputeContext does not tell of a device. Every platform has its own. */
class Device {
public:
    virtual ~Device() = default;
    virtual OpenMM::ComputeContext& context() = 0;
    /** Bytes of shared memory that one block may have. */
    virtual std::size_t sharedMemory() = 0;
    /** Bytes of global memory, and of the largest array there. */
    virtual std::size_t memory() = 0;
    virtual std::size_t largestArray() {
        return memory();
    }
    /** Threads that a block may have. */
    virtual int largestBlock() = 0;
    /** Blocks that are on the device at the same time if a program's launches are cooperative, and can wait for each
     *  other; 1 if nothing guarantees that of more. */
    virtual int cooperatingBlocks() {
        return 1;
    }
    /** Compile a text.
     *  @param sharedBytes    shared memory that its kernels get besides what it declares: in CUDA, more than 48 KB are
     *                        there for arrays without size only
     *  @param isCooperative  whether all blocks of a launch have to be on the device at the same time */
    virtual OpenMM::ComputeProgram compile(const std::string& text, std::size_t sharedBytes, bool isCooperative) = 0;
};

} // namespace ConstraintPlugin

#endif
