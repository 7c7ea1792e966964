// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_EMULATOR_MODULES_H_
#define CONSTRAINTS_TESTS_EMULATOR_MODULES_H_

#include "Grid.h"

namespace Emulator {

/** Whether this text, which a driver is given for PTX, names a library that the stand-in for NVRTC made. */
bool isModule(const std::string& ptx);
/** The path of the library. */
std::string libraryOf(const std::string& ptx);
/** The kernels of such a library, up to one without a name.
 *  @return null, after a message on stderr, if it cannot be loaded */
const Kernel* loadKernels(const std::string& ptx);
/** Append a line to the file that the variable EMULATOR_LOG names, unless it is there. */
void log(const std::string& line);

} // namespace Emulator

#endif
