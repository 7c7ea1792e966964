// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_WORST_ERROR_H_
#define CONSTRAINTS_CORE_WORST_ERROR_H_

#include "ConstraintSolver.h"

namespace ConstraintPlugin {

struct ErrorAndValue {
    double error, value;
};

/** Add the errors of a Jacobian's rows to a report. error: (row) -> {error, value} */
template <class Error>
void noteAll(SolveReport& report, const std::vector<int>& constraints, Error error) {
    for (int row = 0; row < (int) constraints.size(); row++) {
        const auto [e, value] = error(row);
        // The first NaN is kept, because no number compares greater.
        if (report.constraint < 0 || e > report.maxError || (std::isnan(e) && !std::isnan(report.maxError))) {
            report.maxError = e;
            report.constraint = constraints[row];
            report.value = value;
        }
    }
}

/** Add the worst body to a report. */
inline void note(SolveReport& report, const BodyReport& worst) {
    const bool isWorse = worst.error > report.maxError || (std::isnan(worst.error) && !std::isnan(report.maxError));
    if (worst.body < 0 || !(isWorse || (report.constraint < 0 && report.body < 0)))
        return;
    report.maxError = worst.error;
    report.body = worst.body;
    report.constraint = -1;
    report.value = 0;
}

} // namespace ConstraintPlugin

#endif
