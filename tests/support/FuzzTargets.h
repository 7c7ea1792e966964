// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_FUZZ_TARGETS_H_
#define CONSTRAINTS_TESTS_FUZZ_TARGETS_H_

#include <string>

namespace ConstraintTests {

// Each function tries input that may be damaged. It returns whether the input was accepted: false if it was refused
// with an OpenMMException. It throws std::logic_error if accepted input gives a wrong result. Any other exception, a
// crash or a hang is a defect too.

/** Read a Force and write it; then create a Context with it, take a step and compute multipliers. */
bool tryForce(const std::string& xml);
/** Read a System and write it; then create a Context. */
bool trySystem(const std::string& xml);
/** Read an integrator and write it. */
bool tryIntegrator(const std::string& xml);
/** Constrain two particles by an expression with the tables of Expressions.h, a parameter a and a Context parameter g,
 *  as tryForce() does; and write it as kernel text. */
bool tryExpression(const std::string& expression);
/** A checkpoint of a Context with constraints, on the Reference platform. */
std::string makeCheckpoint();
/** Load a checkpoint into such a Context. Accepted or not, a state can be set afterwards and a step taken. */
bool tryCheckpoint(const std::string& bytes);

} // namespace ConstraintTests

#endif
