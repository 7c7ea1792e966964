// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_LANGEVIN_NOISE_H_
#define OPENMM_CONSTRAINTS_LANGEVIN_NOISE_H_

#include "NormalNumbers.h"
#include "openmmconstraints/ConstraintIntegrator.h"

namespace ConstraintPlugin {

/** The key of a new Context's random numbers, from the seed of its RattleLangevinIntegrator; for seed 0 a unique one.
 */
NoiseKey makeNoiseKey(const ConstraintIntegrator& integrator);

} // namespace ConstraintPlugin

#endif
