// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintProgram.h"
#include "ConstraintKernelSources.h"
#include "TextMarkers.h"
#include <cstdlib>
#include <list>

using namespace OpenMM;
using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** Threads of the largest block, and blocks in the largest grid: worstOf() has a thread look at each. */
constexpr int mostThreads = 512, mostInGrid = 512;

bool isSolve(const string& step) {
    return step.compare(0, 5, "solve") == 0 || step.compare(0, 7, "project") == 0;
}

/** Threads in a block that serve a small cluster each: local memory limits them, where numbers are kept there. */
int smallBlockSize(const ConstraintTables& tables) {
    const int largest = tables.sizes[0]; // first
    return largest > mostInRegisters ? 32 : 64;
}

/** A CPU works through the threads of a block one after the other, and its compiler takes minutes for their barriers:
 *  single threads serve there. A test of the blocks themselves sets the variable. */
bool usesBlocks(const ComputeContext& cc) {
    return !cc.getIsCPU() || std::getenv("OPENMM_CONSTRAINTS_BLOCKS") != nullptr;
}

/** Of kernels' names. */
string prefixOf(ThreadGroupKind group) {
    return group == ThreadGroupKind::Thread  ? "threadCluster"
           : group == ThreadGroupKind::Block ? "blockCluster"
                                             : "gridCluster";
}

string define(const string& name, const string& value) {
    return "#define " + name + " " + value + "\n";
}

} // namespace

ConstraintProgram::ConstraintProgram(Device& device, const ConstraintSolver& solver, bool smallInRegisters,
                                     const vector<StageText>& stages)
    : arguments(device.context()), device(device), cc(device.context()),
      constraintTables(solver, smallInRegisters, availableThreadGroups()),
      isIterative(solver.getMethod() == Method::Iterative) {
    addArrays(solver.getSet(), stages);
    const ConstraintTables& t = constraintTables;
    const int numSmall = t.numSmallClusters + t.smallGroups[0][1];
    if (numSmall > 0)
        compile(cc.compileProgram(smallText(stages)), "smallCluster", stages, numSmall, smallBlockSize(t), 0, 0);
    for (const ConstraintTables::Range& range : t.ranges) {
        const ThreadGroup group = threadGroupOf(range);
        sharedFactors += group.sharedFactors;
        gridClusters += range.group == ThreadGroupKind::Grid ? range.last - range.first : 0;
        const bool isGrid = range.group == ThreadGroupKind::Grid;
        const int blocks = isGrid ? group.blocks : range.last - range.first; // or threads
        compile(device.compile(generalText(stages, range, group, solver.getSet()), sizeof(float) * group.sharedNumbers,
                               isGrid),
                prefixOf(range.group), stages,
                range.group == ThreadGroupKind::Thread ? blocks : blocks * group.blockSize, group.blockSize,
                range.first, range.last);
    }
    const ComputeProgram program = cc.compileProgram(
        commonText() + ConstraintKernelSources::steps + customText(solver.getSet()) + ConstraintKernelSources::rows +
        fillMarkers("afterwards", ConstraintKernelSources::afterwards,
                    {{"PARAMETERS", arguments.parameters()}, {"INITIALIZER", arguments.initializer()}}));
    for (const char* name : {"checkPositions", "checkVelocities", "addWork", "keepState"}) {
        Launch& launch = afterwards[name];
        launch.kernel = program->createKernel(name);
        arguments.bind(launch.kernel);
    }
    constraintTables.releaseRows();
}

void ConstraintProgram::addArrays(const ConstraintSet& set, const vector<StageText>& stages) {
    const auto take = [&](const char* step) {
        return std::any_of(stages.begin(), stages.end(), [&](const StageText& stage) {
            return std::count(stage.steps.begin(), stage.steps.end(), step) > 0;
        });
    };
    const ConstraintTables& t = constraintTables;
    const int numParticles = set.numParticles(), numRows = t.numRows, numAll = t.numAllRows();
    const int numSlots = (int) t.slotParticle.size(), numEntries = t.entryStart.back();
    const string mixed4 = "mixed4", real4 = "real4";
    const auto zeros = [](int n) { return vector<double>(std::max(n, 4)); };
    std::list<vector<ConstraintTables::Int2>> pairs; // until the pools are finished
    std::list<vector<ConstraintTables::Int4>> quadruples;
    // An element is two ints if the first two of three fit into one.
    const auto poolTriples = [&](const string& name, const vector<ConstraintTables::Int3>& triples) {
        if (t.hasShortNumbers()) {
            vector<ConstraintTables::Int2> values;
            values.reserve(triples.size());
            for (const auto& [first, second, third] : triples)
                values.push_back({int((unsigned) first | (unsigned) second << 16), third});
            arguments.poolInts(name, pairs.emplace_back(std::move(values)));
        } else {
            vector<ConstraintTables::Int4> values;
            values.reserve(triples.size());
            for (const auto& [first, second, third] : triples)
                values.push_back({first, second, third, 0});
            arguments.poolInts(name, quadruples.emplace_back(std::move(values)));
        }
    };

    arguments.add("posq", real4, cc.getPosq());
    arguments.add("posqCorrection", real4, cc.getUseMixedPrecision() ? cc.getPosqCorrection() : cc.getPosq());
    arguments.add("velm", mixed4, cc.getVelm());
    arguments.add("force", "const mm_long", cc.getLongForceBuffer());
    arguments.add("atomIndex", "const int", cc.getAtomIndexArray());
    arguments.addLongZeros("heat", take("ornsteinUhlenbeck") ? 2 * numParticles : 1);

    // what a step leaves behind; what users read of it twice, see `bufferIndex`
    arguments.addReals("startPosq", 2 * 4 * numParticles, 4);
    arguments.addReals("startCorrection", cc.getUseMixedPrecision() ? 2 * 4 * numParticles : 4, 4);
    arguments.addMixed("startVelm", zeros(4 * numParticles), 4);
    arguments.addMixed("lambda", zeros(2 * numRows));
    arguments.addMixed("mu", zeros(2 * numRows));
    arguments.poolMixedZeros("projection", numRows);
    arguments.poolMixedZeros("workRate", 2 * numRows);
    arguments.addMixed("work", zeros(2 * 2 * (int) t.movingRows.size()), 2);
    arguments.addMixed("velocityChange", zeros(take("noteVelocityChange") ? 2 * 3 * numParticles : 1));
    arguments.addMixed("reportErrors", zeros(2 * 2 * numStepSolves * t.numClusters()), 2);
    arguments.addInts("reportRows", vector<int>(std::max(2 * 4 * numStepSolves * t.numClusters(), 4)), 4);
    arguments.addMixed("redundantErrors", zeros(2 * 2 * 2 * (int) t.redundant.size()), 2);
    arguments.addInts("failure", {noFailure, noFailure});
    arguments.addMixed("rowTarget", t.rowTarget); // at the reference time

    arguments.poolInts("smallGroups", t.smallGroups);
    arguments.poolInts("smallParticles", t.smallParticles);
    arguments.poolInts("smallClusterType", t.smallClusterType);
    arguments.poolInts("smallTypes", t.smallTypes);
    arguments.poolMixed("smallNumbers", t.smallNumbers);

    arguments.poolInts("rowStart", t.rowStart);
    arguments.poolInts("particleStart", t.particleStart);
    arguments.poolInts("clusterParticle", t.clusterParticle);
    arguments.poolInts("particleSlotStart", t.particleSlotStart);
    arguments.poolInts("particleSlot", t.particleSlot);
    arguments.poolInts("slotStart", t.slotStart);
    arguments.poolInts("slotParticle", t.slotParticle);
    arguments.poolInts("slotRow", t.slotRow);
    arguments.poolMixed("slotWeight", t.slotWeight);
    arguments.poolMixed("slotInverseMass", t.slotInverseMass);
    arguments.poolInts("rowKind", t.rowKind);
    arguments.poolInts("rowForm", t.rowForm);
    arguments.poolInts("rowPeriodic", t.rowPeriodic);
    arguments.poolInts("rowFirstParameter", t.rowFirstParameter);
    arguments.poolMixed("rowRate", t.rowRate);
    arguments.poolMixed("rowInverseScale", t.rowInverseScale);
    arguments.poolMixed("rowDirection", t.rowDirection);
    arguments.poolInts("movingRows", t.movingRows);
    arguments.poolInts("rowIsLeaf", t.rowIsLeaf);
    arguments.poolInts("entryStart", t.entryStart);
    arguments.poolInts("couplingStart", t.couplingStart);
    arguments.poolInts("couplingSlots", t.couplingSlots);
    arguments.poolInts("levelStart", t.levelStart);
    arguments.poolInts("levelTargetStart", t.levelTargetStart);
    arguments.poolInts("levelDiagonalEnd", t.levelDiagonalEnd);
    arguments.poolInts("updateTarget", t.updateTarget);
    arguments.poolInts("updateStart", t.updateStart);
    poolTriples("updateSource", t.updateSource);
    arguments.poolInts("levelEntryStart", t.levelEntryStart);
    poolTriples("levelEntry", t.levelEntry);
    arguments.poolInts("colourStart", t.colourStart);
    arguments.poolInts("colourRowStart", t.colourRowStart);
    arguments.poolInts("colourRow", t.colourRow);

    // what general clusters work on
    arguments.poolMixedZeros("displacement", 4 * numParticles, 4);
    arguments.poolMixedZeros("impulse", 3 * numParticles);
    arguments.poolMixedZeros("startBond", 3 * numSlots);
    arguments.poolMixedZeros("startGradient", 3 * numSlots);
    arguments.poolMixedZeros("gradient", 3 * numSlots);
    arguments.poolMixedZeros("rowValue", numAll);
    arguments.poolMixedZeros("rowRateOffset", numAll);
    arguments.poolIntZeros("rowFolded", numAll);
    arguments.poolMixedZeros("change", numRows);
    arguments.poolMixedZeros("offset", numRows);
    arguments.poolMixedZeros("diagonal", numRows);
    arguments.poolMixedZeros("originalDiagonal", numRows);
    arguments.poolMixedZeros("lower", numEntries);
    arguments.poolMixedZeros("upper", numEntries);
    arguments.poolIntZeros("grid", 4);
    arguments.poolMixedZeros("gridErrors", 2 * mostInGrid, 2);
    arguments.poolIntZeros("gridRows", 4 * mostInGrid, 4);

    // expressions
    vector<double> tables, globals;
    for (const auto& custom : set.custom) {
        const vector<double> table = custom->tableData(), values = custom->getGlobals();
        tables.insert(tables.end(), table.begin(), table.end());
        globals.insert(globals.end(), values.begin(), values.end());
    }
    arguments.poolMixed("customParameters", set.parameters);
    arguments.addMixed("customGlobals", globals);
    arguments.poolMixed("customTables", tables);
    arguments.finishPools();
    arguments.addInts("cellOffsets", vector<int>(4 * numParticles), 4);

    arguments.set("numParticles", numParticles);
    arguments.set("paddedNumAtoms", cc.getPaddedNumAtoms());
    arguments.set("numClusters", t.numClusters());
    arguments.set("firstCluster", t.numSmallClusters);
    arguments.set("numRows", numRows);
    arguments.set("numRedundant", (int) t.redundant.size());
    arguments.set("numMoving", (int) t.movingRows.size());
    for (const char* name : {"launch", "bufferIndex", "firstOfRange", "lastOfRange", "maxIterations", "warmStart",
                             "addsUp", "noiseKey0", "noiseKey1", "noiseStepLow", "noiseStepHigh"})
        arguments.set(name, 0);
    for (const char* name : {"dt", "driftTime", "referenceTime", "time", "tolerance", "threshold", "innerTolerance",
                             "timeScale", "rounding", "velocityRounding", "farOff", "alpha", "beta", "maxDrift",
                             "velocityScale", "velocityNoise", "lambdaToWork", "muToWork", "spreadToWork"})
        arguments.set(name, 0.0);
    for (const char* name : {"boxA", "boxB", "boxC"})
        arguments.set(name, Vec3());
}

string ConstraintProgram::commonText() const {
    const auto number = [&](const char* inDouble, const char* inSingle) {
        return mixedIsDouble() ? string("(") + inDouble + ")" : string("(") + inSingle + "f)";
    };
    return define("PIVOT_THRESHOLD", number("1e-12", "1e-6")) + define("INFINITE_ERROR", "1e30f") +
           define("LINEAR_TOLERANCE", number("1e-12", "1e-5")) + define("LINEAR_ROUNDING", number("1e-8", "1e-3")) +
           define("TWO_PI", number("6.283185307179586477", "6.283185307")) +
           define("NO_FAILURE", to_string(noFailure)) + arguments.definition() + ConstraintKernelSources::kinds +
           ConstraintKernelSources::failureCodes + ConstraintKernelSources::stepState +
           ConstraintKernelSources::coordinates + ConstraintKernelSources::functions +
           ConstraintKernelSources::normalNumbers + ConstraintKernelSources::state;
}

string ConstraintProgram::smallText(const vector<StageText>& stages) const {
    // All functions inline, so that neither arrays nor the Arguments have an address: CUDA would keep them in memory.
    string text = "#ifndef __OPENCL_VERSION__\n#undef DEVICE\n#define DEVICE __device__ __forceinline__\n#endif\n";
    text += define("ITERATIVE", isIterative ? "1" : "0") + commonText() + ConstraintKernelSources::steps;
    const int largest = constraintTables.sizes[0], smallBlock = smallBlockSize(constraintTables);
    text += define("MOST_IN_REGISTERS", to_string(mostInRegisters)) + define("SMALL_BLOCK", to_string(smallBlock));
    const auto unroll = [](int size) { return "#pragma unroll" + string(size > mostInRegisters ? " 1" : ""); };
    for (int size : constraintTables.sizes)
        text += fillMarkers("smallClusters", ConstraintKernelSources::smallClusters,
                            {{"SIZE", to_string(size)}, {"UNROLL_PARTICLES", unroll(size)}});
    const int inLocalMemory = smallBlock * (largest > mostInRegisters ? largest * (largest + 4) : 1);
    for (const StageText& stage : stages) {
        string choice;
        for (int size : constraintTables.sizes) {
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
            choice += "        const int4 group" + n + " = a->smallGroups[" + n + "];\n        if (cluster >= group" +
                      n + ".x && cluster < group" + n + ".x + group" + n + ".y)\n            run_" + stage.name + n +
                      "(a, cluster, group" + n + ", numbers + LOCAL_ID);\n";
        }
        text += "KERNEL void smallCluster_" + stage.name + "(" + arguments.parameters() +
                ") {\n    LOCAL volatile mixed numbers[" + to_string(inLocalMemory) +
                "];\n    const Arguments values = " + arguments.initializer() +
                ";\n    const Arguments* a = &values;\n    if (hasFailed(a))\n        return;\n"
                "    const int last = a->smallGroups[0].x + a->smallGroups[0].y;\n"
                "    for (int cluster = GLOBAL_ID; cluster < last; cluster += GLOBAL_SIZE) {\n" +
                choice + "    }\n}\n";
    }
    return text;
}

long long ConstraintProgram::sharedNumbers(int blockSize) const {
    const int ofReports = blockSize * (mixedIsDouble() ? 32 : 20) + 16;
    long long bytes = (long long) device.sharedMemory() - ofReports;
    if (const char* limit = std::getenv("OPENMM_CONSTRAINTS_SHARED_MEMORY")) // for a factor: tests set it low
        bytes = std::min(bytes, std::atoll(limit));
    return bytes / (int) sizeof(float);
}

int ConstraintProgram::cooperatingBlocks() const {
    return std::min(device.cooperatingBlocks(), mostInGrid);
}

ConstraintTables::ThreadGroups ConstraintProgram::availableThreadGroups() const {
    ConstraintTables::ThreadGroups available;
    available.hasBlocks = usesBlocks(cc);
    available.hasGrid = available.hasBlocks && cooperatingBlocks() > 1 && device.largestBlock() >= mostInGrid;
    available.sharedNumbers = sharedNumbers(std::min(mostThreads, device.largestBlock()));
    if (std::getenv("OPENMM_CONSTRAINTS_GRID") != nullptr)
        available.gridCost = 0; // for a test of small systems
    return available;
}

ConstraintProgram::ThreadGroup ConstraintProgram::threadGroupOf(const ConstraintTables::Range& range) const {
    ThreadGroup group;
    if (range.group == ThreadGroupKind::Thread)
        return group;
    const ConstraintTables& t = constraintTables;
    int mostRows = 0;
    for (int c = range.first; c < range.last; c++)
        mostRows = std::max(mostRows, t.numRowsOf(c));
    group.blockSize = std::min(mostRows > 1024 ? mostThreads : mostRows > 256 ? 256 : 128, device.largestBlock());
    if (range.group == ThreadGroupKind::Grid) {
        group.blockSize = mostThreads;
        group.blocks = cooperatingBlocks();
        return group;
    }
    for (int c = range.first; c < range.last && !range.isIterative; c++) {
        const long long numbers = 2LL * (t.numRowsOf(c) + t.numEntriesOf(c));
        if (numbers <= sharedNumbers(group.blockSize)) {
            group.sharedNumbers = std::max(group.sharedNumbers, (int) numbers);
            group.sharedFactors++;
        }
    }
    return group;
}

string ConstraintProgram::generalText(const vector<StageText>& stages, const ConstraintTables::Range& range,
                                      const ThreadGroup& group, const ConstraintSet& set) const {
    const bool isBlock = range.group != ThreadGroupKind::Thread, isGrid = range.group == ThreadGroupKind::Grid;
    const bool hasShared = group.sharedNumbers > 0, fallsBack = hasShared && mixedIsDouble();
    const bool hasGlobal = fallsBack || group.sharedFactors < range.last - range.first;
    const ConstraintTables& t = constraintTables;
    const int firstRow = t.rowStart[range.first];
    const bool onlyDistances = std::all_of(t.rowKind.begin() + firstRow, t.rowKind.begin() + t.rowStart[range.last],
                                           [](int kind) { return kind == (int) RowKind::Distance; });
    string text = define("GROUP_IS_BLOCK", isBlock ? "1" : "0") + define("GROUP_IS_GRID", isGrid ? "1" : "0") +
                  define("BLOCK_SIZE", to_string(group.blockSize)) + define("MOST_THREADS", to_string(mostThreads)) +
                  define("THREAD_IN_GROUP", isGrid    ? "((int) GLOBAL_ID)"
                                            : isBlock ? "((int) LOCAL_ID)"
                                                      : "0") +
                  define("THREAD_GROUP_SIZE", isGrid    ? "((int) GLOBAL_SIZE)"
                                              : isBlock ? "BLOCK_SIZE"
                                                        : "1") +
                  define("THREAD_GROUP_SYNC", isGrid    ? "gridBarrier(a);"
                                              : isBlock ? "SYNC_THREADS"
                                                        : "") +
                  define("SHARED_ARGUMENT", isBlock ? ", shared" : "") +
                  define("SHARED_PARAMETER", isBlock ? ", SharedMemory shared" : "");
    const auto factorText = [](const string& place, const string& space, const string& number,
                               const string& threshold) {
        return fillMarkers("factor", ConstraintKernelSources::factor,
                           {{"PLACE", place}, {"SPACE", space}, {"NUMBER", number}, {"THRESHOLD", threshold}});
    };
    text += define("ITERATIVE", range.isIterative ? "1" : "0") + define("HAS_SHARED", hasShared ? "1" : "0") +
            define("HAS_GLOBAL", hasGlobal ? "1" : "0") + define("FALLS_BACK", fallsBack ? "1" : "0") +
            define("SHORT_NUMBERS", constraintTables.hasShortNumbers() ? "1" : "0") +
            define("ONLY_DISTANCES", onlyDistances ? "1" : "0") +
            define("SLOT_SHIFT", "(" + to_string(t.slotStart[firstRow] - 2 * firstRow) + ")") +
            define("STORE_SHIFT", "(" + to_string(t.slotStart[firstRow] - firstRow) + ")") +
            define("FACTOR_NUMBERS", to_string(group.sharedNumbers)) + commonText() + ConstraintKernelSources::steps +
            customText(set) + ConstraintKernelSources::rows + ConstraintKernelSources::threadGroups;
    if (hasShared)
        text += factorText("Shared", "LOCAL_ARG", "float", "1e-6f");
    if (hasGlobal && !range.isIterative)
        text += factorText("Global", "GLOBAL", "mixed", "PIVOT_THRESHOLD");
    text += ConstraintKernelSources::clusters;
    const string loop = isGrid    ? "(int c = a->firstOfRange; c < a->lastOfRange; c++)"
                        : isBlock ? "(int c = a->firstOfRange + GROUP_ID; c < a->lastOfRange; c += NUM_GROUPS)"
                                  : "(int c = a->firstOfRange + GLOBAL_ID; c < a->lastOfRange; c += GLOBAL_SIZE)";
    for (const StageText& stage : stages) {
        string steps;
        for (const string& step : stage.steps)
            steps += isSolve(step) ? "        " + step + "(a, c SHARED_ARGUMENT);\n"
                                   : "        EACH_PARTICLE(n) {\n            const int i = a->clusterParticle[n];\n"
                                     "            Particle p = loadParticle(a, i);\n            " +
                                         step +
                                         "(a, i, &p);\n            storeParticle(a, i, &p);\n        }\n"
                                         "        THREAD_GROUP_SYNC\n";
        text += string("KERNEL ") + (isBlock ? "GROUP_BOUNDS " : "") + "void " + prefixOf(range.group) + "_" +
                stage.name + "(" + arguments.parameters() +
                ") {\n    const Arguments values = " + arguments.initializer() +
                ";\n    const Arguments* a = &values;\n" + (isBlock ? "    DECLARE_SHARED_MEMORY\n" : "") +
                "    if (hasFailed(a))\n        return;\n    for " + loop + " {\n" + steps + "    }\n}\n";
    }
    return text;
}

/** evaluateCustom(), customRate() and customCurvature(): a case for every expression. */
string ConstraintProgram::customText(const ConstraintSet& set) const {
    const string declaration = "(const Arguments* a, int row, ";
    string functions, evaluate, rate, curvature;
    int firstGlobal = 0, firstTable = 0;
    vector<int> numParticles(set.custom.size());
    for (const Constraint& c : set.constraints)
        if (c.kind == CoordinateKind::Custom)
            numParticles[c.form] = c.size();
    for (size_t form = 0; form < set.custom.size(); form++) {
        CustomCoordinate& custom = *set.custom[form];
        const string name = "custom" + to_string(form), text = custom.kernelText(name);
        const int numTables = (int) custom.tableData().size(), numGlobals = (int) custom.getGlobals().size();
        if (!text.empty() && numParticles[form] > 0) {
            functions += text + custom.curvatureKernelText(name);
            const string n = to_string(numParticles[form]);
            const string common = "a->customParameters + a->rowFirstParameter[row], a->customGlobals + " +
                                  to_string(firstGlobal) + ", a->customTables + " + to_string(firstTable) +
                                  ", stepState";
            const string begin = "    case " + to_string(form) + ": {\n        mixed3 x[" + n + "], y[" + n +
                                 "];\n        for (int s = 0; s < " + n +
                                 "; s++) {\n"
                                 "            x[s] = unwrappedPosition(a, a->slotStart[row] + s, stepState);\n";
            evaluate += begin +
                        "            if (isDisplaced)\n"
                        "                x[s] = x[s] + displacementOf(a, a->slotStart[row] + s);\n        }\n"
                        "        const mixed sigma = " +
                        name + "(x, " + common + ", y);\n        for (int s = 0; s < " + n +
                        "; s++)\n            store3(gradients, a->slotStart[row] + s, y[s]);\n"
                        "        return sigma;\n    }\n";
            rate += begin + "        }\n        return " + name + "Rate(x, " + common + ");\n    }\n";
            curvature +=
                begin + "            y[s] = scale * velocityOf(a, a->slotStart[row] + s);\n        }\n        return " +
                name + "Curvature(x, y, " + common + ");\n    }\n";
        }
        firstGlobal += numGlobals;
        firstTable += numTables;
    }
    const auto function = [&](const string& name, const string& parameters, const string& cases) {
        return "DEVICE mixed " + name + declaration + parameters + ") {\n    switch (a->rowForm[row]) {\n" + cases +
               "    default:\n        return 0;\n    }\n}\n";
    };
    return "// rows.cc defines these\n"
           "DEVICE mixed3 displacementOf(const Arguments* a, int slot);\n"
           "DEVICE mixed3 unwrappedPosition(const Arguments* a, int slot, StepState box);\n"
           "DEVICE mixed3 velocityOf(const Arguments* a, int slot);\n" +
           functions +
           function("evaluateCustom", "bool isDisplaced, StepState stepState, GLOBAL mixed* gradients", evaluate) +
           function("customRate", "StepState stepState", rate) +
           function("customCurvature", "mixed scale, StepState stepState", curvature);
}

void ConstraintProgram::compile(const ComputeProgram& program, const string& prefix, const vector<StageText>& stages,
                                int threads, int size, int first, int last) {
    for (const StageText& stage : stages) {
        Launch launch{program->createKernel(prefix + "_" + stage.name), threads, size, first, last};
        arguments.bind(launch.kernel);
        launches[stage.name].push_back(launch);
    }
}

void ConstraintProgram::execute(Launch& launch, int number) {
    arguments.set("launch", number);
    arguments.set("firstOfRange", launch.first);
    arguments.set("lastOfRange", launch.last);
    arguments.update(launch.kernel);
    launch.kernel->execute(launch.threads, launch.blockSize);
}

void ConstraintProgram::launch(const string& stage, int number) {
    for (Launch& launch : launches[stage])
        execute(launch, number);
}

void ConstraintProgram::launchAfterwards(const string& kernel, int items, int number) {
    if (items == 0)
        return;
    Launch& launch = afterwards.at(kernel);
    launch.threads = items;
    launch.blockSize = 64;
    execute(launch, number);
}

} // namespace ConstraintPlugin
