// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_KINDS_H_
#define CONSTRAINTS_CORE_KINDS_H_

// kinds.cc says what the names mean.
#include "kinds.cc"

namespace ConstraintPlugin {

#define ENUMERATOR(name) name,
/** Custom: sigma as an object gives it, a CustomCoordinate. */
enum class CoordinateKind { COORDINATE_KINDS(ENUMERATOR) Custom };
enum class RowKind { ROW_KINDS(ENUMERATOR) };
enum class Outcome { OUTCOMES(ENUMERATOR) };
enum class DeviceOutcome { DEVICE_OUTCOMES(ENUMERATOR) };
enum class StepSolve { STEP_SOLVES(ENUMERATOR) };
#undef ENUMERATOR
#define COUNT(name) +1
constexpr int numStepSolves = STEP_SOLVES(COUNT);
#undef COUNT

} // namespace ConstraintPlugin

#endif
