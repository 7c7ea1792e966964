// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// The kernels of small clusters in ConstraintProgram.
#include "ConstraintKernelSources.h"
#include "ConstraintProgram.h"
#include "TextMarkers.h"

using namespace OpenMM;
using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

/** Whether there are more small clusters, up to those of maxInRegisters rows, than are on the device at once if all
 * data of theirs are in registers: four blocks on each multiprocessor. With OpenCL nobody knows how many it has. */
bool ConstraintProgram::isCrowdedBySmall(const ConstraintTables::SmallClusters& small) const {
    const int multiprocessors = cooperatingBlocks();
    return multiprocessors > 1 && coarse && mixedIsDouble() && small.largest() == maxInRegisters &&
           small.count > 4 * small.blockSize() * multiprocessors;
}

string ConstraintProgram::smallText(const vector<StageText>& stages, bool atBorder) const {
    const ConstraintTables::SmallClusters& small = atBorder ? constraintTables.smallAtBorder : constraintTables.small;
    // All functions inline, so that neither arrays nor the Arguments have an address: CUDA would keep them in memory.
    string text = "#ifndef __OPENCL_VERSION__\n#undef DEVICE\n#define DEVICE __device__ __forceinline__\n#endif\n";
    text += define("ITERATIVE", isIterative ? "1" : "0") + commonText(atBorder) + ConstraintKernelSources::steps +
            (atBorder ? ConstraintKernelSources::borderField : "");
    const int largest = small.largest(), smallBlock = small.blockSize();
    // Beside larger clusters those of three rows would spill.
    const int inRegisters = largest > maxInRegisters ? maxInRegisters - 1 : maxInRegisters;
    const bool isCrowded = !atBorder && isCrowdedBySmall(small);
    text += define("MAX_IN_REGISTERS", to_string(inRegisters)) + define("SMALL_BLOCK", to_string(smallBlock)) +
            define("LEAST_IN_LOCAL_MEMORY", to_string(isCrowded ? maxInRegisters : inRegisters + 1)) +
            "#ifdef __OPENCL_VERSION__\n#define CROWDED\n#else\n#define CROWDED __launch_bounds__(SMALL_BLOCK, 6)\n"
            "#endif\n";
    const auto unroll = [&](int size) { return "#pragma unroll" + string(size > inRegisters ? " 1" : ""); };
    for (int size : small.sizes)
        text += fillMarkers("smallClusters", ConstraintKernelSources::smallClusters,
                            {{"SIZE", to_string(size)}, {"UNROLL_PARTICLES", unroll(size)}});
    const int inLocalMemory = smallBlock * (isCrowded || largest > maxInRegisters ? largest * (largest + 8) : 1);
    const int vectors = smallBlock * (isCrowded ? 3 * (2 * maxInRegisters + 1) : 1);
    // Beside clusters at the border they are in two pieces, which takes registers.
    const string all = "a->smallGroups[" + to_string(ConstraintTables::allSmallGroups(atBorder)) + "]";
    const string loop = constraintTables.hasBorder()
                            ? "    const int4 all = " + all +
                                  ";\n    for (int n = GLOBAL_ID; n < all.y + all.w; n += GLOBAL_SIZE) {\n"
                                  "        const int cluster = n < all.y ? all.x + n : all.z + n - all.y;\n"
                            : "    const int last = a->smallGroups[0].x + a->smallGroups[0].y;\n"
                              "    for (int cluster = GLOBAL_ID; cluster < last; cluster += GLOBAL_SIZE) {\n";
    for (const StageText& stage : stages) {
        string choice;
        for (int size : small.sizes) {
            const string n = to_string(size);
            string steps, ofParticle;
            const auto takeThoseOfParticles = [&] {
                steps += "\n" + unroll(size) + "\n    for (int i = 0; i <= " + n +
                         "; i++) {\n        const int index = INDEX" + n +
                         "(a, &c, i);\n        if (index >= 0) {\n            Particle p = get" + n + "(a, &c, i);\n" +
                         ofParticle + "            put" + n + "(a, &c, i, &p);\n        }\n    }\n";
                ofParticle.clear();
            };
            for (const string& step : stage.steps)
                if (!isSolve(step))
                    ofParticle += "            " + step + "(a, index, &p);\n";
                else if (size > 0) {
                    takeThoseOfParticles();
                    steps += "    " + step + n + "(a, &c, cluster);\n";
                }
            takeThoseOfParticles();
            text += fillMarkers("smallStage", ConstraintKernelSources::smallStage,
                                {{"STEPS", steps}, {"STAGE", stage.name}, {"SIZE", n}});
            choice += "        const int4 group" + n + " = a->smallGroups[" +
                      to_string(ConstraintTables::smallGroup(size, atBorder)) + "];\n        if (cluster >= group" + n +
                      ".x && cluster < group" + n + ".x + group" + n + ".y)\n            run_" + stage.name + n +
                      "(a, cluster, group" + n + ", numbers + LOCAL_ID, vectors + LOCAL_ID);\n";
        }
        const vector<string> solves = SplitStage(stage).solves; // two would spill, and some projections
        const bool isBounded = isCrowded && solves.size() == 1 && solves[0].compare(0, 5, "solve") == 0;
        text += arguments.kernelText("smallCluster_" + stage.name, isBounded ? "CROWDED " : "",
                                     "    LOCAL volatile number numbers[" + to_string(inLocalMemory) +
                                         "];\n    LOCAL volatile mixed vectors[" + to_string(vectors) + "];\n",
                                     loop + choice + "    }\n");
    }
    return text;
}

} // namespace ConstraintPlugin
