// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_EXPRESSION_CHECKS_H_
#define OPENMM_CONSTRAINTS_EXPRESSION_CHECKS_H_

#include "lepton/ParsedExpression.h"
#include <string>

namespace ConstraintPlugin {

// Lepton trusts what it is given: a constant that is not a number makes its optimizer run for ever, a long or deep
// expression exhausts the stack or the memory. All of these throw OpenMMException with what is wrong.

/** Before parsing: is it short enough, with each use of a definition counted as all that it stands for? */
void checkLength(const std::string& expression);
/** After parsing: is every part of it that has no variable a finite number, and is its derivative of a usable size? */
void checkConstants(const Lepton::ParsedExpression& expression);
void checkDerivative(const Lepton::ParsedExpression& expression);

/** optimize() of a derivative. Constants in it that are not finite do no harm where they are multiplied by zero. */
Lepton::ParsedExpression simplified(const Lepton::ParsedExpression& derivative);

} // namespace ConstraintPlugin

#endif
