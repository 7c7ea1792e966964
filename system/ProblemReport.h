// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_PROBLEM_REPORT_H_
#define OPENMM_CONSTRAINTS_PROBLEM_REPORT_H_

#include "openmmconstraints/ConstraintProblem.h"
#include <functional>

namespace ConstraintPlugin {

/** Receives the problems that a check finds, one after another. If it returns, the check continues without the invalid
 *  part. Context creation throws the first problem; diagnose() collects all of them. */
using ProblemReport = std::function<void(ConstraintProblem)>;

/** The ProblemReport of a Context. @throws ConstraintException */
[[noreturn]] void throwProblem(ConstraintProblem problem);

} // namespace ConstraintPlugin

#endif
