// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_WITH_GLOBALS_H_
#define CONSTRAINTS_CORE_WITH_GLOBALS_H_

#include "ConstraintSolver.h"

namespace ConstraintPlugin {

/** Context parameters in a solver's expressions have other values for as long as this lives. */
class WithGlobals {
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
