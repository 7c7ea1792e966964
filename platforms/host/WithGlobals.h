// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_WITH_GLOBALS_H_
#define OPENMM_CONSTRAINTS_WITH_GLOBALS_H_

#include "HostedStepKernel.h"

namespace ConstraintPlugin {

class HostedStepKernel::WithGlobals {
public:
    /** @param values  as ConstraintSolver::getGlobals(); of another number, they are those of no step: none changes */
    WithGlobals(ConstraintSolver& solver, const std::vector<double>& values)
        : solver(solver), now(solver.getGlobals()) {
        if (values.size() == now.size())
            solver.setGlobals(values);
    }
    ~WithGlobals() {
        solver.setGlobals(now);
    }
    WithGlobals(const WithGlobals&) = delete;
    WithGlobals& operator=(const WithGlobals&) = delete;

private:
    ConstraintSolver& solver;
    std::vector<double> now;
};

} // namespace ConstraintPlugin

#endif
