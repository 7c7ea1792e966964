// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// One launch for clusters that different solvers have, on devices whose kernel texts are C++: a stage then takes as
// long as the slowest of them, not their sum.
#include "ConstraintProgram.h"
#include <algorithm>
#include <numeric>
#include <set>

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** Turns that the blocks of a launch take with what does not wait for others, at most. In larger systems small clusters
 *  have a launch of their own: more of their blocks fit on a multiprocessor than of those of parts. */
constexpr int mostTurns = 4;

int divided(int count, int by) {
    return (count + by - 1) / by;
}

/** "#undef NAME" for each macro that a text defines, unless it takes what somebody else has defined (#ifndef NAME). */
string undefinitions(const string& text) {
    const string define = "#define ";
    std::set<string> names;
    for (std::size_t i = text.find(define); i != string::npos; i = text.find(define, i)) {
        i += define.size();
        std::size_t end = i;
        while (text[end] == '_' || std::isalnum((unsigned char) text[end]))
            end++;
        const string name = text.substr(i, end - i);
        if (text.find("#ifndef " + name + "\n") == string::npos)
            names.insert(name);
    }
    string result;
    for (const string& name : names)
        result += "#undef " + name + "\n";
    return result;
}

} // namespace

bool ConstraintProgram::SharedLaunch::has(const ConstraintTables::Range* range) const {
    return std::any_of(shares.begin(), shares.end(), [&](const Share& share) { return share.range == range; });
}

ConstraintProgram::SharedLaunch ConstraintProgram::sharedLaunch() const {
    SharedLaunch launch;
    if (!device.hasNamespaces())
        return launch;
    // Several blocks share a multiprocessor where all parts can; then the largest blocks decide.
    vector<const ConstraintTables::Range*> parts;
    int blockSize = 0, together = maxBlockSize;
    for (const ConstraintTables::Range& range : constraintTables.ranges)
        if (range.group == ThreadGroupKind::Part && !range.isJoined && !range.isAtBorder &&
            waitsIn(range, threadGroupOf(range))) {
            parts.push_back(&range);
            together = std::min(together, threadGroupOf(range).together);
        }
    for (const ConstraintTables::Range* range : parts)
        blockSize = std::max(blockSize, threadGroupOf(*range, 0, together).blockSize);
    const auto add = [&](const ConstraintTables::Range* range, const ThreadGroup& group, const string& name, int first,
                         int last, int numBlocks) {
        launch.shares.push_back({range, group, name, first, last, 0, numBlocks});
    };
    for (const ConstraintTables::Range* range : parts) {
        const ThreadGroup group = threadGroupOf(*range, blockSize, together);
        if (group.blockSize != blockSize || group.together != together || !waitsIn(*range, group))
            continue;
        launch.blockSize = blockSize;
        launch.together = together;
        launch.isCooperative = launch.isCooperative || range->isSplit;
        launch.sharedBytes = std::max(launch.sharedBytes, sharedBytes(group));
        add(range, group, prefixOf(PartRole::All), range->first, range->last, blocksOfParts(*range, group));
    }
    const bool hasParts = !launch.shares.empty();
    if (launch.together > 1 && hasParts && device.blocksInSharedMemory(launch.sharedBytes) < launch.together)
        return {};
    for (const ConstraintTables::Range& range : constraintTables.ranges)
        if (range.group == ThreadGroupKind::Thread && !range.isJoined && !range.isAtBorder)
            add(&range, threadGroupOf(range), prefixOf(range.group), range.first, range.last,
                divided(range.last - range.first, launch.blockSize));
    const ConstraintTables::SmallBlocks& small = constraintTables.small;
    if (small.threads() > 0) {
        add(nullptr, {}, "smallCluster", small.first, small.last, divided(small.threads(), launch.blockSize));
        if (hasParts) // in memory without a declared size, as that of parts
            launch.sharedBytes = std::max(launch.sharedBytes, launch.blockSize * shownBytes());
    }
    place(launch, device.cooperatingBlocks() * launch.together);
    if (launch.shares.size() < 2)
        return {};
    return launch;
}

/** Parts come first, one block after the other. What does not wait for others takes turns in the blocks that have none,
 *  or, if these are too few, in all; then the first blocks come to it when they are done with their parts.
 *  @param atOnce  blocks that fit on the device, which those that wait for each other have to */
void ConstraintProgram::place(SharedLaunch& launch, int atOnce) const {
    const auto wanted = [&](bool ofParts) {
        return std::accumulate(launch.shares.begin(), launch.shares.end(), 0, [&](int sum, const Share& share) {
            return share.isOfParts() == ofParts ? sum + share.numBlocks : sum;
        });
    };
    const bool hasParts = wanted(true) > 0;
    while (hasParts && wanted(false) > 0 && wanted(true) + wanted(false) > mostTurns * atOnce)
        launch.shares.pop_back();
    const int all =
                  launch.isCooperative ? std::min(wanted(true) + wanted(false), atOnce) : wanted(true) + wanted(false),
              ofParts = std::min(wanted(true), all), others = all - ofParts;
    const bool isApart = others > 0 && wanted(false) <= 2 * mostTurns * others;
    launch.numBlocks = all;
    int next = 0;
    for (Share& share : launch.shares) {
        const bool staysApart = isApart && !share.isOfParts();
        const int room = staysApart ? others : all;
        share.numBlocks = std::min(share.numBlocks, room);
        const bool beginsAgain = next + share.numBlocks > all;
        launch.takesTurns = launch.takesTurns || beginsAgain;
        if (beginsAgain && staysApart)
            next = ofParts;
        share.firstBlock = next % all;
        next += share.numBlocks;
    }
}

string ConstraintProgram::shareText(const SharedLaunch& launch, int number, const vector<StageText>& stages,
                                    const ConstraintSet& set) const {
    const Share& share = launch.shares[number];
    const string all = to_string(launch.numBlocks), own = to_string(share.numBlocks),
                 threads = to_string(launch.blockSize);
    string text = "#undef DEVICE\n#undef GROUP_ID\n#undef NUM_GROUPS\n#undef GLOBAL_ID\n#undef GLOBAL_SIZE\n" +
                  define("DEVICE", "__device__") + define("PART_OF_KERNEL", "__device__ __forceinline__") +
                  define("GROUP_ID", "(((int) blockIdx.x + " + to_string(launch.numBlocks - share.firstBlock) + ") % " +
                                         all + ")") +
                  define("NUM_GROUPS", own) + define("GLOBAL_ID", "(GROUP_ID * " + threads + " + (int) threadIdx.x)") +
                  define("GLOBAL_SIZE", "(" + own + " * " + threads + ")") +
                  define("SMALL_BLOCKS_TOGETHER", to_string(launch.blockSize / smallBlock));
    if (share.isOfParts())
        text += partText(stages, *share.range, share.group, set, true, PartRole::All, &share);
    else if (share.range != nullptr)
        text += generalText(stages, *share.range, share.group, set, &share);
    else
        text += smallText(stages, false, &share);
    for (const StageText& stage : stages)
        text += "PART_OF_KERNEL void " + stage.name + "(" + arguments.parameters() +
                ") {\n    if (GROUP_ID < NUM_GROUPS)\n        " +
                arguments.callText(share.name + "_" + stage.name,
                                   {{"firstOfRange", to_string(share.first)}, {"lastOfRange", to_string(share.last)}}) +
                "}\n";
    return "namespace share" + to_string(number) + " {\n" + text + "}\n" + undefinitions(text);
}

void ConstraintProgram::addSharedLaunch(const SharedLaunch& launch, const vector<StageText>& stages,
                                        const ConstraintSet& set) {
    if (launch.shares.empty())
        return;
    string text;
    for (int number = 0; number < (int) launch.shares.size(); number++)
        text += shareText(launch, number, stages, set);
    const string bounds = "__launch_bounds__(" + to_string(launch.blockSize) + ", " + to_string(launch.together) + ") ";
    for (const StageText& stage : stages) {
        text += "KERNEL " + bounds + "void eachCluster_" + stage.name + "(" + arguments.parameters() + ") {\n";
        for (int number = 0; number < (int) launch.shares.size(); number++)
            text += string(number > 0 && launch.takesTurns ? "    __syncthreads();\n" : "") + "    " +
                    arguments.callText("share" + to_string(number) + "::" + stage.name, {});
        text += "}\n";
    }
    addLaunches(programWithoutWhole(text, launch.sharedBytes, launch.isCooperative), "eachCluster", stages,
                launch.numBlocks * launch.blockSize, launch.blockSize, 0, 0);
}

string ConstraintProgram::kernelText(const Share* share, const string& name, const string& bounds, const string& memory,
                                     const string& body, const string& begin) const {
    return share == nullptr ? arguments.kernelText(name, bounds, memory, body, begin)
                            : arguments.functionText(name, memory, body, begin);
}

} // namespace ConstraintPlugin
