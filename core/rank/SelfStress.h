// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SELF_STRESS_H_
#define CONSTRAINTS_CORE_SELF_STRESS_H_

#include "IndependentRows.h"
#include "SplitMix.h"
#include <optional>

namespace ConstraintPlugin {

/** Solve J J^T x = b, where b is in the range of J J^T, for the x without a component along its null vectors.
 *  @return nothing if rounding prevents convergence */
std::optional<std::vector<double>> solveByConjugateGradients(const UnitRows& rows, std::vector<double> b);

/** Find the rows that are part of any linear dependence. All other rows are independent of everything.
 *
 *  A random null vector of J^T (a self-stress), s = y - (J J^T)^+ J J^T y with random y, is zero exactly for these
 * other rows. It is computed by conjugate gradients, which stay orthogonal to null vectors, without a factor of J J^T.
 * This is for networks whose factor would be too large.
 *  @return ascending; nothing if they do not converge, or if there is no gap of 10^3 between zero and other elements */
std::optional<std::vector<int>> findStressedRows(const UnitRows& rows, SplitMix& random);

} // namespace ConstraintPlugin

#endif
