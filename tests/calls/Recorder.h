// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_CALLS_RECORDER_H_
#define CONSTRAINTS_TESTS_CALLS_RECORDER_H_

#include "interface.h"
#include <cstddef>
#include <string>

/** Writes launches with the device's memory before and after them, for tools/gpu_model.py.
 *
 *  FAKECUDA_RECORD names a folder. All memory of the device then comes from one range of addresses and is never given
 *  back. Between recordLaunches(1) and recordLaunches(0) there are two files: calls.jsonl has a line for each launch
 * and for each time that the host waits, pages.bin the pages of memory that have changed since they were last written.
 */
namespace Recorder {

/** Whether memory has to come from allocate(). */
bool isSet();

/** @return nullptr if there is no more */
void* allocate(std::size_t size);

void start(bool isWanted);

struct Launch {
    const Emulator::Kernel& kernel;
    std::string library; ///< the module's; the text that it was compiled from lies beside it
    void** arguments;
    unsigned int numBlocks, blockSize, sharedBytes;
    bool isCooperative;
};
void beforeLaunch(const Launch& launch);
void afterLaunch();

/** Another call, as "wait cuStreamSynchronize". */
void note(const std::string& call);

} // namespace Recorder

#endif
