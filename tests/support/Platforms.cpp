// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Platforms.h"
#include "openmm/OpenMMException.h"
#include "openmmconstraints/ConstraintKernels.h"

using OpenMM::Platform;

namespace ConstraintTests {

namespace {

bool isLoaded(const std::string& name) {
    for (int i = 0; i < Platform::getNumPlatforms(); i++)
        if (Platform::getPlatform(i).getName() == name)
            return true;
    return false;
}

bool hasKernels(const Platform& platform) {
    return platform.supportsKernels(
        {ConstraintPlugin::IntegrateRattleStepName, ConstraintPlugin::IntegrateShakeStepName,
         ConstraintPlugin::IntegrateRattleLangevinStepName, ConstraintPlugin::IntegrateConstraintForceStepName});
}

} // namespace

std::vector<std::string> platformsUnderTest() {
    return {"Reference", "CPU"};
}

Platform& requirePlatform(const std::string& name) {
    // All before ours: a plugin adds its kernels to the platforms that are there when it is loaded.
    for (const std::string& each : platformsUnderTest())
        if (!isLoaded(each))
            Platform::loadPluginLibrary(std::string(OPENMM_PLUGIN_DIR) + "/libOpenMM" + each + ".so");
    Platform& platform = Platform::getPlatformByName(name);
    if (!hasKernels(platform))
        Platform::loadPluginLibrary(std::string(PLUGIN_DIR) + "/libOpenMMConstraintsReference.so");
    if (!hasKernels(platform))
        throw OpenMM::OpenMMException("Platform " + name + " has no kernels of this plugin");
    return platform;
}

} // namespace ConstraintTests
