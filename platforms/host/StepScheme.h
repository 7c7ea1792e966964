// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STEP_SCHEME_H_
#define OPENMM_CONSTRAINTS_STEP_SCHEME_H_

#include "Multipliers.h"
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** What is to be known of an integrator besides its time step, the same on every platform. */
struct StepScheme {
    enum class KineticEnergy {
        Plain,           ///< of the velocities v
        Projected,       ///< of P[v], P the projection onto the velocity constraints at the positions
        ShiftedProjected ///< of P[v + lag f/m], at the time of the positions
    };

    std::string kernelName;
    /** Whether velocities satisfy the velocity constraints between steps. Those half a step behind are no tangents at
     *  the positions. */
    bool constrainsVelocities;
    /** How far velocities are behind the positions, in steps. */
    double velocityLag;
    KineticEnergy kineticEnergy;
    /** As forces, impulses of the stages are lambda * positionFactor / dt^2 and mu * velocityFactor / dt. */
    double positionFactor, velocityFactor;
    /** Whether the velocity stage is at the start of the step, where it shares the force with the position stage. */
    bool solvesVelocitiesFirst;
    /** Whether the impulse of a step is half of the force at its start and half of that at its end. */
    bool hasTwoHalves;
    /** Whether the constraint force is explicit: a step solves for forces, those at its start and at its end, and has
     * no impulses; the constraints may drift as far as getMaxDrift(). */
    bool isExplicit;

    /** Read the impulses of a step as forces: the only way from one to the other.
     *  @param dt               ps, the step size
     *  @param[out] multipliers, velocityMultipliers  what users read; arrays keep their memory from step to step */
    void toForces(const Impulses& impulses, double dt, ForceMultipliers& multipliers,
                  ForceMultipliers& velocityMultipliers) const;
};

/** One for each time step of CONSTRAINT_STEPS. */
const std::vector<StepScheme>& stepSchemes();

/** @param kernelName  "IntegrateRattleStep", ...
 *  @throws OpenMMException if there is no such integrator */
const StepScheme& stepSchemeOf(const std::string& kernelName);

} // namespace ConstraintPlugin

#endif
