// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_MULTIPLIERS_H_
#define CONSTRAINTS_CORE_MULTIPLIERS_H_

#include <vector>

namespace ConstraintPlugin {

/** Multipliers as the stages of a step solve for them: M^-1 J^T lambda moved positions, so that lambda/dt is an
 * impulse, and M^-1 J^T mu changed velocities. */
struct Impulses {
    std::vector<double> lambda, mu; ///< [constraints] position and velocity stage
};

/** Multipliers as forces: J^T of them acts on the particles. Only StepScheme::toForces() converts Impulses to them. */
struct ForceMultipliers {
    std::vector<double> values; ///< [constraints] kJ/mol per nm or rad
};

} // namespace ConstraintPlugin

#endif
