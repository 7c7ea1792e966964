// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Subdomains.h"
#include "CustomText.h"
#include "TestHooks.h"
#include <algorithm>
#include <iterator>
#include <numeric>

using std::string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** Operations on a particle. @param notesIf  condition of those that only write, which begin with `notes` */
string operationsText(const vector<string>& operations, const string& notesIf = "", const string& notes = "keep") {
    string text;
    for (const string& operation : operations)
        text += "        " + (operation.compare(0, 4, notes) == 0 ? notesIf : "") + operation + "(a, i, &p);\n";
    return text;
}

/** Whether an operation uses and changes velocities and displacements only, or notes something of them. */
bool isOfMotion(const string& operation) {
    constexpr const char* all[] = {"addVelocityCorrection", "noteHeat", "halfDrift", "drift", "noteVelocityChange"};
    return std::find(std::begin(all), std::end(all), operation) != std::end(all);
}

/** Those that note what was before a step need not come first: reads of others come before these then. */
vector<string> withNotesLast(vector<string> operations) {
    std::stable_partition(operations.begin(), operations.end(), [](const string& operation) {
        return operation != "keepPositions" && operation != "keepVelocity";
    });
    return operations;
}

vector<string> withoutNotes(vector<string> operations) {
    operations.erase(std::remove_if(operations.begin(), operations.end(),
                                    [](const string& operation) { return operation.compare(0, 4, "keep") == 0; }),
                     operations.end());
    return operations;
}

/** Whether subdomains in shared memory have a solve (subdomainDistances.cc): those of each step, but for accelerations,
 * which need many digits. */
bool isOfLocalSubdomains(const string& solve) {
    return solve == "solvePositions" || solve == "solveVelocities" || solve == "solveHeatedVelocities";
}

bool isLocal(const ThreadGroup& group, const string& solve) {
    return group.isLocal && isOfLocalSubdomains(solve);
}

bool areLocal(const ThreadGroup& group, const vector<string>& solves) {
    return group.isLocal && std::all_of(solves.begin(), solves.end(), isOfLocalSubdomains);
}

} // namespace

bool Subdomains::waitsIn(const ConstraintTables::Range& range, const ThreadGroup& group) const {
    const vector<ConstraintTables::Int4>& subdomainsOfCluster = frame.tables.subdomainsOfCluster;
    int mostSubdomains = 0; // of a cluster
    for (int c = range.first; c < range.last; c++)
        mostSubdomains = std::max(mostSubdomains, subdomainsOfCluster[c][1] - subdomainsOfCluster[c][0]);
    const int atOnce = frame.device.cooperatingBlocks();
    return !range.isSplit ||
           (atOnce > 1 && mostSubdomains <= atOnce * group.together && TestHooks::launches.valueOr(0) == 0);
}

/** Blocks that wait for each other are on the device together, and take subdomains in turn, c, c + blocks, .... A
 * cluster has no more subdomains than there are blocks, so all of the first one that is not solved yet are taken. */
int Subdomains::blocksOf(const ConstraintTables::Range& range, const ThreadGroup& group) const {
    const int numSubdomains = range.last - range.first;
    const bool isLimited = range.isSplit && waitsIn(range, group);
    return isLimited ? std::min(numSubdomains, frame.device.cooperatingBlocks() * group.together) : numSubdomains;
}

bool Subdomains::continues(const SplitStage& stage, std::size_t k, const Form& form) {
    if (!form.keepsParticles || k == 0 || k == stage.solves.size())
        return false;
    const vector<string>& between = stage.operations[k];
    return areLocal(form.group, {stage.solves[k - 1], stage.solves[k]}) &&
           std::all_of(between.begin(), between.end(), isOfMotion);
}

void Subdomains::addStage(ProgramText& text, const SplitStage& stage, std::size_t k, const Form& form) const {
    const bool isNext = continues(stage, k, form), goesOn = continues(stage, k + 1, form);
    const bool hasRounds = form.role != Role::Whole, hasWhole = form.hasRows && form.role != Role::Rounds;
    const string name = stage.nameOf((int) k), solve = stage.solves[k], after = operationsText(stage.operations[k + 1]);
    const vector<string> before = k == 0 ? stage.operations[0] : vector<string>();
    const string kind = isLocal(form.group, solve) ? "Local" : "General";
    if (hasWhole)
        text.add("subdomainStage.cc", {{"STAGE", name},
                                       {"SOLVE", solve},
                                       {"WITHOUT_NOTES", operationsText(withoutNotes(before))},
                                       {"BEFORE", operationsText(before, "if (keepsNotes) ")},
                                       {"AFTER", after}});
    if (kind == "Local" && isNext)
        text.add("subdomainNextLocal.cc",
                 {{"STAGE", name}, {"BETWEEN", operationsText(stage.operations[k], "if (isNoted) ", "note")}});
    else if (kind == "Local")
        text.add("subdomainBeginLocal.cc", {{"STAGE", name},
                                            {"LOAD", form.isOneLaunch && k == 0 ? "startParticle" : "loadParticle"},
                                            {"BEFORE", operationsText(withNotesLast(before), "    if (isNoted) ")}});
    if (kind == "Local" && !goesOn)
        text.add("subdomainFinishLocal.cc",
                 {{"STAGE", name},
                  {"STORE", form.isOneLaunch && k + 1 == stage.solves.size() ? "storeVelocity" : "storeParticle"},
                  {"AFTER", after}});
    if (hasWhole)
        text.add("subdomainWhole.cc",
                 {{"STAGE", name}, {"SOLVE", solve}, {"KIND", kind}, {"ROUNDS", hasRounds ? "1" : "0"}});
    if (hasRounds)
        text.add("subdomainRun.cc", {{"STAGE", name},
                                     {"SOLVE", solve},
                                     {"KIND", kind},
                                     {"WHOLE", hasWhole ? "1" : "0"},
                                     {"CONTINUES", isNext ? "1" : "0"},
                                     {"GOES_ON", goesOn ? "1" : "0"}});
}

void Subdomains::addWaitingKernel(const SplitStage& stage, const Form& form, const AddKernel& addKernel) const {
    string body = "        SubdomainState state;\n        Solve last;\n";
    for (std::size_t k = 0; k < stage.solves.size(); k++) {
        if (k > 0 && !continues(stage, k, form))
            body += "        WAIT_FOR_SUBDOMAINS(c)\n";
        const string name = stage.nameOf((int) k);
        body += isLocal(form.group, stage.solves[k])
                    ? "        runLocal_" + name + "(a, c, isStopped, &last, &state SHARED_ARGUMENT);\n"
                    : "        run_" + name + "(a, c SHARED_ARGUMENT);\n";
    }
    // Subdomains in shared memory ask for failures when their particles have come.
    addKernel(stage.name, body,
              areLocal(form.group, stage.solves)
                  ? "    const bool isStopped = hasFailed(a);\n"
                  : string(KernelArguments::hasFailedText) + "    const bool isStopped = false;\n");
}

string Subdomains::text(const vector<StageText>& stages, const ConstraintTables::Range& range, const ThreadGroup& group,
                        const ConstraintSet& set, bool hasWhole, Role role, bool isShare) const {
    const ConstraintTables::Cut cut = ConstraintTables::cutOf(range.cut);
    const bool waits = waitsIn(range, group);
    const vector<string> solves = solvesOf(stages);
    const bool solvesWhole = hasWhole || range.isAtBorder, hasRows = solvesWhole || !waits || !areLocal(group, solves);
    const bool isOneLaunch = waits && !range.isJoined && !range.isAtBorder;
    const Form form{group, role, hasRows, isOneLaunch, isOneLaunch && !solvesWhole};
    ProgramText text = clusters.rangeText(range, group, set, hasRows);
    text.define("HAS_WHOLE", solvesWhole)
        .define("WAITS", waits)
        .define("IS_SPLIT", range.isSplit)
        .define("MOST_CORRECTIONS", cut.mostCorrections)
        .define("FIRST_JUDGED", cut.firstJudged)
        .define("LARGEST_RATIO", "(" + std::to_string(cut.mostPercent) + " / 100.0f)")
        .define("KEEPS_FACTOR", !TestHooks::launches.isSet())
        .define("LAST_GAIN", TestHooks::last.isSet() ? 0 : 8)
        .define("SOLVES_WHOLE", TestHooks::onlySubdomains.isSet() ? 0 : 1);
    if (group.isLocal) {
        const ConstraintTables::SubdomainTable& table = frame.tables.layouts.at(range.first);
        text.define(table.layout.definitions())
            .define("FIRST_TABLE", table.first)
            .provide("subdomainExpressions.cc",
                     filledText("subdomainExpressions.cc", {{"FUNCTIONS", localCustomText(set)}}))
            .need("subdomainExchange.cc");
    }
    if (hasRows && role != Role::Rounds)
        for (const string& solve : solves)
            text.add("subdomainRounds.cc", {{"SOLVE", solve}});
    const vector<SplitStage> split(stages.begin(), stages.end());
    for (const SplitStage& stage : split)
        for (std::size_t k = 0; k < stage.solves.size(); k++)
            addStage(text, stage, k, form);
    // There may be fewer blocks than subdomains: of blocks that wait for each other, and with OpenCL, where OpenMM
    // launches no more than fill a device.
    const AddKernel addKernel = [&](const string& name, const string& body, const string& begin) {
        text.add(frame.kernelText(
            isShare, prefixOf(role) + "_" + name, "GROUP_BOUNDS ", "    DECLARE_SHARED_MEMORY\n",
            "    for (int c = a->firstOfRange + (int) GROUP_ID; c < a->lastOfRange; c += (int) NUM_GROUPS) {\n" + body +
                "        SYNC_THREADS\n    }\n",
            begin));
    };
    for (const SplitStage& stage : split)
        if (waits)
            addWaitingKernel(stage, form, addKernel);
        else
            for (std::size_t k = 0; k < stage.solves.size(); k++)
                addKernel(stage.nameOf((int) k), "        run_" + stage.nameOf((int) k) + "(a, c SHARED_ARGUMENT);\n",
                          KernelArguments::hasFailedText);
    return text.str();
}

void Subdomains::addLaunches(const vector<StageText>& stages, const ConstraintTables::Range& range,
                             const ThreadGroup& group, const ConstraintSet& set, Role role) const {
    if (stages.empty())
        return;
    const bool waits = waitsIn(range, group);
    const auto textWith = [&](bool hasWhole) { return text(stages, range, group, set, hasWhole, role); };
    const Program program = frame.launches.addWithoutWhole(
        frame.programOf(textWith(false), clusters.sharedBytes(group), waits && range.isSplit), textWith(true));
    // A round, or the whole cluster (-1), or the end (-2): see run_... in subdomainRun.cc. The first round may only
    // measure, and the last one only decides.
    vector<int> rounds;
    if (role != Role::Whole)
        rounds.resize(ConstraintTables::cutOf(range.cut).mostCorrections + 3);
    std::iota(rounds.begin(), rounds.end(), 0);
    if (role != Role::Rounds)
        rounds.insert(rounds.end(), {-1, -2});
    const auto add = [&](const string& stage, const string& name, const vector<int>& numbers) {
        for (int round : numbers)
            frame.launches.of(stage).push_back({program, prefixOf(role) + "_" + name,
                                                blocksOf(range, group) * group.blockSize, group.blockSize, range.first,
                                                range.last, round});
    };
    for (const SplitStage& stage : vector<SplitStage>(stages.begin(), stages.end()))
        if (waits)
            add(stage.name, stage.name, {0});
        else
            for (std::size_t k = 0; k < stage.solves.size(); k++)
                add(stage.name, stage.nameOf((int) k), rounds);
}

void Subdomains::add(const vector<StageText>& stages, const ConstraintTables::Range& range,
                     const ConstraintSet& set) const {
    const ThreadGroup group = clusters.groupOf(range);
    if (!group.isLocal || !range.isJoined) {
        addLaunches(stages, range, group, set, Role::All);
        return;
    }
    // Stages of joined bodies have one solve each.
    ThreadGroup ofOthers = group;
    ofOthers.isLocal = false;
    ofOthers.sharedFloats = ofOthers.argumentsAt() + frame.arguments.floats();
    vector<StageText> local, others;
    for (const StageText& stage : stages) {
        const bool anyIsLocal = std::any_of(stage.steps.begin(), stage.steps.end(), isOfLocalSubdomains);
        (anyIsLocal ? local : others).push_back(stage);
    }
    addLaunches(others, range, ofOthers, set, Role::All);
    if (waitsIn(range, group)) {
        addLaunches(local, range, group, set, Role::All);
        return;
    }
    addLaunches(local, range, group, set, Role::Rounds);
    addLaunches(local, range, ofOthers, set, Role::Whole);
}

} // namespace ConstraintPlugin
