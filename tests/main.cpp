// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmm/Platform.h"
#include <gtest/gtest.h>
#include <iostream>
#include <stdexcept>
#include <string>

using OpenMM::Platform;

/** OpenMM's platforms by name, not the whole folder: our own plugin may be installed there, and would be loaded a
 * second time. A platform that cannot be loaded is an error here; Reference is part of libOpenMM. */
static void loadPlatforms() {
    for (const char* platform : {"CPU", "OpenCL"})
        Platform::loadPluginLibrary(std::string(OPENMM_PLUGIN_DIR) + "/libOpenMM" + platform + ".so");
    if (Platform::loadPluginsFromDirectory(PLUGIN_DIR).empty())
        throw std::runtime_error("no plugin could be loaded from " PLUGIN_DIR);
    for (const std::string& failure : Platform::getPluginLoadFailures())
        throw std::runtime_error(failure);
}

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    try {
        loadPlatforms();
    } catch (const std::exception& error) {
        std::cerr << "Cannot load what the tests need: " << error.what() << std::endl;
        return 1;
    }
    return RUN_ALL_TESTS();
}
