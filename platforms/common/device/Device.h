// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_DEVICE_H_
#define OPENMM_CONSTRAINTS_DEVICE_H_

#include "openmm/common/ComputeArray.h"
#include "openmm/common/ComputeContext.h"
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace ConstraintPlugin {

/** Reads an array of a device from time to time without waiting for it. */
class DevicePoll {
public:
    virtual ~DevicePoll() = default;
    /** Have the first two numbers of an array copied after the launches so far, unless the last copy is under way. */
    void begin(OpenMM::ComputeArray& array) {
        if (hasBegun && !isComplete())
            return;
        copy(array);
        hasBegun = true;
    }
    /** The numbers of the last copy; nothing if there was none or it is under way. */
    std::optional<std::array<int, 2>> read() {
        if (!hasBegun || !isComplete())
            return {};
        return values();
    }

protected:
    /** Begin to copy; the functions below are of the last copy. */
    virtual void copy(OpenMM::ComputeArray& array) = 0;
    virtual bool isComplete() const = 0;
    virtual std::array<int, 2> values() const = 0;
    bool hasBegun = false;
};

/** Properties and functions of a device that OpenMM's ComputeContext does not have. Every platform derives a class. */
class Device {
public:
    virtual ~Device() = default;
    virtual OpenMM::ComputeContext& context() = 0;
    /** Bytes of shared memory available to one block. */
    virtual std::size_t sharedMemory() = 0;
    /** Bytes of global memory, and of the largest array there. */
    virtual std::size_t memory() = 0;
    virtual std::size_t largestArray() {
        return memory();
    }
    /** Number of blocks with so much shared memory each, declared arrays included, for which a multiprocessor has room;
     *  1 if this is not known. */
    virtual int blocksInSharedMemory(std::size_t) {
        return 1;
    }
    /** Largest number of threads in a block. */
    virtual int largestBlock() = 0;
    /** Number of blocks that are on the device at the same time in a cooperative launch, one on each multiprocessor, so
     *  that they can wait for each other; 1 if this is not guaranteed for more, as by OpenCL. */
    virtual int cooperatingBlocks() {
        return 1;
    }
    /** Whether kernel texts are C++: functions of several solvers may have the same names there. */
    virtual bool hasNamespaces() {
        return false;
    }
    virtual std::unique_ptr<DevicePoll> makePoll() = 0;
    /** Compile a text.
     *  @param sharedBytes    shared memory of its kernels in arrays without a declared size: in CUDA, more than 48 KB
     *                        are available only to these
     *  @param isCooperative  whether all blocks of a launch have to be on the device at the same time */
    virtual OpenMM::ComputeProgram compile(const std::string& text, std::size_t sharedBytes, bool isCooperative) = 0;
};

} // namespace ConstraintPlugin

#endif
