// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_CONSTRAINT_FORCES_H_
#define CONSTRAINTS_CORE_CONSTRAINT_FORCES_H_

#include "ConstraintSet.h"
#include "Multipliers.h"
#include <algorithm>
#include <array>
#include <functional>
#include <vector>

namespace ConstraintPlugin {

/** Forces of all constraints together, and their virial. */
struct ConstraintForces {
    std::vector<Real3> forces;      ///< [numParticles] kJ/mol/nm, sum_k lambda_k grad_i q_k
    std::array<double, 9> virial{}; ///< row-major 3x3, kJ/mol, sum_k lambda_k sum_i r_i (x) grad_i q_k, minimum image

    ConstraintForces& operator+=(const ConstraintForces& other) {
        std::transform(forces.begin(), forces.end(), other.forces.begin(), forces.begin(), std::plus<>());
        std::transform(virial.begin(), virial.end(), other.virial.begin(), virial.begin(), std::plus<>());
        return *this;
    }
};

/** @param positions  [numParticles] nm: where gradients are taken
 *  @param time       ps, of moving constraints */
ConstraintForces computeConstraintForces(const ConstraintSet& set, const ForceMultipliers& multipliers,
                                         const Real3* positions, const Box& box, double time = 0);

/** The forces that rigid bodies exert on their own particles to keep their shapes, without those of constraints that
 * join bodies. They have neither resultant nor torque.
 *  @return [particles of all bodies in turn] kJ/mol/nm; empty if there was no step */
std::vector<Real3> computeForcesOfBodies(const ConstraintSet& set, const ForceMultipliers& multipliers,
                                         const Real3* positions, const Box& box, double time = 0);

} // namespace ConstraintPlugin

#endif
