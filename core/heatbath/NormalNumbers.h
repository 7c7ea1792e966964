// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_NORMAL_NUMBERS_H_
#define CONSTRAINTS_CORE_NORMAL_NUMBERS_H_

#include "Real3.h"
#include <array>
#include <cstdint>

namespace ConstraintPlugin {

/** Key of the random numbers, which are a function of the key, the step and the particle. */
using NoiseKey = std::array<std::uint32_t, 2>;

/** Random bits: Philox4x32-10 (normalNumbers.cc). */
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, const NoiseKey& key);

/** Three independent standard normal numbers for a particle in a step. Their absolute values are at most 6.8, because
 * they are made from 32 bits each. */
Real3 normalNumbers(const NoiseKey& key, std::uint64_t step, int particle);

} // namespace ConstraintPlugin

#endif
