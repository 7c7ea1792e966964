// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef FAKECUDA_H_
#define FAKECUDA_H_

/** What tests ask of the fake driver, and find by dlsym, since it is OpenMM that loads it. The device's compute
 *  capability, times 10, is that of the environment variable FAKECUDA_CAPABILITY (90). */
extern "C" {

/** What was called since the last time, a line each: "launch <kernel>", or "wait <function>" for what would make the
 *  host wait for the device. Valid until the next call. */
const char* fakecudaTakeCalls();
/** Keep the PTX of modules that are loaded from now on in an existing folder, as <hash>.ptx; "" to stop. */
void fakecudaKeepModules(const char* folder);
}

#endif
