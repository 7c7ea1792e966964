// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SharedLaunch.h"
#include <algorithm>
#include <numeric>
#include <set>

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** Turns that the blocks of a launch take with what does not wait for others, at most. In larger systems small clusters
 *  have a launch of their own: more of their blocks fit on a multiprocessor than of those of subdomains. */
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

SharedLaunch::SharedLaunch(const ProgramFrame& frame, const SmallClusters& small, const GeneralClusters& clusters,
                           const Subdomains& subdomains)
    : frame(frame), small(small), clusters(clusters), subdomains(subdomains) {
    if (!frame.device.hasNamespaces())
        return;
    addSubdomains();
    const bool hasSubdomains = !shares.empty();
    const bool isFull = together > 1 && hasSubdomains && frame.device.blocksInSharedMemory(sharedBytes) < together;
    addOthers();
    place(frame.device.cooperatingBlocks() * together);
    if (isFull || shares.size() < 2)
        shares.clear();
}

bool SharedLaunch::has(const ConstraintTables::Range* range) const {
    return std::any_of(shares.begin(), shares.end(), [&](const Share& share) { return share.range == range; });
}

/** Several blocks share a multiprocessor where all subdomains can; then the largest blocks decide. */
void SharedLaunch::addSubdomains() {
    vector<const ConstraintTables::Range*> ranges;
    int largestBlock = 0, fewest = maxBlockSize;
    for (const ConstraintTables::Range& range : frame.tables.ranges)
        if (range.group == ThreadGroupKind::Subdomain && !range.isJoined && !range.isAtBorder &&
            subdomains.waitsIn(range, clusters.groupOf(range))) {
            ranges.push_back(&range);
            fewest = std::min(fewest, clusters.groupOf(range).together);
        }
    for (const ConstraintTables::Range* range : ranges)
        largestBlock = std::max(largestBlock, clusters.groupOf(*range, 0, fewest).blockSize);
    for (const ConstraintTables::Range* range : ranges) {
        const ThreadGroup group = clusters.groupOf(*range, largestBlock, fewest);
        if (group.blockSize != largestBlock || group.together != fewest || !subdomains.waitsIn(*range, group))
            continue;
        blockSize = largestBlock;
        together = fewest;
        isCooperative = isCooperative || range->isSplit;
        sharedBytes = std::max(sharedBytes, clusters.sharedBytes(group));
        shares.push_back({range, group, Subdomains::prefixOf(Subdomains::Role::All), range->first, range->last, 0,
                          subdomains.blocksOf(*range, group)});
    }
}

void SharedLaunch::addOthers() {
    const bool hasSubdomains = !shares.empty();
    for (const ConstraintTables::Range& range : frame.tables.ranges)
        if (range.group == ThreadGroupKind::Thread && !range.isJoined && !range.isAtBorder)
            shares.push_back({&range, clusters.groupOf(range), GeneralClusters::prefixOf(range.group), range.first,
                              range.last, 0, divided(range.last - range.first, blockSize)});
    const ConstraintTables::SmallBlocks& blocks = frame.tables.small;
    if (blocks.threads() == 0)
        return;
    shares.push_back(
        {nullptr, {}, SmallClusters::prefix, blocks.first, blocks.last, 0, divided(blocks.threads(), blockSize)});
    if (hasSubdomains) // in memory without a declared size, as that of subdomains
        sharedBytes = std::max(sharedBytes, blockSize * small.shownBytes());
}

/** Subdomains come first, one block after the other. What does not wait for others takes turns in the blocks that have
 * none, or, if these are too few, in all; then the first blocks come to it when they are done with their subdomains.
 *  @param atOnce  blocks that fit on the device, which those that wait for each other have to */
void SharedLaunch::place(int atOnce) {
    const auto wanted = [&](bool ofSubdomains) {
        return std::accumulate(shares.begin(), shares.end(), 0, [&](int sum, const Share& share) {
            return share.isOfSubdomains() == ofSubdomains ? sum + share.numBlocks : sum;
        });
    };
    const bool hasSubdomains = wanted(true) > 0;
    while (hasSubdomains && wanted(false) > 0 && wanted(true) + wanted(false) > mostTurns * atOnce)
        shares.pop_back();
    const int all = isCooperative ? std::min(wanted(true) + wanted(false), atOnce) : wanted(true) + wanted(false),
              ofSubdomains = std::min(wanted(true), all), others = all - ofSubdomains;
    const bool isApart = others > 0 && wanted(false) <= 2 * mostTurns * others;
    numBlocks = all;
    int next = 0;
    for (Share& share : shares) {
        const bool staysApart = isApart && !share.isOfSubdomains();
        const int room = staysApart ? others : all;
        share.numBlocks = std::min(share.numBlocks, room);
        const bool beginsAgain = next + share.numBlocks > all;
        takesTurns = takesTurns || beginsAgain;
        if (beginsAgain && staysApart)
            next = ofSubdomains;
        share.firstBlock = next % all;
        next += share.numBlocks;
    }
}

string SharedLaunch::shareText(int number, const vector<StageText>& stages, const ConstraintSet& set,
                               bool hasWhole) const {
    const Share& share = shares[number];
    string text = filledText("share.cc", {{"BLOCKS_BEFORE", to_string(numBlocks - share.firstBlock)},
                                          {"ALL_BLOCKS", to_string(numBlocks)},
                                          {"BLOCKS", to_string(share.numBlocks)},
                                          {"THREADS", to_string(blockSize)}});
    if (share.isOfSubdomains())
        text += subdomains.text(stages, *share.range, share.group, set, hasWhole, Subdomains::Role::All, true);
    else if (share.range != nullptr)
        text += clusters.text(stages, *share.range, share.group, set, true);
    else
        text += small.text(stages, false, true, blockSize / smallBlock);
    for (const StageText& stage : stages)
        text += "PART_OF_KERNEL void " + stage.name + "(" + frame.arguments.parameters() +
                ") {\n    if (GROUP_ID < NUM_GROUPS)\n        " +
                frame.arguments.callText(share.name + "_" + stage.name, {{"firstOfRange", to_string(share.first)},
                                                                         {"lastOfRange", to_string(share.last)}}) +
                "}\n";
    return "namespace share" + to_string(number) + " {\n" + text + "}\n" + undefinitions(text);
}

string SharedLaunch::text(const vector<StageText>& stages, const ConstraintSet& set, bool hasWhole) const {
    string text;
    for (int number = 0; number < (int) shares.size(); number++)
        text += shareText(number, stages, set, hasWhole);
    const string bounds = "__launch_bounds__(" + to_string(blockSize) + ", " + to_string(together) + ") ";
    for (const StageText& stage : stages) {
        text += "KERNEL " + bounds + "void eachCluster_" + stage.name + "(" + frame.arguments.parameters() + ") {\n";
        for (int number = 0; number < (int) shares.size(); number++)
            text += string(number > 0 && takesTurns ? "    __syncthreads();\n" : "") + "    " +
                    frame.arguments.callText("share" + to_string(number) + "::" + stage.name, {});
        text += "}\n";
    }
    return text;
}

void SharedLaunch::add(const vector<StageText>& stages, const ConstraintSet& set) const {
    if (shares.empty())
        return;
    const Program program = frame.programOf(text(stages, set, false), sharedBytes, isCooperative);
    frame.launches.add(frame.launches.addWithoutWhole(program, text(stages, set, true)), "eachCluster", stages,
                       numBlocks * blockSize, blockSize, 0, 0);
}

} // namespace ConstraintPlugin
