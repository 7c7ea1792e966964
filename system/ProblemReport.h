// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_PROBLEM_REPORT_H_
#define OPENMM_CONSTRAINTS_PROBLEM_REPORT_H_

#include "openmmconstraints/ConstraintProblem.h"
#include <functional>

namespace ConstraintPlugin {

/** Takes what a check finds, one problem after the other. Where it returns, the check goes on without what is wrong:
 *  Context creation throws the first, diagnose() collects them all. */
using ProblemReport = std::function<void(ConstraintProblem)>;

/** The ProblemReport of a Context. @throws ConstraintException */
[[noreturn]] void throwProblem(ConstraintProblem problem);

} // namespace ConstraintPlugin

#endif
