// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Stages.h"
#include <algorithm>
#include <set>

using std::string;
using std::vector;

namespace ConstraintPlugin {

bool isSolve(const string& step) {
    return step.compare(0, 5, "solve") == 0 || step.compare(0, 7, "project") == 0;
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
    return name + "_" + std::to_string(part);
}

vector<string> solvesOf(const vector<StageText>& stages) {
    std::set<string> solves;
    for (const StageText& stage : stages)
        std::copy_if(stage.steps.begin(), stage.steps.end(), std::inserter(solves, solves.end()), isSolve);
    return {solves.begin(), solves.end()};
}

bool anyHas(const vector<StageText>& stages, const string& step) {
    return std::any_of(stages.begin(), stages.end(), [&](const StageText& stage) {
        return std::count(stage.steps.begin(), stage.steps.end(), step) > 0;
    });
}

vector<vector<StageText>> byNeed(const vector<StageText>& stages) {
    vector<vector<StageText>> result(1);
    for (const StageText& stage : stages)
        if (stage.isOfEveryStep)
            result[0].push_back(stage);
        else
            result.push_back({stage});
    return result;
}

bool beginsWithVelocities(const vector<StageText>& stages) {
    const auto first = std::find_if(stages[0].steps.begin(), stages[0].steps.end(), isSolve);
    return first != stages[0].steps.end() && *first == "solveVelocities";
}

} // namespace ConstraintPlugin
