// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/RattleMTSLangevinIntegrator.h"
#include "openmm/OpenMMException.h"

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

void RattleMTSLangevinIntegrator::setNumGeodesicSteps(int numSteps) {
    if (numSteps != 0)
        throw OpenMMException("setNumGeodesicSteps: RattleMTSLangevinIntegrator has no geodesic steps; got " +
                              to_string(numSteps) + ". Use RattleLangevinIntegrator, or more substeps.");
}

} // namespace ConstraintPlugin
