// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_STEP_SCHEME_H_
#define OPENMM_CONSTRAINTS_STEP_SCHEME_H_

#include "Multipliers.h"
#include <string>
#include <vector>

namespace ConstraintPlugin {

/** Properties of an integrator other than its time step, the same on every platform. */
struct StepScheme {
    enum class KineticEnergy {
        Plain,           ///< of the velocities v
        Projected,       ///< of P[v], P the projection onto the velocity constraints at the positions
        ShiftedProjected ///< of P[v + lag f/m], at the time of the positions
    };

    std::string kernelName;
    /** Whether velocities satisfy the velocity constraints between steps. Velocities half a step behind are not tangent
     *  to the constraints at the positions. */
    bool constrainsVelocities;
    /** Time by which velocities lag behind the positions, in steps. */
    double velocityLag;
    KineticEnergy kineticEnergy;
    /** As forces, impulses of the stages are lambda * positionFactor / dt^2 and mu * velocityFactor / dt. */
    double positionFactor, velocityFactor;
    /** Whether what users read are the impulses of all stages of a step together. */
    bool sumsStages;
    /** Whether the impulse of a step is half of the force at its start and half of that at its end. */
    bool hasTwoHalves;
    /** Whether the constraint force is explicit: a step solves for the forces at its start and at its end instead of
     *  impulses, and the constraints may drift up to getMaxDrift(). */
    bool isExplicit;

    /** Convert the impulses of a step to forces; no other function does.
     *  @param dt               ps, the step size
     *  @param[out] multipliers, velocityMultipliers  forces; the arrays keep their memory from step to step */
    void toForces(const Impulses& impulses, double dt, ForceMultipliers& multipliers,
                  ForceMultipliers& velocityMultipliers) const;
};

/** The schemes of all time steps of CONSTRAINT_STEPS. */
const std::vector<StepScheme>& stepSchemes();

/** @param kernelName  "IntegrateRattleStep", ...
 *  @throws OpenMMException if there is no such integrator */
const StepScheme& stepSchemeOf(const std::string& kernelName);

} // namespace ConstraintPlugin

#endif
