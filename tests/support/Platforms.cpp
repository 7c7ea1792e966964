// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Platforms.h"
#include "openmm/OpenMMException.h"
#include "openmmconstraints/ConstraintKernels.h"

using OpenMM::Platform;

namespace ConstraintTests {

namespace {

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
    Platform& platform = Platform::getPlatformByName(name);
    if (!hasKernels(platform))
        throw OpenMM::OpenMMException("Platform " + name + " has no kernels of this plugin");
    return platform;
}

} // namespace ConstraintTests
