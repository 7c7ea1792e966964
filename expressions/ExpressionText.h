// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_EXPRESSION_TEXT_H_
#define OPENMM_CONSTRAINTS_EXPRESSION_TEXT_H_

#include <string>

namespace ConstraintPlugin {

/** An expression as messages quote it: of more than 200 characters the beginning and the end, 200 in all. */
inline std::string shortened(const std::string& expression) {
    constexpr std::size_t most = 200, end = 60;
    const std::string gap = " ... ";
    return expression.size() <= most
               ? expression
               : expression.substr(0, most - end - gap.size()) + gap + expression.substr(expression.size() - end);
}

} // namespace ConstraintPlugin

#endif
