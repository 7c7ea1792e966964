// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "GroupSizes.h"
#include "KernelArguments.h"
#include "TestHooks.h"
#include <algorithm>

namespace ConstraintPlugin {

namespace {

constexpr int noteBytes = 128; // with what rounding up takes

/** Threads of subdomains on a multiprocessor: each then has 168 registers, with which none of their kernels spills. */
constexpr int threadsTogether = 384;

int roundUpToEight(int n) {
    return (n + 7) / 8 * 8;
}

} // namespace

GroupSizes::GroupSizes(Device& device, bool isCoarse)
    : device(device), mixedBytes(ConstraintPlugin::numberBytes(device.context()).mixed),
      numberBytes(isCoarse ? 4 : mixedBytes) {
}

/** Threads of a block would run one after the other on a CPU, and compiling their barriers would take minutes. */
bool GroupSizes::usesBlocks(const OpenMM::ComputeContext& cc) {
    return !cc.getIsCPU() || TestHooks::blocks.isSet();
}

/** On a CPU, OpenCL takes hours to compile their barriers. */
bool GroupSizes::usesSubdomains(const OpenMM::ComputeContext& cc) {
    return !cc.getIsCPU();
}

int GroupSizes::reportBytes(int blockSize) const {
    return blockSize * (mixedBytes == 8 ? 32 : 20);
}

int GroupSizes::declaredBytes(int blockSize) const {
    return noteBytes + reportBytes(blockSize);
}

int GroupSizes::sharedBytes(const ThreadGroup& group) const {
    const int floats = (int) sizeof(float);
    return noteBytes + std::max(floats * group.sharedFloats, floats * group.reportsAt + reportBytes(group.blockSize));
}

long long GroupSizes::sharedNumbers(int blockSize) const {
    const long long bytes = (long long) device.sharedMemory() - declaredBytes(blockSize);
    return std::min(bytes, TestHooks::sharedMemory.valueOr(bytes)) / (int) sizeof(float);
}

/** Where there are more subdomains than multiprocessors, let those that share one fill each other's waits. Their blocks
 * are smaller: a thread of maxSubdomainBlock has all the registers that it can have. */
void GroupSizes::putTogether(ThreadGroup& group, int numSubdomains) const {
    const int turns = (numSubdomains - 1) / device.cooperatingBlocks() + 1;
    ThreadGroup smaller = group;
    smaller.blockSize = std::min(group.blockSize, maxSubdomainBlock / 2);
    smaller.together =
        std::min({turns, threadsTogether / smaller.blockSize, device.blocksInSharedMemory(sharedBytes(smaller))});
    if (smaller.together > 1)
        group = smaller;
}

ConstraintTables::ThreadGroups GroupSizes::available() const {
    ConstraintTables::ThreadGroups available;
    available.hasBlocks = usesBlocks(device.context());
    available.hasSubdomains = usesSubdomains(device.context());
    available.largestBlock = device.largestBlock();
    available.waitingBlocks = device.cooperatingBlocks();
    available.sharedNumbers = [copy = *this](int blockSize) { return copy.sharedNumbers(blockSize); };
    available.mixedBytes = mixedBytes;
    available.numberBytes = numberBytes;
    return available;
}

ThreadGroup GroupSizes::groupOf(const ConstraintTables& t, const ConstraintTables::Range& range, int argumentFloats,
                                int leastBlock, int mostTogether) const {
    ThreadGroup group;
    group.blockSize = std::max(range.blockSize, leastBlock);
    if (range.group != ThreadGroupKind::Subdomain)
        group.together = maxBlockSize / group.blockSize;
    if (range.group == ThreadGroupKind::Thread)
        return group;
    long long mostNumbers = sharedNumbers(group.blockSize), ofSubdomains = 0;
    if (const auto found = t.layouts.find(range.first); found != t.layouts.end()) {
        ofSubdomains = (found->second.layout.bytes(mixedBytes, numberBytes) + 3) / 4;
        group.isLocal = ofSubdomains <= mostNumbers;
    }
    // Clusters are seldom solved as a whole: their subdomains decide how many share a multiprocessor.
    if (group.isLocal && range.isSplit)
        mostNumbers = ofSubdomains - reportBytes(group.blockSize) / (int) sizeof(float);
    if (group.isLocal) // functions apart need arguments behind a factor
        mostNumbers = (mostNumbers - argumentFloats) / 8 * 8;
    else if (range.group == ThreadGroupKind::Subdomain) {
        const long long all =
            ((long long) device.sharedMemory() - declaredBytes(group.blockSize)) / (int) sizeof(float);
        mostNumbers = std::min(mostNumbers, (all - argumentFloats) / 8 * 8);
    }
    for (int c = range.first; c < range.end && !range.isIterative; c++) {
        const long long numbers = 2LL * (t.numRowsOf(c) + t.numEntriesOf(c));
        if (numbers <= mostNumbers) {
            group.factorNumbers = std::max(group.factorNumbers, (int) numbers);
            group.sharedFactors += t.bundled[c];
        } else
            group.hasOthers = true;
    }
    group.sharedFloats = group.factorNumbers;
    group.reportsAt = group.argumentsAt();
    if (range.group == ThreadGroupKind::Subdomain) {
        group.reportsAt = roundUpToEight(group.argumentsAt() + argumentFloats);
        group.sharedFloats = std::max((int) ofSubdomains, group.argumentsAt() + argumentFloats);
    }
    if (group.isLocal && mostTogether > 1)
        putTogether(group, range.last - range.first);
    return group;
}

} // namespace ConstraintPlugin
