// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Functions of ConstraintSolver other than the stages: multipliers of the last ones, which have an order of their own,
// by row of the Jacobian, and those that readers are given, by constraint.
#include "ConstraintSolver.h"

namespace ConstraintPlugin {

const Impulses& ConstraintSolver::readImpulses() const {
    const std::vector<double>*byRow = &lambda, *rateByRow = &mu;
    if (hasFastLambda) {
        positionRows = lambda;
        distances->getPositionMultipliers(positionRows);
        byRow = &positionRows;
    }
    if (hasFastMu) {
        velocityRows = mu;
        distances->getVelocityMultipliers(velocityRows);
        rateByRow = &velocityRows;
    }
    sortByConstraint(*byRow, last.lambda);
    sortByConstraint(*rateByRow, last.mu);
    return last;
}

void ConstraintSolver::takeFast(const Turns& stage) {
    if (*stage.hasFast && stage.multipliers == &lambda)
        distances->getPositionMultipliers(lambda);
    else if (*stage.hasFast)
        distances->getVelocityMultipliers(mu);
}

void ConstraintSolver::setImpulses(const Impulses& impulses) {
    forgetImpulses();
    for (int row = 0; row < graph->numRows(); row++) {
        lambda[row] = impulses.lambda[graph->rows[row]];
        mu[row] = impulses.mu[graph->rows[row]];
    }
    last.lambdaOfBodies = impulses.lambdaOfBodies;
    last.muOfBodies = impulses.muOfBodies;
    last.lambdaOfBodies.resize(bodies.numPlaces());
    last.muOfBodies.resize(bodies.numPlaces());
}

void ConstraintSolver::rescaleImpulses(double factor) {
    impulsesRevision++;
    for (double& l : lambda)
        l *= factor;
    for (Real3& l : last.lambdaOfBodies)
        l = factor * l;
}

void ConstraintSolver::forgetImpulses() {
    impulsesRevision++;
    lambda.assign(graph->numRows(), 0.0);
    mu.assign(graph->numRows(), 0.0);
    last.lambdaOfBodies.assign(bodies.numPlaces(), Real3());
    last.muOfBodies = last.lambdaOfBodies;
    hasFastLambda = hasFastMu = false;
}

std::vector<double> ConstraintSolver::byConstraint(const std::vector<double>& byRow) const {
    std::vector<double> result;
    sortByConstraint(byRow, result);
    return result;
}

void ConstraintSolver::sortByConstraint(const std::vector<double>& byRow, std::vector<double>& result) const {
    if (graph->numRows() < (int) set.constraints.size())
        result.assign(set.constraints.size(), 0.0); // constraints that are only checked have none
    result.resize(set.constraints.size());
    for (int row = 0; row < graph->numRows(); row++)
        result[graph->rows[row]] = byRow[row];
}

} // namespace ConstraintPlugin
