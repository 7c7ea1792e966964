// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "SmallClusters.h"
#include <algorithm>

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

/** Operations that threads side by side do together (smallLanes.cc). */
static bool isOfLanes(const string& operation) {
    return operation == "keepVelocity" || operation == "storeVelocity";
}

void SmallClusters::add(const vector<StageText>& stages, bool atBorder) const {
    const ConstraintTables::SmallBlocks& some = blocks(atBorder);
    if (some.threads() > 0)
        frame.launches.add(frame.programOf(text(stages, atBorder)), prefix, stages, some.threads(), smallBlock,
                           some.first, some.last);
}

int SmallClusters::shownBytes() const {
    return (10 + frame.tables.lengthsOfLane) * (frame.mixedIsDouble() ? 8 : 4);
}

bool SmallClusters::isTriangle(int number) const {
    const SmallShape& shape = frame.tables.smallShapes[number];
    return shape.size == 3 && shape.particles == 3 && shape.periodic == 0 && !frame.traits.isIterative;
}

void SmallClusters::addShapes(ProgramText& text, const vector<int>& shapes) const {
    for (int number : shapes) {
        const SmallShape& shape = frame.tables.smallShapes[number];
        const std::map<string, string> ofBoth = {
            {"SHAPE", to_string(number)},
            {"SIZE", to_string(shape.size)},
            {"PARTICLES", to_string(shape.particles)},
            {"UNROLL", shape.size > maxInRegisters ? "#pragma unroll 1" : "#pragma unroll"}};
        std::map<string, string> ofClusters = {{"FIRSTS", to_string(shape.firsts)},
                                               {"SECONDS", to_string(shape.seconds)},
                                               {"PERIODIC", to_string(shape.periodic)},
                                               {"TRIANGLE", isTriangle(number) ? "1" : "0"}};
        ofClusters.insert(ofBoth.begin(), ofBoth.end());
        text.add("smallClusters.cc", ofClusters).add("smallStages.cc", ofBoth);
    }
}

string SmallClusters::text(const vector<StageText>& stages, bool atBorder, bool isShare, int blocksTogether) const {
    const vector<int>& shapes = blocks(atBorder).shapes;
    // All functions inline, so that neither arrays nor the Arguments have an address: CUDA would keep them in memory.
    ProgramText text = frame.text(
        atBorder, "#ifndef __OPENCL_VERSION__\n#undef DEVICE\n#define DEVICE __device__ __forceinline__\n#endif\n");
    text.define("ITERATIVE", frame.traits.isIterative)
        .define("SMALL_BLOCK", smallBlock)
        .define("SMALL_BLOCKS_TOGETHER", blocksTogether)
        .define("LENGTHS_OF_LANE", frame.tables.lengthsOfLane)
        .need("smallLanes.cc");
    if (std::any_of(shapes.begin(), shapes.end(), [this](int number) { return isTriangle(number); })) // a water, mostly
        text.need("smallTriangle.cc");
    addShapes(text, shapes);
    for (const string& solve : solvesOf(stages)) {
        const bool ofAccelerations = solve.find("Accelerations") != string::npos;
        const bool ofVelocities = solve.find("Velocit") != string::npos;
        string ofShapes;
        for (int number : shapes)
            ofShapes += "    if (lane->shape == " + to_string(number) + ")\n        " + solve + to_string(number) +
                        "(a, lane, p);\n";
        text.add("smallSolve.cc", {{"SOLVE", solve},
                                   {"CHANGED", ofVelocities ? "v" : "d"},
                                   {"WITH_VELOCITIES", ofAccelerations ? "1" : "0"},
                                   {"SHAPES", ofShapes}});
    }
    for (const StageText& stage : stages) {
        const SplitStage split(stage);
        string body;
        for (std::size_t k = 0; k < split.operations.size(); k++) {
            if (k > 0)
                body += "        smallSolve_" + split.solves[k - 1] + "(a, &lane, &p);\n";
            vector<string> operations = split.operations[k];
            if (k + 1 == split.operations.size())
                operations.push_back("storeVelocity");
            for (const string& operation : operations)
                body += "        " + (isOfLanes(operation)
                                          ? operation + "OfLanes(a, &lane, &p);\n"
                                          : "if (lane.isOwn)\n            " + operation + "(a, lane.index, &p);\n");
        }
        // The record of failures comes with the first particles: nothing is written before.
        text.add(frame.kernelText(isShare, prefix + ("_" + stage.name), "SMALL_BOUNDS ", "    DECLARE_SHOWN\n",
                                  "    EACH_SMALL_BLOCK(block) {\n"
                                  "        const Lane lane = laneOf(a, block, shown);\n"
                                  "        Particle p = takeParticle(a, &lane);\n        if (isStopped)\n"
                                  "            return;\n" +
                                      body + "    }\n",
                                  "    const bool isStopped = hasFailed(a);\n"));
    }
    return text.str();
}

} // namespace ConstraintPlugin
