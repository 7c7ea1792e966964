// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ShakeIntegrator.h"
#include "openmmconstraints/ConstraintKernels.h"

namespace ConstraintPlugin {

std::string ShakeIntegrator::getStepKernelName() const {
    return IntegrateShakeStepName;
}

} // namespace ConstraintPlugin
