// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SYSTEM_CHECKS_H_
#define OPENMM_CONSTRAINTS_SYSTEM_CHECKS_H_

#include "ConstraintSet.h"
#include "ProblemReport.h"
#include "openmm/Integrator.h"
#include "openmm/System.h"
#include "openmm/Vec3.h"
#include <optional>
#include <string>
#include <vector>

namespace ConstraintPlugin {

class ConstraintForce;
class ConstraintIntegrator;

/** With multiple time steps, report Forces whose group is not listed: they would be left out. */
void checkForceGroups(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                      const ProblemReport& report);

/** The integrator that takes the steps: of a CompoundIntegrator the present child. */
OpenMM::Integrator& currentIntegrator(OpenMM::Integrator& integrator);

/** An integrator's constraint tolerance, but no less than 1e-14, the floor of double precision: others take any. */
double toleranceOf(const OpenMM::Integrator& integrator);

/** Whether an integrator is of this library; of a CompoundIntegrator, whether all children are. */
bool areAllOurs(const OpenMM::Integrator& integrator);

/** The ConstraintForce by which other integrators solve the constraints; null if there is none. */
const ConstraintForce* findReplacingForce(const OpenMM::System& system);

/** Report an integrator that does not solve what a Force of the System declares, and children of a CompoundIntegrator.
 * Where a Force replaces the solver, only those that have no constraints. */
void checkIntegrator(const OpenMM::System& system, const OpenMM::Integrator& integrator, const ProblemReport& report);

/** @param which  "The integrator of this Context" */
ConstraintProblem wrongIntegrator(const std::string& which);

/** Whether any Force is periodic: System constraints then take the minimum image. */
bool usesPeriodicBoundaries(const OpenMM::System& system);
Box defaultBox(const OpenMM::System& system);

/** Why a particle cannot be constrained: its index is out of range, or it is a virtual site. The message is the end of
 * a sentence that begins with the constraint. */
std::optional<ConstraintProblem> whyNotConstrainable(const OpenMM::System& system, int particle);

/** Names of the Context parameters that Forces with constraints declare. */
std::vector<std::string> declaredParameters(const OpenMM::System& system);

/** @throws OpenMMException where there is not one position for each particle */
void requirePositions(const OpenMM::System& system, const std::vector<OpenMM::Vec3>& positions);

/** Remedy for a length that the minimum image cannot represent. */
extern const char* const useLargerBox;

} // namespace ConstraintPlugin

#endif
