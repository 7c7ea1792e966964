// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_FAILURE_CODES_H_
#define OPENMM_CONSTRAINTS_FAILURE_CODES_H_

namespace ConstraintPlugin {

#define DEVICE inline
#include "failureCodes.cc"
#undef DEVICE

} // namespace ConstraintPlugin

#endif
