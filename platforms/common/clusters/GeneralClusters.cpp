// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "GeneralClusters.h"
#include "CustomText.h"
#include <algorithm>

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** factor.cc for numbers in one place. */
string factorText(const string& place, const string& space, const string& number, const string& threshold) {
    return filledText("factor.cc", {{"PLACE", place}, {"SPACE", space}, {"NUMBER", number}, {"THRESHOLD", threshold}});
}

/** What the threads of a group do in a stage. */
string stageText(const StageText& stage, bool isJoined) {
    // No barriers are needed here: a thread has the same particles in every loop, a solve reads those of others
    // only after its first worstOf() and no more after its last, and positions move at the end of a stage.
    string steps, ofParticle;
    const auto takeThoseOfParticles = [&] {
        if (!ofParticle.empty())
            steps += "        EACH_PARTICLE(n) {\n            const int i = a->clusterParticle[n];\n" +
                     string(isJoined ? "            if (i >= a->numParticles) // a body's\n                continue;\n"
                                     : "") +
                     "            Particle p = loadParticle(a, i);\n" + ofParticle +
                     "            storeParticle(a, i, &p);\n        }\n";
        ofParticle.clear();
    };
    for (const string& step : stage.steps)
        if (isSolve(step)) {
            takeThoseOfParticles();
            steps += "        " + step + "(a, c SHARED_ARGUMENT);\n";
        } else
            ofParticle += "            " + step + "(a, i, &p);\n";
    takeThoseOfParticles();
    return steps;
}

} // namespace

ProgramText GeneralClusters::rangeText(const ConstraintTables::Range& range, const ThreadGroup& group,
                                       const ConstraintSet& set, bool hasRows) const {
    const ConstraintTables& t = frame.tables;
    const bool hasShared = group.factorNumbers > 0, fallsBack = hasShared && frame.mixedIsDouble();
    const bool hasGlobal = !range.isIterative && (fallsBack || !hasShared || group.hasOthers);
    const int firstRow = t.rowStart[range.first];
    const bool onlyDistances =
        !range.isJoined && std::all_of(t.rowKind.begin() + firstRow, t.rowKind.begin() + t.rowStart[range.end],
                                       [](int kind) { return kind == (int) RowKind::Distance; });
    ProgramText text = frame.text(range.isAtBorder);
    text.define("IS_SUBDOMAIN", range.group == ThreadGroupKind::Subdomain)
        .define("IS_BORDER", range.first == t.borderCluster)
        .define("GROUP_IS_BLOCK", range.group != ThreadGroupKind::Thread)
        .define("BLOCK_SIZE", group.blockSize)
        .define("BLOCKS_TOGETHER", group.together)
        .define("ITERATIVE", range.isIterative)
        .define("HAS_GLOBAL", hasGlobal)
        .define("SHORT_NUMBERS", t.hasShortNumbers())
        .define("ONLY_DISTANCES", onlyDistances)
        .define("SLOT_SHIFT", "(" + to_string(t.slotStart[firstRow] - 2 * firstRow) + ")")
        .define("STORE_SHIFT", "(" + to_string(t.slotStart[firstRow] - firstRow) + ")")
        .define("FACTOR_NUMBERS", group.factorNumbers)
        .define("SHARED_FLOATS", group.sharedFloats)
        .define("REPORTS_AT", group.reportsAt)
        .define("HAS_JOINTS", range.isJoined)
        .define("HAS_ROWS", hasRows)
        .provide("custom", customText(set, range.isJoined))
        .provide("factorShared", factorText("Shared", "LOCAL_ARG", "float", "1e-6f"))
        .provide("factorGlobal", factorText("Global", "GLOBAL", "mixed", "PIVOT_THRESHOLD"));
    return text;
}

string GeneralClusters::text(const vector<StageText>& stages, const ConstraintTables::Range& range,
                             const ThreadGroup& group, const ConstraintSet& set, bool isShare) const {
    const bool isBlock = range.group != ThreadGroupKind::Thread;
    ProgramText text = rangeText(range, group, set);
    for (const string& solve : solvesOf(stages))
        text.add("clusterSolve.cc", {{"SOLVE", solve}});
    const string loop = isBlock ? "(int c = a->firstOfRange + GROUP_ID; c < a->lastOfRange; c += NUM_GROUPS)"
                                : "(int c = a->firstOfRange + GLOBAL_ID; c < a->lastOfRange; c += GLOBAL_SIZE)";
    for (const StageText& stage : stages)
        text.add(frame.kernelText(isShare, prefixOf(range.group) + "_" + stage.name, isBlock ? "GROUP_BOUNDS " : "",
                                  isBlock ? "    DECLARE_SHARED_MEMORY\n" : "",
                                  "    for " + loop + " {\n" + stageText(stage, range.isJoined) + "    }\n"));
    return text.str();
}

void GeneralClusters::add(const vector<StageText>& stages, const ConstraintTables::Range& range,
                          const ConstraintSet& set) const {
    const ThreadGroup group = groupOf(range);
    const int clusters = range.last - range.first;
    frame.launches.add(frame.programOf(text(stages, range, group, set), sharedBytes(group)), prefixOf(range.group),
                       stages, range.group == ThreadGroupKind::Thread ? clusters : clusters * group.blockSize,
                       group.blockSize, range.first, range.last);
}

} // namespace ConstraintPlugin
