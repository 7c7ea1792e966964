// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "FreeBodies.h"
#include <algorithm>

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** What happens between two sums over the particles of a body: the end of one solve, operations on each particle, and
 *  the beginning of the next. */
struct Phase {
    string solveBefore, solveAfter; ///< "": none
    vector<string> steps;
};

vector<Phase> phasesOf(const StageText& stage) {
    vector<Phase> phases(1);
    for (const string& step : stage.steps)
        if (step == "solveVelocitySpread") // for the work of moving constraints: a body's own do none
            continue;
        else if (isSolve(step)) {
            for (const string& solve : bodySolvesOf(step)) {
                phases.back().solveAfter = solve;
                phases.push_back({solve, "", {}});
            }
        } else
            phases.back().steps.push_back(step);
    return phases;
}

/** The loop of a phase over particles. */
string loopOf(const Phase& phase) {
    string text = "        EACH_BODY_PLACE(place) {\n            const int i = a->bodyParticle[place];\n"
                  "            Particle p = loadParticle(a, i);\n            p.c = make_mixed3(0, 0, 0);\n";
    if (!phase.solveBefore.empty())
        text += "            apply_" + phase.solveBefore + "(a, &body, place, i, &p);\n";
    for (const string& step : phase.steps)
        text += "            " + step + "(a, i, &p);\n";
    if (!phase.solveAfter.empty())
        text += "            take_" + phase.solveAfter + "(a, &body, place, i, &p, &sums);\n";
    return text + "            storeParticle(a, i, &p);\n        }\n";
}

} // namespace

vector<string> bodySolvesOf(const string& solve) {
    const string projection = "project";
    if (solve.compare(0, projection.size(), projection) != 0)
        return {solve};
    return {"measure" + solve.substr(projection.size()), solve};
}

int bodyThreads(const vector<StageText>& stages, const ConstraintTables::BodyRange& range) {
    const bool hasMoreSums = anyHas(stages, "solveStartAccelerations"); // which need more memory
    return hasMoreSums ? std::min(range.blockSize, 64) : range.blockSize;
}

ProgramText bodyText(const ProgramFrame& frame, const vector<StageText>& stages, int threads, bool isSplit) {
    ProgramText text = frame.text();
    text.define("BODY_BLOCK_SIZE", threads)
        .define("BODY_IS_SPLIT", isSplit)
        .define("BODY_PART_SIZE", frame.tables.bodyPartSize)
        .define("HAS_ACCELERATIONS", anyHas(stages, "solveStartAccelerations"))
        .define("VELOCITIES_FIRST", frame.traits.velocitiesFirst)
        .define("SUMS_STAGES", frame.traits.sumsStages)
        .define("READS_VELOCITY_STAGE", frame.tables.readsBodies)
        .need("bodies.cc");
    return text;
}

void FreeBodies::add(const vector<StageText>& stages) const {
    const auto kernelOf = [&](const string& name, const string& steps) {
        return frame.arguments.kernelText(
            name, "BODY_BOUNDS ", "    DECLARE_BODY_MEMORY\n",
            "    for (int n = a->firstOfRange + BODY_GROUP; n < a->lastOfRange; n += BODY_GROUPS) {\n"
            "        Body body = loadBody(a, n);\n        BodySums sums = noSums();\n" +
                steps + "    }\n");
    };
    for (const ConstraintTables::BodyRange& range : frame.tables.bodyRanges) {
        const int threads = bodyThreads(stages, range);
        ProgramText text = bodyText(frame, stages, threads, range.isSplit);
        vector<std::pair<string, string>> kernels; // stage, name
        for (const StageText& stage : stages) {
            const vector<Phase> phases = phasesOf(stage);
            const string begin = "        body.at = positionOf(a, body.reference);\n";
            string steps = begin;
            for (std::size_t k = 0; k < phases.size(); k++) {
                const string number = to_string(k);
                if (k > 0) {
                    steps += range.isSplit ? "        sums = sumOfParts(a, &body, " + to_string(k - 1) + ", numbers);\n"
                                           : "        sums = sumOfBlock(sums, numbers);\n";
                    steps +=
                        "        prepare_" + phases[k].solveBefore + "(a, &body, &sums);\n        sums = noSums();\n";
                }
                steps += loopOf(phases[k]);
                if (!range.isSplit)
                    continue;
                if (k + 1 < phases.size())
                    steps += "        sums = sumOfBlock(sums, numbers);\n        keepPart(a, &body, " + number +
                             ", sums);\n";
                const string name = "bodyPart_" + stage.name + number;
                text.add(kernelOf(name, steps));
                kernels.emplace_back(stage.name, name);
                steps.clear();
            }
            if (!range.isSplit) {
                const string name = "body_" + stage.name;
                text.add(kernelOf(name, steps));
                kernels.emplace_back(stage.name, name);
            }
        }
        const Program program = frame.programOf(text.str());
        for (const auto& [stage, name] : kernels)
            frame.launches.of(stage).push_back({program, name, (range.last - range.first) * threads,
                                                threads > 1 ? threads : 64, range.first, range.last});
    }
}

} // namespace ConstraintPlugin
