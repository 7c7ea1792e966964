// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_FUZZ_TARGETS_H_
#define CONSTRAINTS_TESTS_FUZZ_TARGETS_H_

#include <string>

namespace ConstraintTests {

// What is done with damaged input. Each returns whether the input was accepted, and false where it was refused with an
// OpenMMException. It throws std::logic_error where what was accepted is of no use; any other exception, a crash or a
// hang is a defect too.

/** Read a Force and write it; then create a Context with it, take a step and compute multipliers. */
bool tryForce(const std::string& xml);
/** Read a System and write it; then create a Context. */
bool trySystem(const std::string& xml);
/** Read an integrator and write it. */
bool tryIntegrator(const std::string& xml);
/** Constrain two particles by an expression with the tables of Expressions.h, a parameter a and a Context parameter g,
 *  as tryForce() does; and write it as kernel text. */
bool tryExpression(const std::string& expression);
/** What a Context of the Reference platform with constraints writes. */
std::string makeCheckpoint();
/** Load a checkpoint into such a Context. Whether accepted or not, its state can be set and stepped afterwards. */
bool tryCheckpoint(const std::string& bytes);

} // namespace ConstraintTests

#endif
