// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Driver.h"
#include "Recorder.h"
#include <cstdio>
#include <cstdlib>

namespace FakeDriver {

std::recursive_mutex lock;
static std::string calls;

void record(const std::string& call) {
    const Guard guard(lock);
    calls += call + "\n";
    Recorder::note(call);
}

std::string takeRecord() {
    const Guard guard(lock);
    std::string taken;
    taken.swap(calls);
    return taken;
}

CUresult refuse(CUresult result, const std::string& why) {
    std::fprintf(stderr, "fakecuda: %s\n", why.c_str());
    return result;
}

int fromEnvironment(const char* name, int otherwise) {
    const char* wanted = std::getenv(name);
    return wanted == nullptr ? otherwise : std::atoi(wanted);
}

int capability() {
    return fromEnvironment("FAKECUDA_CAPABILITY", 90);
}

int driverVersion() {
    return fromEnvironment("FAKECUDA_DRIVER", 13000);
}

int multiprocessors() {
    return fromEnvironment("FAKECUDA_MULTIPROCESSORS", 8);
}

int largestBlock() {
    return fromEnvironment("FAKECUDA_BLOCK", 1024);
}

int sharedMemory() {
    switch (capability()) {
    case 80:
    case 87:
        return 163 * 1024;
    case 86:
    case 89:
    case 120:
        return 99 * 1024;
    default:
        return 227 * 1024;
    }
}

} // namespace FakeDriver
