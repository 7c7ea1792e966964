// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_EMULATOR_INTERFACE_H_
#define CONSTRAINTS_TESTS_EMULATOR_INTERFACE_H_

#include <cstddef>

namespace Emulator {

struct Index {
    unsigned int x, y, z;
};

/** What a compiled kernel asks of the grid that runs it (Grid.h). Threads are fibers: one of them runs at a time. */
struct Device {
    const Index *threadIdx, *blockIdx; ///< of the thread that runs
    Index blockDim, gridDim;
    void (*syncThreads)(int line); ///< wait for all threads of the block; all have to come to the same line
    void (*syncWarp)();            ///< wait for all threads of the warp
    void (*fence)();               ///< orders atomic accesses before and after it; other threads run meanwhile
    void (*noteRead)(void*);       ///< that a thread reads atomically; so are volatile accesses
    void (*noteWrite)(void*);      ///< that it is about to write atomically
    void (*noteWordSent)(void*);   ///< that a word orders, by itself, what comes before it ...
    void (*noteWordCame)(void*);   ///< ... before what comes after it where another thread waited for it
    /** Memory of the block, the same for all its threads. @param declaration  which one of the kernel's */
    void* (*sharedMemory)(int declaration, std::size_t size);
    void* (*dynamicMemory)(); ///< with the size that the launch asked for
    void* (*lane)(int lane);  ///< 8 bytes for each thread of the warp, to exchange values
};

/** A kernel of a compiled module, which has an array of them that ends with one without a name. */
struct Kernel {
    const char* name;
    void (*run)(void** arguments); ///< for the thread that runs
    const bool* isPointer;         ///< [numParameters]
    int numParameters;
    const std::size_t *size, *alignment; ///< [numParameters], in bytes
};

constexpr int warpSize = 32;

} // namespace Emulator

#endif
