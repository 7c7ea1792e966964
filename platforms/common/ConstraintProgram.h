// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_PROGRAM_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_PROGRAM_H_

#include "Device.h"
#include "KernelArguments.h"
#include "LazyProgram.h"

namespace ConstraintPlugin {

/** A part of a time step between two force evaluations: operations on each particle and solves, in order. Names are
 *  functions of kernels/steps.cc and, if they begin with "solve" or "project", of the solvers. */
struct StageText {
    std::string name;
    std::vector<std::string> steps;
    bool isOfEveryStep = true; ///< others are compiled when they are needed
};

/** Whether a step of a stage is a solve, rather than an operation on each particle. */
bool isSolve(const std::string& step);

/** Whether parts in shared memory have a solve (kernels/partDistances.cc): those of each step, but for accelerations,
 *  which need many digits. */
bool isOfLocalParts(const std::string& solve);

/** A stage as alternating lists of operations and solves: operations[k], solves[k], ..., operations[solves.size()]. */
struct SplitStage {
    explicit SplitStage(const StageText& stage);
    /** The name of a part: from the operations before a solve to those before the next. */
    std::string nameOf(int part) const;
    std::string name;
    std::vector<std::vector<std::string>> operations;
    std::vector<std::string> solves;
};

/** What a solve of bodies is, in order: a projection measures first. */
std::vector<std::string> solvesOf(const std::string& solve);

/** Whether any of the stages has a step. */
bool anyHas(const std::vector<StageText>& stages, const std::string& step);

/** Threads that have a body of a range. */
int bodyThreads(const std::vector<StageText>& stages, const ConstraintTables::BodyRange& range);

/** "#define NAME VALUE\n" */
std::string define(const std::string& name, const std::string& value);

/** Add the arrays that the stages of an integrator's step need. @param moments  of a step: StepMoment */
void takeStages(ArraySizes& sizes, const std::vector<StageText>& stages, int moments, const OpenMM::ComputeContext& cc);

/** Launches of a run of steps are numbered. The numbers of a step begin at a multiple of launchesPerStep: projections
 *  first, the stages from firstStage on. The number is large because a step may have thousands of geodesic steps. */
constexpr int launchesPerStep = 8192, firstStage = 4;

/** Recorded in place of a launch number if nothing has failed. As a launch number it marks a launch whose failures are
 *  not recorded. */
constexpr int noFailure = 0x7fffffff;

/** The kernels that solve a set of constraints, compiled for an integrator's stages. This class assembles their texts,
 *  so that kick, solve and update of a cluster are one launch. If all clusters are small, a stage is one launch. */
class ConstraintProgram {
public:
    /** @param stages      for which launch() will be called
     *  @param moments     of a step: StepMoment
     *  @param sumsStages  see StepScheme
     *  @param isCoarse    isCoarse() of the tolerance that it solves to */
    ConstraintProgram(Device& device, const ConstraintSolver& solver, bool smallInRegisters,
                      const std::vector<StageText>& stages, int moments, bool sumsStages, bool isCoarse);
    /** Launch a stage. @param number  ascending from launch to launch; see fail() in kernels/state.cc */
    void launch(const std::string& stage, int number);
    /** Launch one of kernels/afterwards.cc for this many items; nothing happens if there are none. */
    void launchAfterwards(const std::string& kernel, int items, int number);

    /** Use kernels that solve what parts leave to their cluster from now on, after Outcome_WholeCluster.
     *  @return whether they were not used before */
    bool takeWhole();

    /** Take other shapes of the free bodies. */
    void takeShapes(const ConstraintSet& set);

    const ConstraintTables& tables() const {
        return constraintTables;
    }
    /** Number of clusters whose factor is kept in a thread block's shared memory, in single precision. */
    int numSharedFactors() const {
        return sharedFactors;
    }
    /** Number of clusters that several thread blocks solve in overlapping parts. */
    int numClustersInParts() const {
        return clustersInParts;
    }
    /** Whether a program for this tolerance has floats in its solves: kernels/numbers.cc. */
    static bool isCoarse(double tolerance) {
        return tolerance >= 1e-7;
    }
    /** Whether thread blocks solve clusters. On a CPU single threads do. */
    static bool usesBlocks(const OpenMM::ComputeContext& cc);
    /** Whether they solve large ones in overlapping parts. */
    static bool usesParts(const OpenMM::ComputeContext& cc);
    /** Set the time (ps) of the launches that follow, since the reference time. */
    void setTime(double time);
    /** Set the moment of the step at whose positions the launches that follow compute gradients. @param buffer  0 or 1
     */
    void setMoment(int buffer, int moment);
    int numMoments() const {
        return moments;
    }

    // ---- BorderProgram.cpp
    /** The positions on the device have changed other than by a stage: responses of bordered rows are not known. */
    void forgetResponses() {
        hasResponses = false;
    }
    /** Launch more turns of clusters with bordered rows from now on, after Outcome_MoreTurns. */
    void takeMoreTurns();
    int getNumTurns() const {
        return numTurns;
    }
    KernelArguments arguments;

private:
    using Program = std::shared_ptr<LazyProgram>;
    struct Launch {
        Program program;
        std::string name; // of the kernel
        int threads = 0, blockSize = 64;
        int first = 0, last = 0; // of a range of general clusters
        int round = 0;           // of parts, if a launch is a round
        OpenMM::ComputeKernel kernel = nullptr;
    };
    /** A program of a text. @throws OpenMMException if it uses an argument that was not added */
    Program programOf(const std::string& text, std::size_t sharedBytes = 0, bool isCooperative = false) const;
    /** The threads that solve the clusters of a range. */
    struct ThreadGroup {
        int blockSize = 64;     ///< threads
        int factorNumbers = 0;  ///< in the largest factor that is kept in shared memory
        int sharedFloats = 0;   ///< shared memory, in floats: that, or a part
        bool isLocal = false;   ///< parts are kept in shared memory
        int together = 1;       ///< blocks that a multiprocessor has registers for
        int sharedFactors = 0;  ///< number of clusters with such factors
        bool hasOthers = false; ///< there are factors that do not fit
        /** Place of arguments in shared memory, in floats, behind the factor. */
        int argumentsAt() const {
            return (factorNumbers + 7) / 8 * 8;
        }
    };
    /** Of kernels' names. */
    static std::string prefixOf(ThreadGroupKind group);
    /** @param leastBlock    threads of a block, at least
     *  @param mostTogether  blocks that share a multiprocessor, at most */
    ThreadGroup threadGroupOf(const ConstraintTables::Range& range, int leastBlock = 0,
                              int mostTogether = maxBlockSize) const;
    ConstraintTables::ThreadGroups availableThreadGroups() const;
    /** Numbers of a factor that fit into the shared memory of a block of this size. */
    long long sharedNumbers(int blockSize) const;
    /** Bytes of shared memory for the arrays that are declared in the text of a block. */
    int declaredBytes(int blockSize) const;
    int sharedBytes(const ThreadGroup& group) const;
    /** Bytes that a thread of small clusters shows to others. */
    int shownBytes() const {
        return (10 + constraintTables.lengthsOfLane) * (mixedIsDouble() ? 8 : 4);
    }
    /** Let blocks of parts that stay in shared memory share multiprocessors. */
    void putTogether(ThreadGroup& group, int numParts) const;
    void addArguments(const std::vector<StageText>& stages);
    void countClusters();
    void addAfterwards(const ConstraintSet& set);
    std::string commonText(bool atBorder = false) const;

    // ---- SharedLaunch.cpp
    /** What one solver has of a launch that several share. Shares are side by side; where that makes more blocks than
     *  fit, those that follow begin again with the first block, which comes to them later. */
    struct Share {
        const ConstraintTables::Range* range; ///< general clusters, or nullptr: small ones
        ThreadGroup group;                    ///< of a range
        std::string name;                     ///< of its functions
        int first, last;                      ///< of its clusters, or blocks of small clusters
        int firstBlock, numBlocks;
        bool isOfParts() const {
            return range != nullptr && range->group == ThreadGroupKind::Part;
        }
    };
    struct SharedLaunch {
        std::vector<Share> shares; ///< in the order in which a block takes them
        int numBlocks = 0, blockSize = smallBlock, together = 4, sharedBytes = 0;
        bool isCooperative = false;
        bool takesTurns = false; ///< blocks may have several shares
        /** @param range  or nullptr: small clusters */
        bool has(const ConstraintTables::Range* range) const;
    };
    /** Clusters in parts, those of single threads and small ones; nothing where that is less than two of them. */
    SharedLaunch sharedLaunch() const;
    void place(SharedLaunch& launch, int atOnce) const;
    /** A share's functions in a namespace of their own. */
    std::string shareText(const SharedLaunch& launch, int number, const std::vector<StageText>& stages,
                          const ConstraintSet& set) const;
    void addSharedLaunch(const SharedLaunch& launch, const std::vector<StageText>& stages, const ConstraintSet& set);
    /** A kernel, or a function for a part of one. */
    std::string kernelText(const Share* share, const std::string& name, const std::string& bounds,
                           const std::string& memory, const std::string& body,
                           const std::string& begin = KernelArguments::hasFailedText) const;

    std::string smallText(const std::vector<StageText>& stages, bool atBorder, const Share* share = nullptr) const;
    /** Definitions of a range, and what all its solvers use. */
    std::string rangeText(const ConstraintTables::Range& range, const ThreadGroup& group,
                          const ConstraintSet& set) const;
    std::string generalText(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
                            const ThreadGroup& group, const ConstraintSet& set, const Share* share = nullptr) const;
    /** What kernels of parts do: all rounds, what these leave to the whole cluster, or both. Only launches of joined
     * bodies for each round are apart. */
    enum class PartRole { Rounds, Whole, All };
    static std::string prefixOf(PartRole role);
    /** @param waits  whether the parts of a cluster wait for each other in a launch */
    std::string partText(const std::vector<StageText>& stages, const ConstraintTables::Range& range,
                         const ThreadGroup& group, const ConstraintSet& set, bool waits, PartRole role,
                         const Share* share = nullptr) const;
    int blocksOfParts(const ConstraintTables::Range& range, const ThreadGroup& group) const;
    /** The equations of rigid motion, and constants of bodies. */
    std::string rigidText() const;
    /** What texts of clusters with joined bodies need besides the common one. */
    std::string jointText() const;
    /** Whether the blocks of all parts of a range wait for each other in a launch. */
    bool waitsIn(const ConstraintTables::Range& range, const ThreadGroup& group) const;
    /** A program that leaves out what takeWhole() adds: it takes most of the time to compile, and few runs need it. */
    Program programWithoutWhole(const std::string& text, std::size_t sharedBytes, bool isCooperative);
    /** The text of rigid bodies, where a thread group of a size has one of them or a part. */
    std::string bodyText(const std::vector<StageText>& stages, int threads, bool isSplit) const;
    /** Compile the kernels of clusters at the border, or of all others without joined bodies. */
    void addClusters(const std::vector<StageText>& stages, bool atBorder, const ConstraintSet& set);
    /** Compile the kernels of bordered rows, and of the clusters and particles that they reach. */
    void addBorder(const std::vector<StageText>& stages, const ConstraintSet& set);
    /** What particles do at the border before, between and after the solves of a stage. */
    std::string borderStageText(const SplitStage& stage) const;
    /** The bordered rows' part of a stage. */
    void launchBorder(const std::string& stage, int number);
    void launchResponses(int number);
    void launchTurns(const std::string& solve, int number);
    void launchTurn(std::vector<Launch>& some, int turn, int item, int number);
    /** Compile the kernels of a range of general clusters. */
    void addRange(const std::vector<StageText>& stages, const ConstraintTables::Range& range, const ConstraintSet& set);
    /** The same for a range of parts. */
    void addParts(const std::vector<StageText>& stages, const ConstraintTables::Range& range, const ConstraintSet& set);
    /** Compile the kernels of free rigid bodies. */
    void addBodies(const std::vector<StageText>& stages);
    /** Compile the kernels of joined rigid bodies, and of the clusters that have them but are not at the border. */
    void addJoinedBodies(const std::vector<StageText>& stages, const ConstraintSet& set);
    bool mixedIsDouble() const {
        return cc.getUseDoublePrecision() || cc.getUseMixedPrecision();
    }
    /** Of what changes while a solve iterates. */
    bool numberIsDouble() const {
        return mixedIsDouble() && !coarse;
    }
    /** Launch a kernel in each of some stages. */
    void addLaunches(const Program& program, const std::string& prefix, const std::vector<StageText>& stages,
                     int threads, int blockSize, int first, int last);
    void execute(Launch& launch, int number);

    Device& device;
    OpenMM::ComputeContext& cc;
    bool isIterative, moves;
    int moments;
    bool sumsStages, coarse, velocitiesFirst;
    ConstraintTables constraintTables; // depends on the numbers that `coarse` chooses
    int sharedFactors = 0, clustersInParts = 0;
    std::vector<Program> withoutWhole;
    bool hasWhole = false;
    std::map<std::string, std::vector<Launch>> launches; // by stage
    std::map<std::string, Launch> afterwards;
    std::map<std::string, SplitStage> borderStages;
    std::vector<std::string> borderSolves; // by their numbers in kernels/border.cc
    int numTurns = 2;
    bool hasResponses = false;
    double launchTime = 0, responseTime = 0;
};

} // namespace ConstraintPlugin

#endif
