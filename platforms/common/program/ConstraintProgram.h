// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_PROGRAM_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_PROGRAM_H_

#include "BorderRows.h"
#include "SmallClusters.h"
#include "Subdomains.h"

namespace ConstraintPlugin {

/** Add the arrays that the stages of an integrator's step need. @param moments  of a step: StepMoment */
void takeStages(ArraySizes& sizes, const std::vector<StageText>& stages, int moments, const OpenMM::ComputeContext& cc);

/** The kernels that solve a set of constraints, compiled for an integrator's stages: kick, solve and update of a
 * cluster are one launch. If all clusters are small, a stage is one launch. What serves which clusters: README.md. */
class ConstraintProgram {
public:
    /** @param stages      for which launch() will be called
     *  @param moments     of a step: StepMoment
     *  @param sumsStages  see StepScheme
     *  @param isCoarse    isCoarse() of the tolerance that it solves to */
    ConstraintProgram(Device& device, const ConstraintSolver& solver, bool smallInRegisters,
                      const std::vector<StageText>& stages, int moments, bool sumsStages, bool isCoarse);
    ConstraintProgram(const ConstraintProgram&) = delete; // its parts refer to each other
    ConstraintProgram& operator=(const ConstraintProgram&) = delete;
    /** Launch a stage. @param number  ascending from launch to launch; see fail() in state.cc */
    void launch(const std::string& stage, int number);
    /** Launch one of afterwards.cc for this many items; nothing happens if there are none. */
    void launchAfterwards(const std::string& kernel, int items, int number);

    /** Use kernels that solve what subdomains leave to their cluster from now on, after Outcome_WholeCluster.
     *  @return whether they were not used before */
    bool takeWhole() {
        return launches.takeWhole();
    }

    /** Take other shapes of the free bodies. */
    void takeShapes(const ConstraintSet& set);

    const ConstraintTables& tables() const {
        return constraintTables;
    }
    /** Number of clusters whose factor is kept in a thread block's shared memory, in single precision. */
    int numSharedFactors() const {
        return sharedFactors;
    }
    /** Number of clusters that several thread blocks solve in overlapping subdomains. */
    int numClustersInSubdomains() const {
        return clustersInSubdomains;
    }
    /** Whether a program for this tolerance has floats in its solves: numbers.cc. */
    static bool isCoarse(double tolerance) {
        return tolerance >= 1e-7;
    }
    /** Set the time (ps) of the launches that follow, since the reference time. */
    void setTime(double time);
    /** Set the moment of the step at whose positions the launches that follow compute gradients. @param buffer  0 or 1
     */
    void setMoment(int buffer, int moment);
    int numMoments() const {
        return moments;
    }
    /** The positions on the device have changed other than by a stage: responses of bordered rows are not known. */
    void forgetResponses() {
        border.forgetResponses();
    }
    /** Launch more turns of clusters with bordered rows from now on, after Outcome_MoreTurns. */
    void takeMoreTurns() {
        border.takeMoreTurns();
    }
    int getNumTurns() const {
        return border.getNumTurns();
    }
    KernelArguments arguments;

private:
    void addArguments(Device& device, const std::vector<StageText>& stages);
    void countClusters();
    /** Add clusters at the border, or all others without joined bodies. */
    void addClusters(const std::vector<StageText>& stages, bool atBorder, const ConstraintSet& set);
    void addAfterwards(const ConstraintSet& set);
    int moments;
    GroupSizes groupSizes;
    ConstraintTables constraintTables; // depends on the numbers that isCoarse chooses
    Launches launches;
    ProgramFrame frame;
    SmallClusters small;
    GeneralClusters clusters;
    Subdomains subdomains;
    BorderRows border;
    std::map<std::string, Launch> afterwards;
    int sharedFactors = 0, clustersInSubdomains = 0;
    double launchTime = 0;
};

} // namespace ConstraintPlugin

#endif
