// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_FOREIGN_INTEGRATORS_H_
#define OPENMM_CONSTRAINTS_FOREIGN_INTEGRATORS_H_

#include "openmm/Integrator.h"
#include "openmm/System.h"

namespace ConstraintPlugin {

// What is to be known on a device of integrators of OpenMM that do not solve by themselves.

/** Whether the integrator that takes the steps now may move particles after its last solve of a step, as a
 *  CustomIntegrator or Drude's hard walls. */
bool movesUnheard(OpenMM::Integrator& integrator);

/** Warn of a CustomIntegrator without addUpdateContextState().
 *  @throws ConstraintException if one would not ask for constraints, because the System has none of its own */
void checkForeign(const OpenMM::System& system, const OpenMM::Integrator& integrator);

} // namespace ConstraintPlugin

#endif
