// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_LAUNCHES_H_
#define OPENMM_CONSTRAINTS_LAUNCHES_H_

#include "KernelArguments.h"
#include "LazyProgram.h"
#include "Stages.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Launches of a run of steps are numbered. The numbers of a step begin at a multiple of launchesPerStep: projections
 *  first, the stages from firstStage on. The number is large because a step may have thousands of geodesic steps. */
constexpr int launchesPerStep = 8192, firstStage = 4;

/** Recorded in place of a launch number if nothing has failed. As a launch number it marks a launch whose failures are
 *  not recorded. */
constexpr int noFailure = 0x7fffffff;

using Program = std::shared_ptr<LazyProgram>;

struct Launch {
    Program program;
    std::string name; ///< of the kernel
    int threads = 0, blockSize = 64;
    int first = 0, last = 0; ///< of what it is for, as a range of general clusters
    int round = 0;           ///< of subdomains, if a launch is a round
    OpenMM::ComputeKernel kernel = nullptr;
};

/** The launches of a ConstraintProgram, in their order in each stage. */
class Launches {
public:
    explicit Launches(KernelArguments& arguments) : arguments(arguments) {
    }
    std::vector<Launch>& of(const std::string& stage) {
        return ofStages[stage];
    }
    /** Launch a kernel in each of some stages: prefix_stage. */
    void add(const Program& program, const std::string& prefix, const std::vector<StageText>& stages, int threads,
             int blockSize, int first, int last);
    /** @param number  ascending from launch to launch: fail() in state.cc */
    void execute(Launch& launch, int number);
    void execute(const std::string& stage, int number);

    /** Remember a program that leaves out what subdomains of clusters leave to the whole, and its text with that. */
    Program addWithoutWhole(const Program& program, const std::string& textWithWhole);
    /** Compile those texts from now on. @return whether they were not before */
    bool takeWhole();

private:
    KernelArguments& arguments;
    std::map<std::string, std::vector<Launch>> ofStages;
    std::map<Program, std::string> textsWithWhole;
    bool hasWhole = false;
};

} // namespace ConstraintPlugin

#endif
