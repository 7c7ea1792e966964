// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "BorderRows.h"
#include "TestHooks.h"
#include <algorithm>

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** What a solve changes. */
enum class Changed { Displacements, Velocities, Nothing };
Changed changedBy(const string& solve) {
    if (solve == "solveVelocitySpread")
        return Changed::Nothing;                                                                    // it is read only
    return solve.find("Velocities") != string::npos ? Changed::Velocities : Changed::Displacements; // or accelerations
}

/** What clusters at the border do in a turn. */
StageText turnOf(const string& solve) {
    if (changedBy(solve) == Changed::Nothing)
        return {"turn_" + solve, {solve, "keepSpread"}};
    const string what = changedBy(solve) == Changed::Displacements ? "Displacement" : "Velocity";
    return {"turn_" + solve, {"take" + what, solve, "give" + what}};
}

/** And to find responses. */
const StageText responsesStage{"responses", {"takeGradient", "solveResponses", "keepResponse"}};

/** A thread group has a bordered row, or one solves for what all of them correct. */
struct KernelOfRows {
    const char *name, *function;
    bool isOfEach;
};
vector<KernelOfRows> kernelsOfRows(int numBordered) {
    if (numBordered == 1)
        return {{"startBorder", "startBordered", true}, {"turnBorder", "takeTurn", false}};
    return {{"startBorder", "startBordered", true},
            {"evaluateBorder", "evaluateBordered", true},
            {"solveBorder", "solveBordered", false}};
}

/** A thread has a joined body. */
constexpr std::pair<const char*, const char*> kernelsOfBodies[] = {{"takeBodies", "takeBody"},
                                                                   {"respondBodies", "takeNextResponse"}};

} // namespace

BorderRows::BorderRows(const ProgramFrame& frame, const GeneralClusters& clusters, bool moves)
    : frame(frame), clusters(clusters), moves(moves), numTurns(TestHooks::turns.valueOr(2)) {
}

string BorderRows::stageText(const SplitStage& stage) const {
    string text;
    for (std::size_t k = 0; k < stage.operations.size(); k++) {
        const string ended = k > 0 ? stage.solves[k - 1] : "", begun = k < stage.solves.size() ? stage.solves[k] : "";
        const auto call = [](const string& what, const string& solve) {
            const Changed changed = solve.empty() ? Changed::Nothing : changedBy(solve);
            const string which = changed == Changed::Displacements ? "Positions" : "Velocities";
            return changed == Changed::Nothing ? "" : "        " + what + which + "(a, n, i, &p);\n";
        };
        string body = "    for (int n = GLOBAL_ID; n < NUM_BORDER_PARTICLES; n += GLOBAL_SIZE) {\n"
                      "        const int i = a->borderParticle[n];\n"
                      "        Particle p = loadParticle(a, i);\n        p.c = make_mixed3(0, 0, 0);\n";
        body += call("end", ended);
        for (const string& operation : stage.operations[k])
            body += "        " + operation + "(a, i, &p);\n";
        body += call("begin", begun);
        body += "        storeParticle(a, i, &p);\n    }\n";
        if (ended == "solvePositions" || ended == "solveStartAccelerations")
            body += "    addBorderMultipliers(a, lambdaOf(a));\n";
        if (ended == "solveVelocities" || ended == "solveEndAccelerations")
            body += "    addBorderMultipliers(a, muOf(a));\n";
        if (ended == "solveVelocitySpread")
            body += "    addBorderMultipliers(a, a->projection);\n";
        if (!begun.empty())
            body += "    if (GLOBAL_ID == 0)\n        a->borderState[0] = 0;\n";
        text += frame.arguments.kernelText("border_" + stage.nameOf((int) k), "", "", body);
    }
    return text;
}

vector<StageText> BorderRows::takeStages(const vector<StageText>& all) {
    vector<StageText> ofClusters = {responsesStage};
    for (const StageText& stage : all) {
        const SplitStage split(stage);
        stages.emplace(stage.name, split);
        for (const string& solve : split.solves)
            if (std::count(solves.begin(), solves.end(), solve) == 0) {
                solves.push_back(solve);
                ofClusters.push_back(turnOf(solve));
            }
    }
    return ofClusters;
}

/** The bordered rows are a general cluster of their own, but a thread group has one row, except for S. */
ConstraintTables::Range BorderRows::rangeOfRows() const {
    const ConstraintTables& t = frame.tables;
    int mostPoints = 0;
    bool joins = t.numBodiesAtBorder() > 0;
    for (int row = t.rowStart[t.borderCluster]; row < t.rowStart[t.borderCluster + 1]; row++) {
        const ConstraintTables::Int2 points =
            t.rowPoints.empty() ? ConstraintTables::Int2{t.slotStart[row], t.slotStart[row + 1]} : t.rowPoints[row];
        mostPoints = std::max(mostPoints, points[1] - points[0]);
        joins |= points[0] != t.slotStart[row]; // also bodies that cannot move, which are not at the border
    }
    const bool hasBlocks = GroupSizes::usesBlocks(frame.cc());
    ConstraintTables::Range range{};
    range.group = hasBlocks ? ThreadGroupKind::Block : ThreadGroupKind::Thread;
    range.isJoined = joins;
    range.isAtBorder = true;
    range.blockSize = std::min(mostPoints > 512 ? maxBorderBlock : 64, hasBlocks ? frame.device.largestBlock() : 64);
    range.first = t.borderCluster;
    range.last = range.end = t.borderCluster + 1;
    return range;
}

string BorderRows::text(const ConstraintTables::Range& range, const ThreadGroup& group,
                        const ConstraintSet& set) const {
    const bool isBlock = range.group == ThreadGroupKind::Block;
    ProgramText text = clusters.rangeText(range, group, set);
    string numbers;
    for (const char* solve : {"solvePositions", "projectPositions", "solveVelocities", "solveHeatedVelocities",
                              "projectVelocities", "solveVelocitySpread", "solveStartAccelerations",
                              "solveEndAccelerations"}) { // first those of this integrator
        const auto found = std::find(solves.begin(), solves.end(), solve);
        numbers += "BorderSolve_" + string(solve) + " = " + to_string(found - solves.begin()) +
                   (found == solves.end() ? " + 100, " : ", ");
    }
    text.provide("borderSolves", "enum { " + numbers + "};\n").need("border.cc");
    for (const KernelOfRows& kernel : kernelsOfRows(frame.tables.numBordered)) {
        const string count = kernel.isOfEach ? "NUM_BORDERED" : "1", first = kernel.isOfEach ? "" : "BORDER_CLUSTER + ",
                     loop = isBlock ? "GROUP_ID; n < " + count + "; n += NUM_GROUPS"
                                    : "GLOBAL_ID; n < " + count + "; n += GLOBAL_SIZE";
        text.add(frame.arguments.kernelText(
            kernel.name, isBlock ? "GROUP_BOUNDS " : "", isBlock ? "    DECLARE_SHARED_MEMORY\n" : "",
            "    for (int n = " + loop + ")\n        " + kernel.function + "(a, " + first + "n SHARED_ARGUMENT);\n"));
    }
    if (frame.tables.numBodiesAtBorder() > 0)
        text.need("borderBodies.cc");
    for (const auto& [name, function] : kernelsOfBodies)
        if (frame.tables.numBodiesAtBorder() > 0)
            text.add(frame.arguments.kernelText(
                name, "", "",
                "    for (int b = a->firstBodyAtBorder + GLOBAL_ID; b < a->numJoined; b += GLOBAL_SIZE)\n        " +
                    string(function) + "(a, b);\n"));
    for (const auto& [name, stage] : stages)
        text.add(stageText(stage));
    return text.str();
}

void BorderRows::add(const ConstraintSet& set) {
    const ConstraintTables& t = frame.tables;
    const ConstraintTables::Range range = rangeOfRows();
    ThreadGroup group;
    group.blockSize = range.blockSize;
    const Program program = frame.programOf(text(range, group, set), clusters.sharedBytes(group));
    const auto addLaunch = [&](const string& name, int threads, int blockSize = 64) {
        frame.launches.of(name).push_back({program, name, threads, blockSize});
    };
    const int threadsOfRow = range.group == ThreadGroupKind::Block ? group.blockSize : 1;
    for (const KernelOfRows& kernel : kernelsOfRows(t.numBordered))
        addLaunch(kernel.name, kernel.isOfEach ? threadsOfRow * t.numBordered : threadsOfRow, group.blockSize);
    for (const auto& [name, function] : kernelsOfBodies)
        if (t.numBodiesAtBorder() > 0)
            addLaunch(name, t.numBodiesAtBorder());
    const int threads = (int) std::max(t.borderParticle.size(), t.rowsAtBorder.size());
    for (const auto& [name, stage] : stages)
        for (std::size_t k = 0; k < stage.operations.size(); k++)
            addLaunch("border_" + stage.nameOf((int) k), std::max(threads, 1));
}

void BorderRows::takeMoreTurns() {
    numTurns += std::max(1, numTurns / 4);
}

void BorderRows::launchTurn(const string& name, int turn, int item, int number) {
    frame.arguments.set("turn", turn);
    frame.arguments.set("borderItem", item);
    frame.launches.execute(name, number);
}

void BorderRows::launchResponses(double time, int number) {
    if (hasResponses && (!moves || responseTime == time))
        return;
    launchTurn("frames", -1, 0, number);
    launchTurn("startBorder", -1, 0, number);
    const int numFields = frame.tables.numFields;
    for (int field = 0; field < numFields; field++) {
        launchTurn("respondBodies", -1, field, number);
        launchTurn(responsesStage.name, -1, field, number);
    }
    launchTurn("respondBodies", -1, numFields, number);
    hasResponses = true;
    responseTime = time;
}

void BorderRows::launchTurns(const string& solve, int number) {
    const int item = (int) (std::find(solves.begin(), solves.end(), solve) - solves.begin());
    const int turns = changedBy(solve) == Changed::Nothing ? 1 : numTurns;
    for (int turn = 0; turn < turns; turn++) {
        if (turn > 0)
            launchTurn("takeBodies", turn, item, number);
        launchTurn("turn_" + solve, turn, item, number);
        for (const char* rows : {"turnBorder", "evaluateBorder", "solveBorder"}) // those that there are
            launchTurn(rows, turn, item, number);
    }
}

void BorderRows::launch(const string& stage, double time, int number) {
    const SplitStage& split = stages.at(stage);
    frame.arguments.set("numTurns", numTurns);
    if (!split.solves.empty())
        launchResponses(time, number);
    for (std::size_t k = 0; k < split.operations.size(); k++) {
        launchTurn("border_" + split.nameOf((int) k), -1, 0, number);
        launchTurn("bodies_" + split.nameOf((int) k), -1, 0, number);
        if (k < split.solves.size())
            launchTurns(split.solves[k], number);
        for (const string& operation : split.operations[k])
            if (operation == "move" || operation == "shift" || operation == "moveAccelerated")
                hasResponses = false;
    }
}

} // namespace ConstraintPlugin
