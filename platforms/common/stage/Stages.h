// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STAGES_H_
#define OPENMM_CONSTRAINTS_STAGES_H_

#include <string>
#include <vector>

namespace ConstraintPlugin {

/** What one launch does for a cluster: operations on each particle and solves, in order. Names are functions of
 * steps.cc and, if they begin with "solve" or "project", of the solvers. */
struct StageText {
    std::string name;
    std::vector<std::string> steps;
    bool isOfEveryStep = true; ///< others are compiled when they are needed
};

/** Whether a step of a stage is a solve, rather than an operation on each particle. */
bool isSolve(const std::string& step);

/** A stage as alternating lists of operations and solves: operations[k], solves[k], ..., operations[solves.size()]. */
struct SplitStage {
    explicit SplitStage(const StageText& stage);
    /** The name of a part: from the operations before a solve to those before the next. */
    std::string nameOf(int part) const;
    std::string name;
    std::vector<std::vector<std::string>> operations;
    std::vector<std::string> solves;
};

/** All solves of some stages, each once. */
std::vector<std::string> solvesOf(const std::vector<StageText>& stages);

/** Whether any of the stages has a step. */
bool anyHas(const std::vector<StageText>& stages, const std::string& step);

/** Stages that are compiled together: those of every step, then each of the others. */
std::vector<std::vector<StageText>> byNeed(const std::vector<StageText>& stages);

/** Whether the first solve of a step is one of velocities. */
bool beginsWithVelocities(const std::vector<StageText>& stages);

} // namespace ConstraintPlugin

#endif
