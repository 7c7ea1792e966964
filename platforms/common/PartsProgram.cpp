// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The text of kernels for large clusters in overlapping parts, and their launches.
#include "ConstraintKernelSources.h"
#include "ConstraintProgram.h"
#include "CustomText.h"
#include "TestHooks.h"
#include "TextMarkers.h"
#include <algorithm>
#include <numeric>
#include <set>

using std::string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** Operations on a particle. @param notesIf  condition of those that only write, which are called keep... */
string operationsText(const vector<string>& operations, const string& notesIf = "") {
    string text;
    for (const string& operation : operations)
        text += "        " + (operation.compare(0, 4, "keep") == 0 ? notesIf : "") + operation + "(a, i, &p);\n";
    return text;
}

/** Those that note what was before a step need not come first: reads of others come before these then. */
vector<string> withNotesLast(vector<string> operations) {
    std::stable_partition(operations.begin(), operations.end(), [](const string& operation) {
        return operation != "keepStart" && operation != "keepVelocity";
    });
    return operations;
}

vector<string> withoutNotes(vector<string> operations) {
    operations.erase(std::remove_if(operations.begin(), operations.end(),
                                    [](const string& operation) { return operation.compare(0, 4, "keep") == 0; }),
                     operations.end());
    return operations;
}

} // namespace

bool isOfLocalParts(const string& solve) {
    return solve == "solvePositions" || solve == "solveVelocities" || solve == "solveHeatedVelocities";
}

bool ConstraintProgram::waitsIn(const ConstraintTables::Range& range, const ThreadGroup& group) const {
    int mostParts = 0; // of a cluster
    for (int c = range.first; c < range.last; c++)
        mostParts = std::max(mostParts, constraintTables.partsOfCluster[c][1] - constraintTables.partsOfCluster[c][0]);
    return !range.isSplit || (device.cooperatingBlocks() > 1 &&
                              mostParts <= device.cooperatingBlocks() * group.together && !TestHooks::launches.isSet());
}

string ConstraintProgram::prefixOf(PartRole role) {
    return role == PartRole::Whole ? "clusterOfParts" : "partOfCluster";
}

string ConstraintProgram::partText(const vector<StageText>& stages, const ConstraintTables::Range& range,
                                   const ThreadGroup& group, const ConstraintSet& set, bool waits, PartRole role,
                                   const Share* share) const {
    const ConstraintTables::Cut cut = ConstraintTables::cutOf(range.cut);
    string text =
        rangeText(range, group, set) + define("WAITS", waits ? "1" : "0") + "#ifdef TAKES_WHOLE\n" +
        define("HAS_WHOLE", "1") + "#else\n" + define("HAS_WHOLE", range.isAtBorder ? "1" : "0") + "#endif\n" +
        define("IS_SPLIT", range.isSplit ? "1" : "0") +
        define("MOST_CORRECTIONS", std::to_string(cut.mostCorrections)) +
        define("FIRST_JUDGED", std::to_string(cut.firstJudged)) +
        define("LARGEST_RATIO", "(" + std::to_string(cut.mostPercent) + " / 100.0f)") +
        define("LAST_GAIN", TestHooks::last.isSet() ? "0" : "8") +
        define("SOLVES_WHOLE", TestHooks::onlyParts.isSet() ? "0" : "1") +
        define("WAIT_FOR_PARTS(c)", range.isSplit ? "blockBarrier(a->partBarriers + 2 * a->partsOfCluster[c].x, "
                                                    "a->partsOfCluster[c].y - a->partsOfCluster[c].x);"
                                                  : "SYNC_THREADS") +
        ConstraintKernelSources::solves + ConstraintKernelSources::parts;
    // The whole cluster is General, and so are parts that do not fit, and solves that are not of local parts.
    text += define("IS_General_LOCAL", "0") + define("IS_Local_LOCAL", "1");
    if (group.isLocal) {
        const ConstraintTables::PartTable& table = constraintTables.layouts.at(range.first);
        text +=
            table.layout.definitions() + define("FIRST_TABLE", std::to_string(table.first)) +
            ConstraintKernelSources::partLocal +
            (table.layout.hasAngles() || range.isJoined ? ConstraintKernelSources::partAngleChanges : "") +
            (table.layout.hasAngles() ? ConstraintKernelSources::partAngles : "") +
            (table.layout.hasExpressions() ? fillMarkers("partExpressions", ConstraintKernelSources::partExpressions,
                                                         {{"FUNCTIONS", localCustomText(set)}})
                                           : "") +
            (range.isJoined ? ConstraintKernelSources::partBodies + ConstraintKernelSources::partJoints : "") +
            (table.layout.hasGlobalRows() ? ConstraintKernelSources::partGlobalRows : "") +
            ConstraintKernelSources::partDistances + ConstraintKernelSources::partFactor +
            ConstraintKernelSources::partExchange;
    }
    std::set<string> solves;
    const vector<SplitStage> split(stages.begin(), stages.end());
    for (const SplitStage& stage : split)
        solves.insert(stage.solves.begin(), stage.solves.end());
    const bool hasRounds = role != PartRole::Whole, hasWhole = role != PartRole::Rounds;
    for (const string& solve : hasWhole ? solves : std::set<string>())
        text += fillMarkers("partRounds", ConstraintKernelSources::partRounds, {{"SOLVE", solve}});
    for (const SplitStage& stage : split)
        for (std::size_t k = 0; k < stage.solves.size(); k++) {
            const string name = stage.nameOf((int) k), solve = stage.solves[k];
            const vector<string> before = k == 0 ? stage.operations[0] : vector<string>();
            const bool isLocal = group.isLocal && isOfLocalParts(solve);
            const string after = operationsText(stage.operations[k + 1]);
            if (hasWhole)
                text += fillMarkers("partStage", ConstraintKernelSources::partStage,
                                    {{"STAGE", name},
                                     {"SOLVE", solve},
                                     {"WITHOUT_NOTES", operationsText(withoutNotes(before))},
                                     {"BEFORE", operationsText(before, "if (keepsNotes) ")},
                                     {"AFTER", after}});
            if (isLocal)
                text += fillMarkers("partStageLocal", ConstraintKernelSources::partStageLocal,
                                    {{"STAGE", name},
                                     {"BEFORE", operationsText(withNotesLast(before), "    if (isNoted) ")},
                                     {"AFTER", after}});
            if (hasWhole)
                text += fillMarkers("partWhole", ConstraintKernelSources::partWhole,
                                    {{"STAGE", name},
                                     {"SOLVE", solve},
                                     {"KIND", isLocal ? "Local" : "General"},
                                     {"ROUNDS", hasRounds ? "1" : "0"}});
            if (hasRounds)
                text += fillMarkers("partRun", ConstraintKernelSources::partRun,
                                    {{"STAGE", name},
                                     {"SOLVE", solve},
                                     {"KIND", isLocal ? "Local" : "General"},
                                     {"WHOLE", hasWhole ? "1" : "0"}});
        }
    // There may be fewer blocks than parts: of blocks that wait for each other, and with OpenCL, where OpenMM launches
    // no more than fill a device.
    const auto kernel = [&](const string& name, const string& body) {
        return kernelText(
            share, prefixOf(role) + "_" + name, "GROUP_BOUNDS ", "    DECLARE_SHARED_MEMORY\n",
            "    for (int c = a->firstOfRange + (int) GROUP_ID; c < a->lastOfRange; c += (int) NUM_GROUPS) {\n" + body +
                "        SYNC_THREADS\n    }\n");
    };
    for (const SplitStage& stage : split) {
        string all;
        for (std::size_t k = 0; k < stage.solves.size(); k++) {
            const string run = "        run_" + stage.nameOf((int) k) + "(a, c SHARED_ARGUMENT);\n";
            all += (k > 0 ? "        WAIT_FOR_PARTS(c)\n" : "") + run;
            if (!waits)
                text += kernel(stage.nameOf((int) k), run);
        }
        if (waits)
            text += kernel(stage.name, all);
    }
    return text;
}

/** Blocks that wait for each other are on the device together, and take parts in turn, c, c + blocks, .... A cluster
 * has no more parts than there are blocks, so all of the first one that is not solved yet are taken. */
int ConstraintProgram::blocksOfParts(const ConstraintTables::Range& range, const ThreadGroup& group) const {
    const int numParts = range.last - range.first;
    const bool isLimited = range.isSplit && waitsIn(range, group);
    return isLimited ? std::min(numParts, device.cooperatingBlocks() * group.together) : numParts;
}

ConstraintProgram::Program ConstraintProgram::programWithoutWhole(const string& text, std::size_t sharedBytes,
                                                                  bool isCooperative) {
    withoutWhole.push_back(programOf(text, sharedBytes, isCooperative));
    return withoutWhole.back();
}

bool ConstraintProgram::takeWhole() {
    if (hasWhole)
        return false;
    hasWhole = true;
    for (const Program& program : withoutWhole)
        program->define(define("TAKES_WHOLE", "1"));
    for (auto& [stage, some] : launches)
        for (Launch& launch : some)
            if (std::count(withoutWhole.begin(), withoutWhole.end(), launch.program) > 0)
                launch.kernel = nullptr;
    return true;
}

void ConstraintProgram::addParts(const vector<StageText>& stages, const ConstraintTables::Range& range,
                                 const ConstraintSet& set) {
    const ThreadGroup group = threadGroupOf(range);
    const bool waits = waitsIn(range, group);
    const int blocks = blocksOfParts(range, group);
    const auto add = [&](const vector<StageText>& some, const ThreadGroup& threads, PartRole role) {
        if (some.empty())
            return;
        const Program program = programWithoutWhole(partText(some, range, threads, set, waits, role),
                                                    sharedBytes(threads), waits && range.isSplit);
        const auto addLaunches = [&](const string& stage, const string& name, const vector<int>& numbers) {
            for (int round : numbers)
                launches[stage].push_back({program, prefixOf(role) + "_" + name, blocks * threads.blockSize,
                                           threads.blockSize, range.first, range.last, round});
        };
        // A round, or the whole cluster (-1), or the end (-2): see run_... in kernels/partRun.cc. The first round may
        // only measure, and the last one only decides.
        vector<int> rounds;
        if (role != PartRole::Whole)
            rounds.resize(ConstraintTables::cutOf(range.cut).mostCorrections + 3);
        std::iota(rounds.begin(), rounds.end(), 0);
        if (role != PartRole::Rounds)
            rounds.insert(rounds.end(), {-1, -2});
        for (const SplitStage& stage : vector<SplitStage>(some.begin(), some.end()))
            if (waits)
                addLaunches(stage.name, stage.name, {0});
            else
                for (std::size_t k = 0; k < stage.solves.size(); k++)
                    addLaunches(stage.name, stage.nameOf((int) k), rounds);
    };
    if (!group.isLocal || !range.isJoined) {
        add(stages, group, PartRole::All);
        return;
    }
    // Stages of joined bodies have one solve each.
    ThreadGroup ofOthers = group;
    ofOthers.isLocal = false;
    ofOthers.sharedFloats = ofOthers.argumentsAt() + arguments.floats();
    vector<StageText> local, others;
    for (const StageText& stage : stages) {
        const bool isLocal = std::any_of(stage.steps.begin(), stage.steps.end(), isOfLocalParts);
        (isLocal ? local : others).push_back(stage);
    }
    add(others, ofOthers, PartRole::All);
    if (waits) {
        add(local, group, PartRole::All);
        return;
    }
    add(local, group, PartRole::Rounds);
    add(local, ofOthers, PartRole::Whole);
}

} // namespace ConstraintPlugin
