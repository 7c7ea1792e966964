// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The text of kernels for rigid bodies that constraints join. A stage is several launches: where a solve begins, the
// particles of all bodies are summed up, and where it ends, all of them are moved.
#include "ConstraintKernelSources.h"
#include "ConstraintProgram.h"

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** What kernels of clusters do in each part: the solve, and operations on particles that no body has. */
vector<StageText> clusterStages(const vector<SplitStage>& stages) {
    vector<StageText> parts;
    for (const SplitStage& stage : stages)
        for (std::size_t k = 0; k < std::max(stage.solves.size(), (std::size_t) 1); k++) {
            StageText part{stage.nameOf((int) k), {}};
            const auto append = [&](const vector<string>& steps) {
                part.steps.insert(part.steps.end(), steps.begin(), steps.end());
            };
            if (k == 0)
                append(stage.operations[0]);
            if (k < stage.solves.size()) {
                part.steps.push_back(stage.solves[k]);
                append(stage.operations[k + 1]);
            }
            parts.push_back(part);
        }
    return parts;
}

/** A thread has a particle, with the places of all bodies that share it: the end of a solve, and operations. */
string particleText(const string& solve, const vector<string>& operations) {
    string text = "    for (int n = a->firstOfRange + GLOBAL_ID; n < a->lastOfRange; n += GLOBAL_SIZE) {\n"
                  "        const int place = a->ownedPlaces[n], i = a->bodyParticle[place];\n"
                  "        Particle p = loadParticle(a, i);\n        p.c = make_mixed3(0, 0, 0);\n";
    // Copies move alike within the tolerance; the particle moves as they do on average.
    if (!solve.empty())
        text += "        const Particle given = p;\n        mixed3 change = p.c, displacement = p.c;\n"
                "        int copies = 0;\n"
                "        for (int copy = place; copy >= 0; copy = a->nextCopy[copy - FIRST_JOINED_PLACE]) {\n"
                "            Body body = bodyOfPlace(a, copy);\n            p = given;\n            finish_" +
                solve + "(a, &body);\n            move_" + solve +
                "(a, &body, copy, i, &p);\n            change = change + p.c;\n"
                "            displacement = displacement + p.d;\n            copies++;\n        }\n"
                "        p.c = (1 / (mixed) copies) * change;\n        p.d = (1 / (mixed) copies) * displacement;\n";
    for (const string& step : operations)
        text += "        " + step + "(a, i, &p);\n";
    return text + "        storeParticle(a, i, &p);\n    }\n";
}

/** A thread group has a body: operations on its particles, unless others share them, and sums over these, from which it
 *  finds its nodes. A projection of a body then counts the particles that violate the tolerance. */
string sumText(const string& solve, const vector<string>& operations) {
    const vector<string> solves = solvesOf(solve);
    string text = "    for (int n = a->firstOfRange + BODY_GROUP; n < a->lastOfRange; n += BODY_GROUPS) {\n"
                  "        Body body = loadBody(a, n);\n        body.at = positionOf(a, body.reference);\n"
                  "        BodySums sums = noSums();\n";
    if (!operations.empty()) {
        text += "        EACH_BODY_PLACE(place) {\n            const int i = a->bodyParticle[place];\n"
                "            Particle p = loadParticle(a, i);\n            p.c = make_mixed3(0, 0, 0);\n";
        for (const string& operation : operations)
            text += "            " + operation + "(a, i, &p);\n";
        text += "            storeParticle(a, i, &p);\n        }\n";
    }
    const auto sumUp = [](const string& of) {
        return "        EACH_BODY_PLACE(place) {\n            const int i = a->bodyParticle[place];\n"
               "            const Particle p = loadParticle(a, i);\n            take_" +
               of + "(a, &body, place, i, &p, &sums);\n        }\n        sums = sumOfBlock(sums, numbers);\n";
    };
    text += sumUp(solves[0]);
    if (solves.size() > 1)
        text += "        prepare_" + solves[0] + "(a, &body, &sums);\n        sums = noSums();\n" + sumUp(solve);
    return text + "        if (BODY_LANE == 0)\n            join_" + solve + "(a, &body, &sums);\n    }\n";
}

} // namespace

string ConstraintProgram::jointText() const {
    const ConstraintTables& t = constraintTables;
    return define("FIRST_JOINED", to_string(t.numFreeBodies)) + define("NUM_JOINED", to_string(t.numJoinedBodies())) +
           define("FIRST_POINT_SLOT", to_string(t.firstPointSlot)) +
           define("FIRST_BODY_AT_BORDER", to_string(t.firstBodyAtBorder - t.numFreeBodies)) + rigidText() +
           ConstraintKernelSources::bodyVectors + ConstraintKernelSources::joinedBodies;
}

void ConstraintProgram::addJoinedBodies(const vector<StageText>& stages, const ConstraintSet& set) {
    const ConstraintTables& t = constraintTables;
    if (t.numJoinedBodies() == 0)
        return;
    vector<SplitStage> split(stages.begin(), stages.end());
    const auto bodyTextFor = [&](int threads) {
        return bodyText(stages, threads, false) + define("IS_PART", "0") +
               define("FIRST_JOINED", to_string(t.numFreeBodies)) +
               define("FIRST_JOINED_PLACE", to_string(t.firstJoinedPlace())) + ConstraintKernelSources::bodyVectors +
               ConstraintKernelSources::joinedBodies + ConstraintKernelSources::joinedStages;
    };
    // Where no body shares particles, those that have a body do the operations that a stage begins with, unless the
    // body is at the border.
    const bool hasCopies = std::any_of(t.nextCopy.begin(), t.nextCopy.end(), [](int copy) { return copy >= 0; });
    const auto isBegunBySums = [&](const SplitStage& stage, std::size_t k) {
        return !hasCopies && k == 0 && !stage.solves.empty() && !stage.operations[0].empty();
    };
    const int ofParticles = bodyThreads(stages, t.joinedRanges[0]); // the program that has the kernels of particles
    std::map<int, Program> programs;                                // by threads that have a body
    const auto programFor = [&](int threads) {
        const auto [found, isNew] = programs.try_emplace(threads);
        if (!isNew)
            return found->second;
        string text = bodyTextFor(threads);
        const auto addSums = [&](const string& part, const string& solve, const vector<string>& operations = {}) {
            text += arguments.kernelText((operations.empty() ? "jointSums_" : "jointBegin_") + part, "BODY_BOUNDS ",
                                         "    DECLARE_BODY_MEMORY\n", sumText(solve, operations));
        };
        for (const SplitStage& stage : split)
            for (std::size_t k = 0; k < stage.operations.size(); k++) {
                const string part = stage.nameOf((int) k);
                if (threads == ofParticles)
                    text += arguments.kernelText("jointParticles_" + part, "", "",
                                                 particleText(k > 0 ? stage.solves[k - 1] : "", stage.operations[k]));
                if (isBegunBySums(stage, k))
                    addSums(part, stage.solves[k], stage.operations[k]);
                if (k < stage.solves.size() && (!isBegunBySums(stage, k) || t.numBodiesAtBorder() > 0))
                    addSums(part, stage.solves[k]);
            }
        if (t.numBodiesAtBorder() > 0)
            addSums("responses", "solveResponses");
        return found->second = programOf(text);
    };
    // launches of the parts, by kind of kernel; of bodies at the border they are between those of its other particles
    std::map<string, vector<Launch>> particles, sums;
    const auto addLaunch = [&](vector<Launch>& to, const Program& program, const string& name, int threads,
                               int blockSize, int first, int last) {
        to.push_back({program, name, threads, blockSize, first, last});
    };
    const auto addParticles = [&](vector<Launch>& to, const string& part, int first, int last) {
        if (first < last)
            addLaunch(to, programFor(ofParticles), "jointParticles_" + part, last - first, 64, first, last);
    };
    const auto addSums = [&](vector<Launch>& to, const string& part, bool atBorder, const string& kernel) {
        for (const ConstraintTables::BodyRange& range : t.joinedRanges) {
            const int threads = bodyThreads(stages, range);
            if (range.isAtBorder == atBorder)
                addLaunch(to, programFor(threads), kernel + part, (range.last - range.first) * threads,
                          threads > 1 ? threads : 64, range.first, range.last);
        }
    };
    for (const SplitStage& stage : split)
        for (std::size_t k = 0; k < stage.operations.size(); k++) {
            const string part = stage.nameOf((int) k);
            vector<Launch>& atBorder = launches["bodies_" + part];
            if (k > 0 || !stage.operations[0].empty()) {
                if (!isBegunBySums(stage, k))
                    addParticles(particles[part], part, 0, t.firstOwnedAtBorder);
                addParticles(atBorder, part, t.firstOwnedAtBorder, (int) t.ownedPlaces.size());
            }
            if (k < stage.solves.size()) {
                addSums(sums[part], part, false, isBegunBySums(stage, k) ? "jointBegin_" : "jointSums_");
                addSums(atBorder, part, true, "jointSums_");
            }
        }
    if (t.numBodiesAtBorder() > 0)
        addSums(launches["frames"], "responses", true, "jointSums_");
    const vector<StageText> ofClusters = clusterStages(split);
    for (const ConstraintTables::Range& range : t.ranges)
        if (!range.isJoined || range.isAtBorder)
            continue;
        else if (range.group == ThreadGroupKind::Part)
            addParts(ofClusters, range, set);
        else
            addRange(ofClusters, range, set);
    for (const SplitStage& stage : split) {
        vector<Launch>& all = launches[stage.name];
        for (std::size_t k = 0; k < stage.operations.size(); k++)
            for (const vector<Launch>& some :
                 {particles[stage.nameOf((int) k)], sums[stage.nameOf((int) k)], launches[stage.nameOf((int) k)]})
                all.insert(all.end(), some.begin(), some.end());
    }
}

} // namespace ConstraintPlugin
