// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmm/Platform.h"
#include "support/Platforms.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <iostream>
#include <string>
#include <vector>

using OpenMM::Platform;

/** Where they were built, unless a variable says where they were carried. */
static std::string folder(const char* variable, const char* built) {
    const char* carried = std::getenv(variable);
    return carried == nullptr ? built : carried;
}

/** Libraries by name, not whole folders: our own plugin may be installed in OpenMM's, and would be loaded a second
 * time. What cannot be loaded is an error; OpenMM's Reference platform is part of libOpenMM. Devices are loaded where
 * they are under test. */
static void loadPlatforms() {
    std::vector<std::string> platforms{"CPU"}, ours{"Reference"};
    const std::vector<std::string> tested = ConstraintTests::platformsUnderTest();
    for (const char* device : {"OpenCL", "CUDA"})
        if (std::any_of(tested.begin(), tested.end(),
                        [&](const std::string& name) { return name.compare(0, std::strlen(device), device) == 0; }))
            for (auto* names : {&platforms, &ours})
                names->push_back(device);
    for (const std::string& name : platforms)
        Platform::loadPluginLibrary(folder("CONSTRAINTS_TEST_OPENMM_PLUGINS", OPENMM_PLUGIN_DIR) + "/libOpenMM" + name +
                                    ".so");
    for (const std::string& name : ours)
        Platform::loadPluginLibrary(folder("CONSTRAINTS_TEST_PLUGINS", PLUGIN_DIR) + "/libOpenMMConstraints" + name +
                                    ".so");
}

/** PoCL, OpenCL on CPUs, takes ten times as long to compile kernels with optimization, and tests compile many. Set
 *  POCL_EXTRA_BUILD_FLAGS to something else, if only to a space, to test what is optimized. */
static void compileFast() {
    setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
}

/** A filter: of each suite the first test of a pattern that is not of another one, as "*OpenCLSingle*-*Ensemble*". */
static std::string firstOfEachSuite(const std::string& patterns) {
    const std::size_t dash = patterns.find('-');
    const std::string wanted = patterns.substr(0, dash),
                      unwanted = dash == std::string::npos ? "" : patterns.substr(dash + 1);
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    std::string filter;
    for (int i = 0; i < all.total_test_suite_count(); i++) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); j++) {
            const std::string name = std::string(suite.name()) + "." + suite.GetTestInfo(j)->name();
            if (fnmatch(wanted.c_str(), name.c_str(), 0) == 0 && fnmatch(unwanted.c_str(), name.c_str(), 0) != 0) {
                filter += (filter.empty() ? "" : ":") + name;
                break;
            }
        }
    }
    return filter;
}

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (std::getenv("GTEST_LIST_TESTS") != nullptr) // GoogleTest has it as an option only
        testing::GTEST_FLAG(list_tests) = true;
    if (const char* patterns = std::getenv("CONSTRAINTS_TEST_FIRST_OF_EACH_SUITE"))
        testing::GTEST_FLAG(filter) = firstOfEachSuite(patterns);
    compileFast();
    try {
        loadPlatforms();
    } catch (const std::exception& error) {
        std::cerr << "Cannot load what the tests need: " << error.what() << std::endl;
        return 1;
    }
    return RUN_ALL_TESTS();
}
