// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ConstraintProgram.h"
#include "ConstraintKernelSources.h"
#include "CustomText.h"
#include "DeviceMemory.h"
#include "TestHooks.h"
#include "TextMarkers.h"
#include "openmm/common/IntegrationUtilities.h"
#include <algorithm>
#include <iterator>
#include <set>

using namespace OpenMM;
using std::string;
using std::to_string;
using std::vector;

namespace ConstraintPlugin {

namespace {

/** Where what a solve changes is: a part of a cluster has its own copies of nodes (ConstraintTables::slotNode). */
string nodeDefinitions(bool isPart, bool isBorder = false) {
    return define("IS_PART", isPart ? "1" : "0") + define("IS_BORDER", isBorder ? "1" : "0") +
           define("IS_WHOLE(c)", isPart ? "(a->partsOfCluster[c].z == (c))" : "true") +
           define("NODE_OF(slot)", isPart ? "a->slotNode[slot]" : "a->slotParticle[slot]");
}

} // namespace

/** Threads of a block would run one after the other on a CPU, and compiling their barriers would take minutes. */
bool ConstraintProgram::usesBlocks(const ComputeContext& cc) {
    return !cc.getIsCPU() || TestHooks::blocks.isSet();
}

/** On a CPU, OpenCL takes hours to compile their barriers. */
bool ConstraintProgram::usesParts(const ComputeContext& cc) {
    return !cc.getIsCPU();
}

bool isSolve(const string& step) {
    return step.compare(0, 5, "solve") == 0 || step.compare(0, 7, "project") == 0;
}

string ConstraintProgram::prefixOf(ThreadGroupKind group) {
    return group == ThreadGroupKind::Thread ? "threadCluster" : "blockCluster";
}

SplitStage::SplitStage(const StageText& stage) : name(stage.name), operations(1) {
    for (const string& step : stage.steps)
        if (isSolve(step)) {
            solves.push_back(step);
            operations.emplace_back();
        } else
            operations.back().push_back(step);
}

string SplitStage::nameOf(int part) const {
    return name + "_" + to_string(part);
}

vector<string> solvesOf(const string& solve) {
    const string projection = "project";
    if (solve.compare(0, projection.size(), projection) != 0)
        return {solve};
    return {"measure" + solve.substr(projection.size()), solve};
}

bool anyHas(const vector<StageText>& stages, const string& step) {
    return std::any_of(stages.begin(), stages.end(), [&](const StageText& stage) {
        return std::count(stage.steps.begin(), stage.steps.end(), step) > 0;
    });
}

string define(const string& name, const string& value) {
    return "#define " + name + " " + value + "\n";
}

void takeStages(ArraySizes& sizes, const vector<StageText>& stages, int moments, const ComputeContext& cc) {
    sizes.moments = moments;
    sizes.hasHeatBath = anyHas(stages, "ornsteinUhlenbeck");
    sizes.notesVelocityChanges = anyHas(stages, "noteVelocityChange");
    sizes.hasSlowForces = anyHas(stages, "halfKickOfLevels");
    sizes.hasThermostat = anyHas(stages, "scaleByBath");
    sizes.hasKineticEnergy = anyHas(stages, "noteKineticEnergy");
    sizes.hasAccelerations = anyHas(stages, "solveStartAccelerations");
    sizes.hasCorrections = cc.getUseMixedPrecision();
}

/** Stages that are compiled together: those of every step, then each of the others. */
static vector<vector<StageText>> byNeed(const vector<StageText>& stages) {
    vector<vector<StageText>> result(1);
    for (const StageText& stage : stages)
        if (stage.isOfEveryStep)
            result[0].push_back(stage);
        else
            result.push_back({stage});
    return result;
}

/** Whether the first solve of a step is one of velocities. */
static bool beginsWithVelocities(const vector<StageText>& stages) {
    const auto first = std::find_if(stages[0].steps.begin(), stages[0].steps.end(), isSolve);
    return first != stages[0].steps.end() && *first == "solveVelocities";
}

ConstraintProgram::ConstraintProgram(Device& device, const ConstraintSolver& solver, bool smallInRegisters,
                                     const vector<StageText>& stages, int moments, bool sumsStages, bool isCoarse)
    : arguments(device.context()), device(device), cc(device.context()),
      isIterative(solver.getMethod() == Method::Iterative), moves(solver.moves()), moments(moments),
      sumsStages(sumsStages), coarse(isCoarse), velocitiesFirst(beginsWithVelocities(stages)),
      constraintTables(solver, smallInRegisters, availableThreadGroups()) {
    const ConstraintSet& set = solver.getSet();
    addArguments(stages);
    countClusters();
    for (const vector<StageText>& together : byNeed(stages)) {
        addClusters(together, false, set);
        addBodies(together);
    }
    addJoinedBodies(stages, set);
    addBorder(stages, set);
    addAfterwards(set);
    if (TestHooks::whole.isSet())
        takeWhole();
    constraintTables.releaseRows();
}

void ConstraintProgram::countClusters() {
    const ConstraintTables& t = constraintTables;
    for (const ConstraintTables::Range& range : t.ranges) {
        sharedFactors += threadGroupOf(range).sharedFactors;
        for (int c = range.first; c < range.last && range.group == ThreadGroupKind::Part; c++)
            clustersInParts += t.partsOfCluster[c][0] == c && t.partsOfCluster[c][2] != c;
    }
}

void ConstraintProgram::addAfterwards(const ConstraintSet& set) {
    // What a kernel has to begin with, and where nothing is done once a step has failed.
    const string begin = arguments.beginText(), beginIfGood = begin + KernelArguments::hasFailedText;
    const string common =
        define("HAS_JOINTS", "0") + nodeDefinitions(false) + commonText() + ConstraintKernelSources::steps;
    const auto add = [&](const string& text, std::initializer_list<const char*> names) {
        const Program program = programOf(common + text);
        for (const char* name : names)
            afterwards[name] = {program, name};
    };
    add(ConstraintKernelSources::rowThreads + customText(set, false) + ConstraintKernelSources::rows +
            fillMarkers("checks", ConstraintKernelSources::checks,
                        {{"PARAMETERS", arguments.parameters()}, {"BEGIN", beginIfGood}}),
        {"checkPositions", "checkVelocities"});
    add(fillMarkers("afterwards", ConstraintKernelSources::afterwards,
                    {{"PARAMETERS", arguments.parameters()}, {"BEGIN", beginIfGood}, {"BEGIN_ANYWAY", begin}}),
        {"addWork", "addSpreadWork", "addSlowForces", "keepState", "sumForBath", "keepEnd", "sumParticleEnergies"});
}

void ConstraintProgram::addClusters(const vector<StageText>& stages, bool atBorder, const ConstraintSet& set) {
    const ConstraintTables& t = constraintTables;
    const ConstraintTables::SmallBlocks& small = atBorder ? t.smallAtBorder : t.small;
    const SharedLaunch shared = atBorder ? SharedLaunch() : sharedLaunch();
    addSharedLaunch(shared, stages, set);
    if (small.threads() > 0 && !shared.has(nullptr))
        addLaunches(programOf(smallText(stages, atBorder)), "smallCluster", stages, small.threads(), smallBlock,
                    small.first, small.last);
    for (const ConstraintTables::Range& range : t.ranges)
        if (range.isAtBorder == atBorder && (atBorder || !range.isJoined) && !shared.has(&range)) {
            if (range.group == ThreadGroupKind::Part)
                addParts(stages, range, set);
            else
                addRange(stages, range, set);
        }
}

void ConstraintProgram::addRange(const vector<StageText>& stages, const ConstraintTables::Range& range,
                                 const ConstraintSet& set) {
    const ThreadGroup group = threadGroupOf(range);
    const int clusters = range.last - range.first;
    addLaunches(programOf(generalText(stages, range, group, set), sharedBytes(group)), prefixOf(range.group), stages,
                range.group == ThreadGroupKind::Thread ? clusters : clusters * group.blockSize, group.blockSize,
                range.first, range.last);
}

void ConstraintProgram::addArguments(const vector<StageText>& stages) {
    const ConstraintTables& t = constraintTables;
    arguments.add("posq", "real4", cc.getPosq());
    arguments.add("posqCorrection", "real4", cc.getUseMixedPrecision() ? cc.getPosqCorrection() : cc.getPosq());
    arguments.add("velm", "mixed4", cc.getVelm());
    arguments.add("force", "const mm_long", cc.getLongForceBuffer());
    arguments.add("posDelta", "mixed4", cc.getIntegrationUtilities().getPosDelta());
    arguments.add("atomIndex", "const int", cc.getAtomIndexArray());
    ArraySizes sizes(t);
    takeStages(sizes, stages, moments, cc);
    arguments.add(DeviceArrays(sizes), t, largestArrayOf(device));
    const int nothingFailed[2] = {noFailure, noFailure};
    arguments["failure"].upload(nothingFailed);

    arguments.addNumber("numParticles", t.numParticles);
    arguments.addNumber("paddedNumAtoms", cc.getPaddedNumAtoms());
    arguments.addNumber("numClusters", t.numClusters());
    arguments.addNumber("firstCluster", t.numSmallClusters);
    arguments.addNumber("firstBodyCluster", t.firstBodyCluster());
    arguments.addNumber("numBodyPlaces", t.numBodyPlaces());
    arguments.addNumber("numBodyParts", (int) t.bodyParts.size());
    arguments.addNumber("numRows", t.numRows);
    arguments.addNumber("numMoments", moments);
    arguments.addNumber("numGeneralClusters", t.numGeneralClusters);
    arguments.addNumber("numRedundant", (int) t.redundant.size());
    arguments.addNumber("numMoving", (int) t.movingRows.size());
    for (const char* name : {"launch", "bufferIndex", "firstOfRange", "lastOfRange", "round", "maxIterations",
                             "warmStart", "momentIndex", "turn", "numTurns", "borderItem", "isFirstBath",
                             "hasSlowForces", "noiseKey0", "noiseKey1", "noiseStepLow", "noiseStepHigh"})
        arguments.addNumber(name, 0);
    for (const char* name : {"dt", "driftTime", "referenceTime", "time", "tolerance", "threshold", "innerTolerance",
                             "timeScale", "rounding", "velocityRounding", "farOff", "alpha", "beta", "maxDrift",
                             "velocityScale", "velocityNoise", "lambdaToWork", "muToWork", "forceFactor"})
        arguments.addNumber(name, 0.0);
    for (const char* name : {"boxA", "boxB", "boxC"})
        arguments.addNumber(name, Vec3());
}

string ConstraintProgram::commonText(bool atBorder) const {
    const auto number = [&](const char* inDouble, const char* inSingle) {
        return mixedIsDouble() ? string("(") + inDouble + ")" : string("(") + inSingle + "f)";
    };
    return define("COARSE", coarse ? "1" : "0") + define("NUMBER_IS_DOUBLE", numberIsDouble() ? "1" : "0") +
           define("PIVOT_THRESHOLD", number("1e-12", "1e-6")) + define("INFINITE_ERROR", "1e30f") +
           define("LINEAR_TOLERANCE", number("1e-12", "1e-5")) + define("LINEAR_ROUNDING", number("1e-8", "1e-3")) +
           define("RESPONSE_TOLERANCE", number("1e-6", "1e-5")) + define("RESPONSE_ITERATIONS", "1000") +
           define("AT_BORDER", atBorder ? "1" : "0") + define("NOISE_PART", number("0", "0.5")) +
           define("FIRST_SWEEPS", "10") + define("TWO_PI", number("6.283185307179586477", "6.283185307")) +
           define("NUM_BATH_SUMS", to_string(numBathSums)) + define("NO_FAILURE", to_string(noFailure)) +
           arguments.definition() + ConstraintKernelSources::kinds + ConstraintKernelSources::failureCodes +
           ConstraintKernelSources::numbers + ConstraintKernelSources::stepState +
           ConstraintKernelSources::coordinates + ConstraintKernelSources::functions +
           ConstraintKernelSources::normalNumbers + ConstraintKernelSources::state;
}

int ConstraintProgram::declaredBytes(int blockSize) const {
    // Reports and notes; on OpenCL, numbers are rounded up to long4s.
    return blockSize * (mixedIsDouble() ? 32 : 20) + 96;
}

int ConstraintProgram::sharedBytes(const ThreadGroup& group) const {
    return declaredBytes(group.blockSize) + (int) sizeof(float) * group.sharedFloats;
}

long long ConstraintProgram::sharedNumbers(int blockSize) const {
    const long long bytes = (long long) device.sharedMemory() - declaredBytes(blockSize);
    return std::min(bytes, TestHooks::sharedMemory.valueOr(bytes)) / (int) sizeof(float);
}

/** Where there are more parts than multiprocessors, let those that share one fill each other's waits. Their blocks are
 *  smaller: a thread of maxPartBlock has all the registers that it can have. */
void ConstraintProgram::putTogether(ThreadGroup& group, int numParts) const {
    const int turns = (numParts - 1) / device.cooperatingBlocks() + 1,
              blockSize = std::min(group.blockSize, maxPartBlock / 2);
    const std::size_t bytes = sizeof(float) * group.sharedFloats + declaredBytes(blockSize);
    const int together = std::min({turns, maxPartBlock / blockSize, device.blocksInSharedMemory(bytes)});
    if (together > 1) {
        group.together = together;
        group.blockSize = blockSize;
    }
}

ConstraintTables::ThreadGroups ConstraintProgram::availableThreadGroups() const {
    ConstraintTables::ThreadGroups available;
    available.hasBlocks = usesBlocks(cc);
    available.hasParts = usesParts(cc);
    available.largestBlock = device.largestBlock();
    available.waitingBlocks = device.cooperatingBlocks();
    available.sharedNumbers = [this](int blockSize) { return sharedNumbers(blockSize); };
    available.mixedBytes = mixedIsDouble() ? 8 : 4;
    available.numberBytes = numberIsDouble() ? 8 : 4;
    return available;
}

ConstraintProgram::ThreadGroup ConstraintProgram::threadGroupOf(const ConstraintTables::Range& range, int leastBlock,
                                                                int mostTogether) const {
    ThreadGroup group;
    group.blockSize = std::max(range.blockSize, leastBlock);
    if (range.group != ThreadGroupKind::Part)
        group.together = maxBlockSize / group.blockSize;
    if (range.group != ThreadGroupKind::Block && range.group != ThreadGroupKind::Part)
        return group;
    const ConstraintTables& t = constraintTables;
    long long mostNumbers = sharedNumbers(group.blockSize), ofParts = 0;
    if (const auto found = t.layouts.find(range.first); found != t.layouts.end()) {
        ofParts = (found->second.layout.bytes(mixedIsDouble() ? 8 : 4, numberIsDouble() ? 8 : 4) + 3) / 4;
        group.isLocal = ofParts <= mostNumbers;
    }
    // Clusters are seldom solved as a whole: their parts decide how many share a multiprocessor.
    if (group.isLocal && range.isSplit)
        mostNumbers = ofParts;
    if (group.isLocal) // functions apart need arguments behind a factor
        mostNumbers = (mostNumbers - arguments.floats()) / 8 * 8;
    else if (range.group == ThreadGroupKind::Part) {
        const long long all =
            ((long long) device.sharedMemory() - declaredBytes(group.blockSize)) / (int) sizeof(float);
        mostNumbers = std::min(mostNumbers, (all - arguments.floats()) / 8 * 8);
    }
    for (int c = range.first; c < range.end && !range.isIterative; c++) {
        const long long numbers = 2LL * (t.numRowsOf(c) + t.numEntriesOf(c));
        if (numbers <= mostNumbers) {
            group.factorNumbers = std::max(group.factorNumbers, (int) numbers);
            group.sharedFactors += t.bundled[c];
        } else
            group.hasOthers = true;
    }
    group.sharedFloats = group.factorNumbers;
    if (range.group == ThreadGroupKind::Part)
        group.sharedFloats = std::max((int) ofParts, group.argumentsAt() + arguments.floats());
    if (group.isLocal && mostTogether > 1)
        putTogether(group, range.last - range.first);
    return group;
}

string ConstraintProgram::rangeText(const ConstraintTables::Range& range, const ThreadGroup& group,
                                    const ConstraintSet& set) const {
    const ConstraintTables& t = constraintTables;
    const bool isBlock = range.group != ThreadGroupKind::Thread;
    const bool hasShared = group.factorNumbers > 0, fallsBack = hasShared && mixedIsDouble();
    const bool hasGlobal = fallsBack || !hasShared || group.hasOthers;
    const int firstRow = t.rowStart[range.first];
    const bool onlyDistances =
        !range.isJoined && std::all_of(t.rowKind.begin() + firstRow, t.rowKind.begin() + t.rowStart[range.end],
                                       [](int kind) { return kind == (int) RowKind::Distance; });
    string text = define("GROUP_IS_BLOCK", isBlock ? "1" : "0") +
                  nodeDefinitions(range.group == ThreadGroupKind::Part, range.first == t.borderCluster) +
                  define("FIRST_PLACE", to_string(t.numNodes())) + define("BLOCK_SIZE", to_string(group.blockSize)) +
                  define("BLOCKS_TOGETHER", to_string(group.together)) +
                  define("THREAD_IN_GROUP", isBlock ? "((int) LOCAL_ID)" : "0") +
                  define("THREAD_GROUP_SIZE", isBlock ? "BLOCK_SIZE" : "1") +
                  define("THREAD_GROUP_SYNC", isBlock ? "SYNC_THREADS" : "") +
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
            define("FACTOR_NUMBERS", to_string(group.factorNumbers)) +
            define("ARGUMENTS_AT", to_string(group.argumentsAt())) +
            define("SHARED_FLOATS", to_string(group.sharedFloats)) + define("HAS_JOINTS", range.isJoined ? "1" : "0") +
            commonText(range.isAtBorder) + ConstraintKernelSources::steps +
            (range.isAtBorder ? ConstraintKernelSources::borderField : "") + ConstraintKernelSources::rowThreads +
            (range.isJoined ? jointText() + ConstraintKernelSources::points : "") + customText(set, range.isJoined) +
            ConstraintKernelSources::rows + ConstraintKernelSources::threadGroups;
    if (hasShared)
        text += factorText("Shared", "LOCAL_ARG", "float", "1e-6f");
    if (hasGlobal && !range.isIterative)
        text += factorText("Global", "GLOBAL", "mixed", "PIVOT_THRESHOLD");
    return text + ConstraintKernelSources::residuals;
}

string ConstraintProgram::generalText(const vector<StageText>& stages, const ConstraintTables::Range& range,
                                      const ThreadGroup& group, const ConstraintSet& set, const Share* share) const {
    const bool isBlock = range.group != ThreadGroupKind::Thread;
    string text = rangeText(range, group, set);
    text += ConstraintKernelSources::solves + ConstraintKernelSources::clusters;
    std::set<string> solves;
    for (const StageText& stage : stages)
        std::copy_if(stage.steps.begin(), stage.steps.end(), std::inserter(solves, solves.end()), isSolve);
    for (const string& solve : solves)
        text += fillMarkers("clusterSolve", ConstraintKernelSources::clusterSolve, {{"SOLVE", solve}});
    const string loop = isBlock ? "(int c = a->firstOfRange + GROUP_ID; c < a->lastOfRange; c += NUM_GROUPS)"
                                : "(int c = a->firstOfRange + GLOBAL_ID; c < a->lastOfRange; c += GLOBAL_SIZE)";
    for (const StageText& stage : stages) {
        // No barriers are needed here: a thread has the same particles in every loop, a solve reads those of others
        // only after its first worstOf() and no more after its last, and positions move at the end of a stage.
        string steps, ofParticle;
        const auto takeThoseOfParticles = [&] {
            if (!ofParticle.empty())
                steps += "        EACH_PARTICLE(n) {\n            const int i = a->clusterParticle[n];\n" +
                         string(range.isJoined ? "            if (i >= a->numParticles) // a body's\n"
                                                 "                continue;\n"
                                               : "") +
                         "            Particle p = loadParticle(a, i);\n" + ofParticle +
                         "            storeParticle(a, i, &p);\n        }\n";
            ofParticle.clear();
        };
        for (const string& step : stage.steps)
            if (isSolve(step)) {
                takeThoseOfParticles();
                steps += "        " + step + "(a, c SHARED_ARGUMENT);\n";
            } else
                ofParticle += "            " + step + "(a, i, &p);\n";
        takeThoseOfParticles();
        text +=
            kernelText(share, prefixOf(range.group) + "_" + stage.name, isBlock ? "GROUP_BOUNDS " : "",
                       isBlock ? "    DECLARE_SHARED_MEMORY\n" : "", "    for " + loop + " {\n" + steps + "    }\n");
    }
    return text;
}

ConstraintProgram::Program ConstraintProgram::programOf(const string& text, std::size_t sharedBytes,
                                                        bool isCooperative) const {
    arguments.requireKnownIn(text);
    return std::make_shared<LazyProgram>(device, text, sharedBytes, isCooperative);
}

void ConstraintProgram::addLaunches(const Program& program, const string& prefix, const vector<StageText>& stages,
                                    int threads, int size, int first, int last) {
    for (const StageText& stage : stages)
        launches[stage.name].push_back({program, prefix + "_" + stage.name, threads, size, first, last});
}

void ConstraintProgram::execute(Launch& launch, int number) {
    if (launch.kernel == nullptr) {
        launch.kernel = launch.program->createKernel(launch.name);
        arguments.bind(launch.kernel);
    }
    arguments.set("launch", number);
    arguments.set("firstOfRange", launch.first);
    arguments.set("lastOfRange", launch.last);
    arguments.set("round", launch.round);
    arguments.update(launch.kernel);
    launch.kernel->execute(launch.threads, launch.blockSize);
}

void ConstraintProgram::launch(const string& stage, int number) {
    for (Launch& launch : launches[stage])
        execute(launch, number);
    launchBorder(stage, number);
}

void ConstraintProgram::takeShapes(const ConstraintSet& set) {
    constraintTables.takeShapes(set);
    if (constraintTables.numBodyPlaces() > 0)
        arguments.upload("bodyShape", constraintTables.bodyShape);
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
