// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_IDEAL_GAS_H_
#define CONSTRAINTS_TESTS_IDEAL_GAS_H_

#include "support/Simulation.h"

namespace ConstraintTests {

/** That molecules without forces have the volume of an ideal gas at 20 bar and 300 K, <V> = (N + 1) kT/P. A barostat
 *  moves each as a whole.
 *  @param resolution  bound of the relative error
 *  @return after the last sample */
Simulation expectVolumeOfAnIdealGas(std::unique_ptr<OpenMM::System> molecules, int count, const Vectors& start,
                                    const Setup& setup, int samples, double resolution);

} // namespace ConstraintTests

#endif
