// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_PLATFORMS_H_
#define CONSTRAINTS_TESTS_PLATFORMS_H_

#include "openmm/Platform.h"
#include <string>
#include <vector>

namespace ConstraintTests {

/** Platforms that every platform test runs on. */
std::vector<std::string> platformsUnderTest();

/** Get a platform, with this plugin's kernels; main.cpp loads them from OPENMM_PLUGIN_DIR and PLUGIN_DIR.
 *  @throws OpenMMException if the platform or its kernels are absent: a required platform is never skipped */
OpenMM::Platform& requirePlatform(const std::string& name);

} // namespace ConstraintTests

#endif
