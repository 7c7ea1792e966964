// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_WITH_GLOBALS_H_
#define CONSTRAINTS_CORE_WITH_GLOBALS_H_

#include "ConstraintSolver.h"

namespace ConstraintPlugin {

/** Sets Context parameters in the expressions of a solver, and restores them when it is destroyed. */
class WithGlobals {
public:
    /** @param values  as ConstraintSolver::getGlobals(); if their number differs, there was no step yet, and nothing is
     *  changed */
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
