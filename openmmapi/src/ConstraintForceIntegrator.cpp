// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ConstraintForceIntegrator.h"
#include "Settings.h"
#include "openmm/OpenMMException.h"
#include <cmath>
#include <sstream>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

void ConstraintForceIntegrator::setStabilization(double newAlpha, double newBeta) {
    for (double value : {newAlpha, newBeta})
        if (!(value >= 0) || isinf(value)) {
            ostringstream out;
            out << "setStabilization: alpha and beta have to be numbers of inverse picoseconds that are not negative; "
                   "got "
                << newAlpha << " and " << newBeta << ".";
            throw OpenMMException(out.str());
        }
    alpha = newAlpha;
    beta = newBeta;
    stabilizationSet = true;
}

void ConstraintForceIntegrator::getStabilization(double& currentAlpha, double& currentBeta) const {
    const double automatic = getStepSize() > 0 ? 0.1 / getStepSize() : 0.0;
    currentAlpha = stabilizationSet ? alpha : automatic;
    currentBeta = stabilizationSet ? beta : automatic;
}

void ConstraintForceIntegrator::setMaxDrift(double drift) {
    if (!(drift > 0))
        refuseSetting("setMaxDrift: the largest drift has to be a positive number", drift);
    maxDrift = drift;
}

string ConstraintForceIntegrator::getStepKernelName() const {
    return "IntegrateConstraintForceStep";
}

} // namespace ConstraintPlugin
