// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "support/Platforms.h"
#include "StepScheme.h"
#include "openmm/OpenMMException.h"
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

using OpenMM::Platform;

namespace ConstraintTests {

namespace {

bool hasKernels(const Platform& platform) {
    std::vector<std::string> names;
    for (const ConstraintPlugin::StepScheme& scheme : ConstraintPlugin::stepSchemes())
        names.push_back(scheme.kernelName);
    return platform.supportsKernels(names);
}

const std::map<std::string, Precision>& precisions() {
    // OpenMM's forces are fixed-point numbers of 2^-32 at best; in mixed precision they are computed in single.
    static const std::map<std::string, Precision> table = {{"Single", {5e-7, 1e-6, 1e-6, 1e-5}},
                                                           {"Mixed", {1e-13, 1e-13, 1e-13, 1e-5}},
                                                           {"Double", {1e-15, 1e-15, 1e-15, 1e-9}}};
    return table;
}

/** "OpenCLMixed" -> "OpenCL", "Mixed"; "CPU" -> "CPU", "" */
std::pair<std::string, std::string> split(const std::string& name) {
    for (const auto& each : precisions())
        if (name.size() > each.first.size() && name.substr(name.size() - each.first.size()) == each.first)
            return {name.substr(0, name.size() - each.first.size()), each.first};
    return {name, ""};
}

} // namespace

std::vector<std::string> platformsUnderTest() {
    if (const char* chosen = std::getenv("CONSTRAINTS_TEST_PLATFORMS")) {
        std::vector<std::string> names;
        std::istringstream list(chosen);
        for (std::string name; std::getline(list, name, ',');)
            names.push_back(name);
        return names;
    }
    std::vector<std::string> names = {"Reference", "CPU"}, devices = {"OpenCL"};
    if (std::getenv("CONSTRAINTS_TEST_CUDA") != nullptr)
        devices.emplace_back("CUDA");
    for (const std::string& device : devices)
        for (const char* precision : {"Single", "Mixed", "Double"})
            names.push_back(device + precision);
    return names;
}

std::map<std::string, std::string> propertiesOf(const std::string& name) {
    auto [platform, precision] = split(name);
    if (platform == "CPU")
        return {{"Threads", "1"}};
    if (precision.empty())
        return {};
    precision[0] = (char) std::tolower(precision[0]);
    std::map<std::string, std::string> properties = {{"Precision", precision}};
    if (platform == "CUDA")
        properties["DeterministicForces"] = "true";
    return properties;
}

bool isDevice(const std::string& name) {
    return !split(name).second.empty();
}

Precision precisionOf(const std::string& name) {
    const auto found = precisions().find(split(name).second);
    return found == precisions().end() ? Precision{0, 0, 0, 0} : found->second;
}

double attainable(const std::string& name, double tolerance, double length) {
    const Precision precision = precisionOf(name);
    return std::max(tolerance, precision.constraint) + precision.position / length;
}

Platform& requirePlatform(const std::string& name) {
    Platform& platform = Platform::getPlatformByName(split(name).first);
    if (!hasKernels(platform))
        throw OpenMM::OpenMMException("Platform " + name + " has no kernels of this plugin");
    return platform;
}

} // namespace ConstraintTests
