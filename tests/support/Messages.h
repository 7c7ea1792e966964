// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_MESSAGES_H_
#define CONSTRAINTS_TESTS_MESSAGES_H_

#include <functional>
#include <string>
#include <vector>

namespace ConstraintTests {

/** The message of the OpenMMException that a function throws; empty if it throws none. */
std::string messageOf(const std::function<void()>& function);
/** Expect that there is a message and that it has all these parts. */
void expectAll(const std::string& message, const std::vector<std::string>& parts);

} // namespace ConstraintTests

#endif
