// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_SELF_STRESS_H_
#define CONSTRAINTS_CORE_SELF_STRESS_H_

#include "IndependentRows.h"
#include "SplitMix.h"
#include <optional>

namespace ConstraintPlugin {

/** Solve J J^T x = b, where b is in the range of J J^T, for the x without a component along its null vectors.
 *  @return nothing where rounding keeps it from converging */
std::optional<std::vector<double>> solveByConjugateGradients(const UnitRows& rows, std::vector<double> b);

/** Find the rows that take part in any dependence: all others are independent of everything.
 *
 *  A null vector of J^T at random, s = y - (J J^T)^+ J J^T y with y at random, is zero for exactly these others. It
 *  takes conjugate gradients, which stay orthogonal to null vectors, and no factor of J J^T: a last resort for networks
 *  whose factor would be too large.
 *  @return ascending; nothing where they do not converge, or no gap of 10^3 tells zero */
std::optional<std::vector<int>> findStressedRows(const UnitRows& rows, SplitMix& random);

} // namespace ConstraintPlugin

#endif
