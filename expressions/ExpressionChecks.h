// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_EXPRESSION_CHECKS_H_
#define OPENMM_CONSTRAINTS_EXPRESSION_CHECKS_H_

#include "lepton/ParsedExpression.h"
#include <string>

namespace ConstraintPlugin {

// Lepton does not check its input: a constant that is NaN makes its optimizer run for ever, and a long or deeply nested
// expression exhausts the stack or the memory. All of these functions throw OpenMMException with the cause.

/** Before parsing: check the length of an expression in which each use of a definition is replaced by the definition.
 */
void checkLength(const std::string& expression);
/** After parsing: check that every constant part is a finite number, and that the derivative is not too large. */
void checkConstants(const Lepton::ParsedExpression& expression);
void checkDerivative(const Lepton::ParsedExpression& expression);

/** optimize() of a derivative. A constant that is not finite is accepted if it is multiplied by zero. */
Lepton::ParsedExpression simplified(const Lepton::ParsedExpression& derivative);

} // namespace ConstraintPlugin

#endif
