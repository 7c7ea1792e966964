// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STEP_SCHEME_H_
#define OPENMM_CONSTRAINTS_STEP_SCHEME_H_

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
    /** Multipliers of the stages as forces: lambda * positionFactor / dt^2 and mu * velocityFactor / dt. */
    double positionFactor, velocityFactor;
    /** Whether the velocity stage is at the start of the step, where it shares the force with the position stage. */
    bool solvesVelocitiesFirst;
    /** Whether the impulse of a step is half of the force at its start and half of that at its end. */
    bool hasTwoHalves;
    /** Whether the constraint force is explicit: multipliers are forces already, those at the start and at the end of
     *  the step, and the factors do not apply; the constraints may drift as far as getMaxDrift(). */
    bool isExplicit;
};

/** One for each integrator. */
const std::vector<StepScheme>& stepSchemes();

/** @param kernelName  IntegrateRattleStepName, ...
 *  @throws OpenMMException if there is no such integrator */
const StepScheme& stepSchemeOf(const std::string& kernelName);

} // namespace ConstraintPlugin

#endif
