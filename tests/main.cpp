// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmm/Platform.h"
#include "support/Platforms.h"
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <sstream>
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

/** Whether a name matches any of some patterns, which colons separate. */
static bool matches(const std::string& patterns, const std::string& name) {
    std::istringstream all(patterns);
    for (std::string pattern; std::getline(all, pattern, ':');)
        if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0)
            return true;
    return false;
}

/** Without the number or name of its parameters: "Suite.Name" of "Suite.Name/OpenCLMixed_Rattle". */
static std::string bodyOf(const std::string& suite, const std::string& test) {
    return suite + "." + test.substr(0, test.find('/'));
}

/** FNV-1a: the same on all machines, whatever other tests there are. */
static std::uint32_t hashOf(const std::string& text) {
    std::uint32_t hash = 2166136261u;
    for (const char c : text)
        hash = (hash ^ (unsigned char) c) * 16777619u;
    return hash;
}

/** A filter: one test of each suite, or of each body of a test, of those that GoogleTest's filter leaves. Which one, a
 *  hash of the name tells, so that all integrators, precisions and solvers have their turn. */
static std::string oneOfEach(const std::string& kind, const std::string& filter) {
    const std::size_t dash = filter.find('-');
    const std::string wanted = filter.substr(0, dash), unwanted = dash == filter.npos ? "" : filter.substr(dash + 1);
    std::map<std::string, std::vector<std::string>> groups;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); i++) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); j++) {
            const std::string test = suite.GetTestInfo(j)->name(), name = suite.name() + ("." + test);
            if (matches(wanted, name) && !matches(unwanted, name))
                groups[kind == "suite" ? suite.name() : bodyOf(suite.name(), test)].push_back(name);
        }
    }
    std::string chosen;
    for (const auto& [group, names] : groups)
        chosen += names[hashOf(group) % names.size()] + ":";
    return chosen;
}

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (std::getenv("GTEST_LIST_TESTS") != nullptr) // GoogleTest has it as an option only
        testing::GTEST_FLAG(list_tests) = true;
    if (const char* kind = std::getenv("CONSTRAINTS_TEST_ONE_OF_EACH")) // suite or body
        testing::GTEST_FLAG(filter) = oneOfEach(kind, testing::GTEST_FLAG(filter));
    compileFast();
    try {
        loadPlatforms();
    } catch (const std::exception& error) {
        std::cerr << "Cannot load what the tests need: " << error.what() << std::endl;
        return 1;
    }
    return RUN_ALL_TESTS();
}
