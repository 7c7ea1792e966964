// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_PLATFORMS_H_
#define CONSTRAINTS_TESTS_PLATFORMS_H_

#include "openmm/Platform.h"
#include <map>
#include <string>
#include <vector>

namespace ConstraintTests {

/** Platforms that every platform test runs on, unless CONSTRAINTS_TEST_PLATFORMS lists others (CMakeLists.txt does);
 * those with precisions once for each: "OpenCLSingle", "OpenCLMixed", "OpenCLDouble", and the same of CUDA where
 * CONSTRAINTS_TEST_CUDA is set. */
std::vector<std::string> platformsUnderTest();

/** Get a platform, with this plugin's kernels; main.cpp loads them from OPENMM_PLUGIN_DIR and PLUGIN_DIR.
 *  @param name  of platformsUnderTest()
 *  @throws OpenMMException if the platform or its kernels are absent: a required platform is never skipped */
OpenMM::Platform& requirePlatform(const std::string& name);
/** Properties for a Context on it: its precision, one thread. */
std::map<std::string, std::string> propertiesOf(const std::string& name);

/** Rounding errors of a platform. Bounds in tests are for double precision plus these. */
struct Precision {
    double position;   ///< nm, rounding of a stored coordinate of some nm
    double velocity;   ///< nm/ps, rounding of a velocity
    double constraint; ///< smallest relative error of a solve
    double force;      ///< relative error of forces and energies
};
Precision precisionOf(const std::string& name);
/** Relative error that a length (nm) between stored positions may have after a solve to a tolerance. */
double attainable(const std::string& name, double tolerance, double length = 0.1);
/** Whether it compiles kernels for a device: then creating a Context takes long. */
bool isDevice(const std::string& name);

} // namespace ConstraintTests

#endif
