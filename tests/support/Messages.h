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

// Regular expressions, which take seconds to compile, so that is done once.

/** A text with what matches a pattern left out, or with something else in its place. */
std::string replaced(const std::string& text, const std::string& pattern, const std::string& by = "");
/** What matches a pattern: its first group, or all of it if it has none. */
std::vector<std::string> matchesOf(const std::string& text, const std::string& pattern);

} // namespace ConstraintTests

#endif
