// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_CALLS_H_
#define CONSTRAINTS_TESTS_CALLS_H_

/** What a platform of OpenMM asks of its device, as countcalls.cpp (for LD_PRELOAD, with a real device) or fakecuda.cpp
 *  (instead of NVIDIA's driver) notes it. Tests find these functions by dlsym. */
extern "C" {

/** What was called since the last time, a line each: "launch <kernel>", "wait <function>" for what makes the host wait
 *  for the device, or "program <function>" for one that is compiled or loaded; fakecuda only: "cooperative <blocks>"
 *  before such a launch. Valid until the next call. */
const char* takeCalls();
/** How many of what was made since the program began have not been released: buffers, programs, kernels and queues of
 *  OpenCL, arrays in CUDA's device memory. */
long objectsInUse();
/** fakecuda only: keep the PTX of modules that are loaded from now on in an existing folder, as <hash>.ptx; "": do not.
 */
void keepModules(const char* folder);
/** fakecuda only, where it runs kernels: the order of threads and what is in new memory, Emulator::Conditions. */
void emulateWith(unsigned int order, unsigned char fill);
/** fakecuda only, where it runs kernels: 1: write launches and memory to the folder FAKECUDA_RECORD, 0: no longer. */
void recordLaunches(int isWanted);
}

#endif
