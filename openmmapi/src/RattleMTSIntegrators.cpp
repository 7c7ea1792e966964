// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmm/OpenMMException.h"
#include "openmmconstraints/RattleMTSIntegrator.h"
#include "openmmconstraints/RattleMTSLangevinIntegrator.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

[[noreturn]] static void refuseVelocityMultipliers() {
    throw OpenMMException("getVelocityMultipliers: with multiple time steps a step has several velocity stages. "
                          "getMultipliers() has the impulses of all stages.");
}

vector<double> RattleMTSIntegrator::getVelocityMultipliers() const {
    refuseVelocityMultipliers();
}

vector<double> RattleMTSLangevinIntegrator::getVelocityMultipliers() const {
    refuseVelocityMultipliers();
}

void RattleMTSLangevinIntegrator::setNumGeodesicSteps(int numSteps) {
    if (numSteps != 0)
        throw OpenMMException("setNumGeodesicSteps: RattleMTSLangevinIntegrator has no geodesic steps; got " +
                              to_string(numSteps) + ". Use RattleLangevinIntegrator, or more substeps.");
}

} // namespace ConstraintPlugin
