// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "JoinedStages.h"
#include "FreeBodies.h"
#include <algorithm>
#include <map>

using std::string;
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
                "        for (int copy = place; copy >= 0; copy = a->nextCopy[copy - a->firstJoinedPlace]) {\n"
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
    const vector<string> solves = bodySolvesOf(solve);
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

/** Where no body shares particles, those that have a body do the operations that a stage begins with, unless the body
 * is at the border. */
bool JoinedStages::isBegunBySums(const SplitStage& stage, std::size_t k) const {
    const vector<int>& next = frame.tables.nextCopy;
    const bool hasCopies = std::any_of(next.begin(), next.end(), [](int copy) { return copy >= 0; });
    return !hasCopies && k == 0 && !stage.solves.empty() && !stage.operations[0].empty();
}

Program JoinedStages::programOf(const vector<StageText>& stages, int threads, bool hasParticles) const {
    const bool hasBorder = frame.tables.numBodiesAtBorder() > 0;
    ProgramText text = bodyText(frame, stages, threads, false);
    text.need("joinedStages.cc");
    const auto addSums = [&](const string& part, const string& solve, const vector<string>& operations = {}) {
        text.add(frame.arguments.kernelText((operations.empty() ? "jointSums_" : "jointBegin_") + part, "BODY_BOUNDS ",
                                            "    DECLARE_BODY_MEMORY\n", sumText(solve, operations)));
    };
    for (const SplitStage& stage : vector<SplitStage>(stages.begin(), stages.end()))
        for (std::size_t k = 0; k < stage.operations.size(); k++) {
            const string part = stage.nameOf((int) k);
            if (hasParticles)
                text.add(
                    frame.arguments.kernelText("jointParticles_" + part, "", "",
                                               particleText(k > 0 ? stage.solves[k - 1] : "", stage.operations[k])));
            if (isBegunBySums(stage, k))
                addSums(part, stage.solves[k], stage.operations[k]);
            if (k < stage.solves.size() && (!isBegunBySums(stage, k) || hasBorder))
                addSums(part, stage.solves[k]);
        }
    if (hasBorder)
        addSums("responses", "solveResponses");
    return frame.programOf(text.str());
}

void JoinedStages::add(const vector<StageText>& stages, const ConstraintSet& set) const {
    const ConstraintTables& t = frame.tables;
    if (t.numJoinedBodies() == 0)
        return;
    const int ofParticles = bodyThreads(stages, t.joinedRanges[0]); // the program that has the kernels of particles
    std::map<int, Program> programs;                                // by threads that have a body
    const auto programFor = [&](int threads) {
        Program& program = programs[threads];
        if (program == nullptr)
            program = programOf(stages, threads, threads == ofParticles);
        return program;
    };
    const auto addParticles = [&](vector<Launch>& to, const string& part, int first, int last) {
        if (first < last)
            to.push_back({programFor(ofParticles), "jointParticles_" + part, last - first, 64, first, last});
    };
    const auto addSums = [&](vector<Launch>& to, const string& kernel, bool atBorder) {
        for (const ConstraintTables::BodyRange& range : t.joinedRanges) {
            const int threads = bodyThreads(stages, range);
            if (range.isAtBorder == atBorder)
                to.push_back({programFor(threads), kernel, (range.last - range.first) * threads,
                              threads > 1 ? threads : 64, range.first, range.last});
        }
    };
    // By parts of stages; of bodies at the border they are between those of its other particles.
    std::map<string, vector<Launch>> ofBodies;
    const vector<SplitStage> split(stages.begin(), stages.end());
    for (const SplitStage& stage : split)
        for (std::size_t k = 0; k < stage.operations.size(); k++) {
            const string part = stage.nameOf((int) k);
            vector<Launch>&here = ofBodies[part], &atBorder = frame.launches.of("bodies_" + part);
            if (k > 0 || !stage.operations[0].empty()) {
                if (!isBegunBySums(stage, k))
                    addParticles(here, part, 0, t.firstOwnedAtBorder);
                addParticles(atBorder, part, t.firstOwnedAtBorder, (int) t.ownedPlaces.size());
            }
            if (k < stage.solves.size()) {
                addSums(here, (isBegunBySums(stage, k) ? "jointBegin_" : "jointSums_") + part, false);
                addSums(atBorder, "jointSums_" + part, true);
            }
        }
    if (t.numBodiesAtBorder() > 0)
        addSums(frame.launches.of("frames"), "jointSums_responses", true);
    addClusters(split, set);
    for (const SplitStage& stage : split) {
        vector<Launch>& all = frame.launches.of(stage.name);
        for (std::size_t k = 0; k < stage.operations.size(); k++)
            for (const vector<Launch>& some :
                 {ofBodies[stage.nameOf((int) k)], frame.launches.of(stage.nameOf((int) k))})
                all.insert(all.end(), some.begin(), some.end());
    }
}

/** Those that have joined bodies: their launches are of parts of stages. */
void JoinedStages::addClusters(const vector<SplitStage>& stages, const ConstraintSet& set) const {
    const vector<StageText> ofClusters = clusterStages(stages);
    for (const ConstraintTables::Range& range : frame.tables.ranges)
        if (!range.isJoined || range.isAtBorder)
            continue;
        else if (range.group == ThreadGroupKind::Subdomain)
            subdomains.add(ofClusters, range, set);
        else
            clusters.add(ofClusters, range, set);
}

} // namespace ConstraintPlugin
