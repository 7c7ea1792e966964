// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The kernels of bordered rows (kernels/border.cc), and the turns that they take with the clusters at the border. A
// stage is several launches there: operations of its particles, a thread each, and for each solve a number of turns. Of
// joined bodies there are launches between these, which JoinedProgram.cpp compiles: bodies_<part>, and frames before
// responses.
#include "ConstraintKernelSources.h"
#include "ConstraintProgram.h"
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

} // namespace

string ConstraintProgram::borderStageText(const SplitStage& stage) const {
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
        text += arguments.kernelText("border_" + stage.nameOf((int) k), "", "", body);
    }
    return text;
}

void ConstraintProgram::addBorder(const vector<StageText>& stages, const ConstraintSet& set) {
    const ConstraintTables& t = constraintTables;
    if (!t.hasBorder())
        return;
    numTurns = TestHooks::turns.valueOr(numTurns);
    vector<StageText> ofClusters = {responsesStage};
    for (const StageText& stage : stages) {
        const SplitStage split(stage);
        borderStages.emplace(stage.name, split);
        for (const string& solve : split.solves)
            if (std::count(borderSolves.begin(), borderSolves.end(), solve) == 0) {
                borderSolves.push_back(solve);
                ofClusters.push_back(turnOf(solve));
            }
    }
    addClusters(ofClusters, true, set);

    // The bordered rows are a general cluster of their own, but a thread group has one row, except for S.
    int mostPoints = 0;
    bool joins = false; // also bodies that cannot move, which are not at the border
    const int first = t.rowStart[t.borderCluster];
    for (int row = first; row < t.rowStart[t.borderCluster + 1]; row++) {
        const ConstraintTables::Int2 points =
            t.rowPoints.empty() ? ConstraintTables::Int2{t.slotStart[row], t.slotStart[row + 1]} : t.rowPoints[row];
        mostPoints = std::max(mostPoints, points[1] - points[0]);
        joins |= points[0] != t.slotStart[row];
    }
    const bool hasBodies = t.numBodiesAtBorder() > 0;
    ConstraintTables::Range range{usesBlocks(cc) ? ThreadGroupKind::Block : ThreadGroupKind::Thread,
                                  false,
                                  joins || hasBodies,
                                  true,
                                  false,
                                  false,
                                  mostPoints > 512 ? maxBorderBlock : 64,
                                  t.borderCluster,
                                  t.borderCluster + 1,
                                  t.borderCluster + 1,
                                  0};
    range.blockSize = std::min(range.blockSize, usesBlocks(cc) ? device.largestBlock() : 64);
    ThreadGroup group;
    group.blockSize = range.blockSize;
    const bool isBlock = range.group == ThreadGroupKind::Block;
    string text = rangeText(range, group, set) + "enum { ";
    for (const char* solve : {"solvePositions", "projectPositions", "solveVelocities", "solveHeatedVelocities",
                              "projectVelocities", "solveVelocitySpread", "solveStartAccelerations",
                              "solveEndAccelerations"}) { // first those of this integrator
        const auto found = std::find(borderSolves.begin(), borderSolves.end(), solve);
        text += "BorderSolve_" + string(solve) + " = " + to_string(found - borderSolves.begin()) +
                (found == borderSolves.end() ? " + 100, " : ", ");
    }
    text += "};\n" + ConstraintKernelSources::border;
    const auto add = [&](const string& name, const string& function, const string& count, const string& begin) {
        const string loop =
            isBlock ? "GROUP_ID; n < " + count + "; n += NUM_GROUPS" : "GLOBAL_ID; n < " + count + "; n += GLOBAL_SIZE";
        text += arguments.kernelText(name, isBlock ? "GROUP_BOUNDS " : "", isBlock ? "    DECLARE_SHARED_MEMORY\n" : "",
                                     "    for (int n = " + loop + ")\n        " + function + "(a, " + begin +
                                         "n SHARED_ARGUMENT);\n");
    };
    add("startBorder", "startBordered", "NUM_BORDERED", "");
    if (t.numBordered == 1)
        add("turnBorder", "takeTurn", "1", "BORDER_CLUSTER + ");
    else {
        add("evaluateBorder", "evaluateBordered", "NUM_BORDERED", "");
        add("solveBorder", "solveBordered", "1", "BORDER_CLUSTER + ");
    }
    const auto addOfBodies = [&](const string& name, const string& function) {
        text += arguments.kernelText(name, "", "",
                                     "    for (int b = FIRST_BODY_AT_BORDER + GLOBAL_ID; b < NUM_JOINED; b += "
                                     "GLOBAL_SIZE)\n        " +
                                         function + "(a, b);\n");
    };
    if (hasBodies) {
        text += ConstraintKernelSources::borderBodies;
        addOfBodies("takeBodies", "takeBody");
        addOfBodies("respondBodies", "takeNextResponse");
    }
    for (const auto& [name, stage] : borderStages)
        text += borderStageText(stage);
    const Program program = programOf(text, sharedBytes(group));
    const auto addLaunch = [&](const string& name, int threads, int blockSize) {
        launches[name].push_back({program, name, threads, blockSize});
    };
    const int threadsOfRow = isBlock ? group.blockSize : 1;
    addLaunch("startBorder", threadsOfRow * t.numBordered, group.blockSize);
    if (t.numBordered == 1)
        addLaunch("turnBorder", threadsOfRow, group.blockSize);
    else {
        addLaunch("evaluateBorder", threadsOfRow * t.numBordered, group.blockSize);
        addLaunch("solveBorder", threadsOfRow, group.blockSize);
    }
    for (const char* name : {"takeBodies", "respondBodies"})
        if (hasBodies)
            addLaunch(name, t.numBodiesAtBorder(), 64);
    const int threads = (int) std::max(t.borderParticle.size(), t.rowsAtBorder.size());
    for (const auto& [name, stage] : borderStages)
        for (std::size_t k = 0; k < stage.operations.size(); k++)
            addLaunch("border_" + stage.nameOf((int) k), std::max(threads, 1), 64);
}

void ConstraintProgram::setTime(double time) {
    arguments.set("time", time);
    launchTime = time;
}

void ConstraintProgram::setMoment(int buffer, int moment) {
    arguments.set("momentIndex", buffer * moments + moment);
}

void ConstraintProgram::takeMoreTurns() {
    numTurns += std::max(1, numTurns / 4);
}

void ConstraintProgram::launchTurn(vector<Launch>& some, int turn, int item, int number) {
    arguments.set("turn", turn);
    arguments.set("borderItem", item);
    for (Launch& launch : some)
        execute(launch, number);
}

void ConstraintProgram::launchResponses(int number) {
    if (hasResponses && (!moves || responseTime == launchTime))
        return;
    launchTurn(launches["frames"], -1, 0, number);
    launchTurn(launches["startBorder"], -1, 0, number);
    for (int field = 0; field < constraintTables.numFields; field++) {
        launchTurn(launches["respondBodies"], -1, field, number);
        launchTurn(launches[responsesStage.name], -1, field, number);
    }
    launchTurn(launches["respondBodies"], -1, constraintTables.numFields, number);
    hasResponses = true;
    responseTime = launchTime;
}

void ConstraintProgram::launchTurns(const string& solve, int number) {
    const int item = (int) (std::find(borderSolves.begin(), borderSolves.end(), solve) - borderSolves.begin());
    const int turns = changedBy(solve) == Changed::Nothing ? 1 : numTurns;
    for (int turn = 0; turn < turns; turn++) {
        if (turn > 0)
            launchTurn(launches["takeBodies"], turn, item, number);
        launchTurn(launches["turn_" + solve], turn, item, number);
        for (const char* rows : {"turnBorder", "evaluateBorder", "solveBorder"}) // those that there are
            launchTurn(launches[rows], turn, item, number);
    }
}

void ConstraintProgram::launchBorder(const string& stage, int number) {
    if (!constraintTables.hasBorder())
        return;
    const SplitStage& split = borderStages.at(stage);
    arguments.set("numTurns", numTurns);
    if (!split.solves.empty())
        launchResponses(number);
    for (std::size_t k = 0; k < split.operations.size(); k++) {
        launchTurn(launches["border_" + split.nameOf((int) k)], -1, 0, number);
        launchTurn(launches["bodies_" + split.nameOf((int) k)], -1, 0, number);
        if (k < split.solves.size())
            launchTurns(split.solves[k], number);
        for (const string& operation : split.operations[k])
            if (operation == "move" || operation == "shift" || operation == "moveAccelerated")
                hasResponses = false;
    }
}

} // namespace ConstraintPlugin
