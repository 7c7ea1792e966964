// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/CustomCentroidConstraintForce.h"
#include "openmm/OpenMMException.h"
#include "openmm/internal/AssertionUtilities.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

static void checkWeights(const vector<int>& particles, const vector<double>& weights) {
    if (!weights.empty() && weights.size() != particles.size())
        throw OpenMMException("CustomCentroidConstraintForce: a group has " + to_string(particles.size()) +
                              " particles, but " + to_string(weights.size()) +
                              " weights were given. Give one for each, or none: then they are the masses.");
}

int CustomCentroidConstraintForce::addGroup(const vector<int>& particles, const vector<double>& weights) {
    checkWeights(particles, weights);
    groups.push_back({particles, weights});
    return getNumGroups() - 1;
}

void CustomCentroidConstraintForce::getGroupParameters(int index, vector<int>& particles,
                                                       vector<double>& weights) const {
    ASSERT_VALID_INDEX(index, groups);
    particles = groups[index].particles;
    weights = groups[index].weights;
}

void CustomCentroidConstraintForce::setGroupParameters(int index, const vector<int>& particles,
                                                       const vector<double>& weights) {
    ASSERT_VALID_INDEX(index, groups);
    checkWeights(particles, weights);
    groups[index] = {particles, weights};
}

} // namespace ConstraintPlugin
