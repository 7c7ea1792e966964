// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/RattleIntegrator.h"
#include "openmmconstraints/ConstraintKernels.h"

namespace ConstraintPlugin {

std::string RattleIntegrator::getStepKernelName() const {
    return IntegrateRattleStepName;
}

} // namespace ConstraintPlugin
