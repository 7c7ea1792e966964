// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_MULTIPLIERS_H_
#define CONSTRAINTS_CORE_MULTIPLIERS_H_

#include "Real3.h"
#include <vector>

namespace ConstraintPlugin {

/** Multipliers as the stages of a step solve for them: M^-1 J^T lambda moved positions, so that lambda/dt is an
 * impulse, and M^-1 J^T mu changed velocities. Rigid bodies in closed form have the impulses themselves instead. */
struct Impulses {
    std::vector<double> lambda, mu; ///< [constraints] position and velocity stage
    /** [particles of all bodies in turn] likewise, amu nm and amu nm/ps; of joined bodies with what the constraints
     *  that join them exert on their particles */
    std::vector<Real3> lambdaOfBodies{}, muOfBodies{};

    /** Add those of a position stage over h (ps), as impulses, and those of a velocity stage to mu. */
    void addPositions(const Impulses& other, double h) {
        for (std::size_t k = 0; h > 0 && k < mu.size(); k++)
            mu[k] += other.lambda[k] / h;
        for (std::size_t i = 0; h > 0 && i < muOfBodies.size(); i++)
            muOfBodies[i] += (1 / h) * other.lambdaOfBodies[i];
    }
    void addVelocities(const Impulses& other) {
        for (std::size_t k = 0; k < mu.size(); k++)
            mu[k] += other.mu[k];
        for (std::size_t i = 0; i < muOfBodies.size(); i++)
            muOfBodies[i] += other.muOfBodies[i];
    }
};

/** Multipliers as forces: J^T of them acts on the particles. Only StepScheme::toForces() converts Impulses to them. */
struct ForceMultipliers {
    std::vector<double> values;    ///< [constraints] kJ/mol per nm or rad
    std::vector<Real3> ofBodies{}; ///< [particles of all bodies in turn] kJ/mol/nm, as in Impulses
};

} // namespace ConstraintPlugin

#endif
