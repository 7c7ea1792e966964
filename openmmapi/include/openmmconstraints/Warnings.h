// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_WARNINGS_H_
#define OPENMM_CONSTRAINTS_WARNINGS_H_

#include <functional>
#include <string>

namespace ConstraintPlugin {

/** Receives warnings: of what a Context accepts, though it is hardly meant, such as a Force that was added twice. */
using WarningHandler = std::function<void(const std::string&)>;

/** Say who receives the warnings of Contexts that are created from now on: the handler is called while one is. In C++
 * that is nobody at first, and diagnose() returns the same as data; the Python package issues them as a RuntimeWarning.
 * What the handler throws leaves the constructor of the Context. Threads may create Contexts at the same time, so that
 * the handler has to be safe for threads. */
void setWarningHandler(WarningHandler handler);

} // namespace ConstraintPlugin

#endif
