// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_OPENMM_SERIES_H_
#define CONSTRAINTS_OPENMM_SERIES_H_

namespace ConstraintPlugin {

/** Whether the OpenMM that is loaded is of the series (8.6, say) that this library was compiled for.
 *
 *  A library for another series loads without a missing symbol, and then crashes: OpenMM's C++ classes differ under the
 *  same mangled names (SerializationNode::getStringProperty returns by value since 8.6, before by reference). So what
 *  OpenMM calls, kernel factories and serialization proxies, asks before anything else. It may not throw earlier: what
 *  is thrown while plugins are registered ends `import openmm` itself. */
bool isOpenMMSeriesRight();

/** @throws OpenMMException that names both versions and what to type, if isOpenMMSeriesRight() is false */
void requireOpenMMSeries();

/** The series that this library was compiled for: "8.6". */
const char* openMMSeries();

} // namespace ConstraintPlugin

#endif
