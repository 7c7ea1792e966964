// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/MultipleTimeSteps.h"
#include "openmm/OpenMMException.h"
#include <algorithm>
#include <string>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

namespace {

constexpr int numForceGroups = 32, mostSubsteps = 1000;

[[noreturn]] void refuse(const string& text) {
    throw OpenMMException("groups: " + text);
}

} // namespace

MultipleTimeSteps::MultipleTimeSteps(const Groups& given) : groups(given) {
    if (groups.empty())
        refuse("at least one (force group, substeps) is needed, as in [(0, 1), (1, 4)].");
    Groups sorted = groups;
    stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    int all = 0;
    for (const auto& [group, substeps] : sorted) {
        const string name = "force group " + to_string(group);
        if (group < 0 || group >= numForceGroups)
            refuse("there is no " + name + "; they are numbered from 0 to 31.");
        if (substeps < 1 || substeps > mostSubsteps)
            refuse(name + " has " + to_string(substeps) + " substeps; a number from 1 to 1000 is needed.");
        if ((all & 1 << group) != 0)
            refuse(name + " is listed twice; its forces would be applied twice.");
        if (!listed.empty() && substeps % listed.back().substeps != 0)
            refuse(name + " has " + to_string(substeps) + " substeps, which is no multiple of " +
                   to_string(listed.back().substeps) + ", those of a slower group. Choose substeps as 1, 2, 6.");
        all |= 1 << group;
        if (listed.empty() || listed.back().substeps != substeps)
            listed.push_back({0, substeps});
        listed.back().groups |= 1 << group;
    }
}

vector<MultipleTimeSteps::Level> MultipleTimeSteps::levels(int integrated) const {
    vector<Level> result = listed;
    for (Level& level : result)
        level.groups &= integrated;
    return result;
}

bool MultipleTimeSteps::has(int group) const {
    return any_of(groups.begin(), groups.end(), [&](const auto& listedOne) { return listedOne.first == group; });
}

} // namespace ConstraintPlugin
