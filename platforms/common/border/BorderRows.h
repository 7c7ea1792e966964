// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_BORDER_ROWS_H_
#define OPENMM_CONSTRAINTS_BORDER_ROWS_H_

#include "GeneralClusters.h"

namespace ConstraintPlugin {

/** Bordered rows (border.cc), and the turns that they take with the clusters at the border. A stage is several launches
 *  there: operations of its particles, a thread each, and for each solve a number of turns. Of joined bodies there are
 *  launches between these, which JoinedStages adds. */
class BorderRows {
public:
    /** @param moves  targets of constraints move in time, so that responses do not last */
    BorderRows(const ProgramFrame& frame, const GeneralClusters& clusters, bool moves);
    /** Take the stages of a step. @return those of the clusters at the border, which are turns */
    std::vector<StageText> takeStages(const std::vector<StageText>& stages);
    /** Add the launches of bordered rows, and of the particles that they reach, after takeStages(). */
    void add(const ConstraintSet& set);
    /** The bordered rows' part of a stage, at a time (ps). */
    void launch(const std::string& stage, double time, int number);
    /** The positions on the device have changed other than by a stage: responses are not known. */
    void forgetResponses() {
        hasResponses = false;
    }
    /** Launch more turns from now on, after Outcome_MoreTurns. */
    void takeMoreTurns();
    int getNumTurns() const {
        return numTurns;
    }

private:
    /** The bordered rows as a range of their own. */
    ConstraintTables::Range rangeOfRows() const;
    std::string text(const ConstraintTables::Range& range, const ThreadGroup& group, const ConstraintSet& set) const;
    std::string stageText(const SplitStage& stage) const;
    void launchResponses(double time, int number);
    void launchTurns(const std::string& solve, int number);
    void launchTurn(const std::string& name, int turn, int item, int number);
    const ProgramFrame& frame;
    const GeneralClusters& clusters;
    std::map<std::string, SplitStage> stages;
    std::vector<std::string> solves; // by their numbers in border.cc
    bool moves;
    int numTurns;
    bool hasResponses = false;
    double responseTime = 0;
};

} // namespace ConstraintPlugin

#endif
