// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/ConstraintProblem.h"
#include "ProblemReport.h"

namespace ConstraintPlugin {

std::string ConstraintProblem::text() const {
    return remedy.empty() ? message : message + "\nRemedy: " + remedy;
}

ConstraintException::ConstraintException(ConstraintProblem given)
    : OpenMM::OpenMMException(given.text()), problem(std::move(given)) {
}

ConstraintException::~ConstraintException() noexcept = default;

void throwProblem(ConstraintProblem problem) {
    throw ConstraintException(std::move(problem));
}

} // namespace ConstraintPlugin
