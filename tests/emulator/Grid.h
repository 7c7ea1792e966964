// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_EMULATOR_GRID_H_
#define CONSTRAINTS_TESTS_EMULATOR_GRID_H_

#include "interface.h"
#include <string>

namespace Emulator {

/** How threads take turns, and what memory holds before anybody writes there. Results must not depend on either. */
struct Conditions {
    unsigned int order = 0; ///< 0: ascending, 1: descending, else the seed of a random order, new in each turn
    unsigned char fill = 0; ///< each byte of new memory
};
Conditions& conditions();

struct Launch {
    const Kernel& kernel;
    void** arguments;
    unsigned int numBlocks, blockSize;
    std::size_t sharedBytes;
    bool isCooperative;      ///< all blocks at once; else one after the other
    std::size_t sharedLimit; ///< bytes that a block may have, arrays of declared size included
};

/** What kernels of a module see. */
Device& device();

/** Run a kernel with all its threads.
 *  @return what was wrong: threads that wait for others that ended, or for nothing; empty if nothing was */
std::string run(const Launch& launch);

} // namespace Emulator

#endif
