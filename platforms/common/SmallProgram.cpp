// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The kernels of small clusters in ConstraintProgram.
#include "ConstraintKernelSources.h"
#include "ConstraintProgram.h"
#include "TextMarkers.h"
#include <algorithm>
#include <set>

using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

string ConstraintProgram::smallText(const vector<StageText>& stages, bool atBorder, const Share* share) const {
    const ConstraintTables& t = constraintTables;
    const vector<int>& shapes = (atBorder ? t.smallAtBorder : t.small).shapes;
    // All functions inline, so that neither arrays nor the Arguments have an address: CUDA would keep them in memory.
    string text = "#ifndef __OPENCL_VERSION__\n#undef DEVICE\n#define DEVICE __device__ __forceinline__\n#endif\n";
    text += define("ITERATIVE", isIterative ? "1" : "0") + commonText(atBorder) + ConstraintKernelSources::steps +
            (atBorder ? ConstraintKernelSources::borderField : "") + define("SMALL_BLOCK", to_string(smallBlock)) +
            (share == nullptr ? define("SMALL_BLOCKS_TOGETHER", "1") : "") +
            define("LENGTHS_OF_LANE", to_string(t.lengthsOfLane)) + ConstraintKernelSources::smallLanes;
    const auto isTriangle = [&](int number) {
        const SmallShape& shape = t.smallShapes[number];
        return shape.size == 3 && shape.particles == 3 && shape.periodic == 0 && !isIterative;
    };
    if (std::any_of(shapes.begin(), shapes.end(), isTriangle))
        text += define("GUESS_ERROR", "0.01f") + ConstraintKernelSources::smallTriangle;
    for (int number : shapes) {
        const SmallShape& shape = t.smallShapes[number];
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
        text += fillMarkers("smallClusters", ConstraintKernelSources::smallClusters, ofClusters) +
                fillMarkers("smallStages", ConstraintKernelSources::smallStages, ofBoth);
    }
    std::set<string> solves;
    for (const StageText& stage : stages)
        for (const string& step : stage.steps)
            if (isSolve(step))
                solves.insert(step);
    for (const string& solve : solves) {
        const bool ofAccelerations = solve.find("Accelerations") != string::npos;
        const bool ofVelocities = solve.find("Velocit") != string::npos;
        string ofShapes;
        for (int number : shapes)
            ofShapes += "    if (lane->shape == " + to_string(number) + ")\n        " + solve + to_string(number) +
                        "(a, lane, p);\n";
        text += fillMarkers("smallSolve", ConstraintKernelSources::smallSolve,
                            {{"SOLVE", solve},
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
            string operations;
            for (const string& operation : split.operations[k])
                operations += "            " + operation + "(a, lane.index, &p);\n";
            if (k + 1 == split.operations.size())
                operations += "            storeVelocity(a, lane.index, &p);\n";
            if (!operations.empty())
                body += "        if (lane.isOwn) {\n" + operations + "        }\n";
        }
        // The record of failures comes with the first particles: nothing is written before.
        text += kernelText(share, "smallCluster_" + stage.name, "SMALL_BOUNDS ", "    DECLARE_SHOWN\n",
                           "    EACH_SMALL_BLOCK(block) {\n        const Lane lane = laneOf(a, block, shown);\n"
                           "        Particle p = takeParticle(a, &lane);\n        if (isStopped)\n"
                           "            return;\n" +
                               body + "    }\n",
                           "    const bool isStopped = hasFailed(a);\n");
    }
    return text;
}

} // namespace ConstraintPlugin
