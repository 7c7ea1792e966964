// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_RATTLE_MTS_LANGEVIN_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_RATTLE_MTS_LANGEVIN_INTEGRATOR_H_

#include "MultipleTimeSteps.h"
#include "RattleLangevinIntegrator.h"

namespace ConstraintPlugin {

/** Langevin dynamics with constraints and multiple time steps: constant temperature. It takes the arguments of OpenMM's
 *  MTSLangevinIntegrator; force groups and their kicks are those of RattleMTSIntegrator.
 *
 *  An innermost step over h = dt/n, with P the projection onto the velocity constraints:
 *
 *    v1 = P[ v + sum_g dt/(2 n_g) f_g(r)/m ],   v2 = P[ a v1 + sqrt((1-a^2) kT/m) R ],   a = exp(-friction h)
 *    r <- r + h/2 (v1 + v2) + c,   v = v2 + c/h,   c from the position stage
 *    v <- P[ v + sum_g dt/(2 n_g) f_g(r)/m ]
 *
 *  Between two innermost steps the kicks of both have one projection: P is linear. OpenMM's integrator does not project
 *  after the kicks; with a stretched bond, the bath would then scale the part of the kick along the bond. Velocities
 * are those at the time of the positions, and tangent to the constraints.
 *
 *  getMultipliers() has the impulses of all stages of a step, without those of the random velocities, divided by dt,
 * and in addition the rest of the centripetal term of v1 and v2, as RattleLangevinIntegrator's, for each innermost
 * step. Heat, work and random numbers are as RattleLangevinIntegrator's, too. setWarmStart() has no effect.
 *
 *  Source: Tuckerman, Berne, Martyna, J. Chem. Phys. 97, 1990 (1992), doi 10.1063/1.463137; Lagardere, Aviat,
 *  Piquemal, J. Phys. Chem. Lett. 10, 2593 (2019), doi 10.1021/acs.jpclett.9b00901.
 */
class RattleMTSLangevinIntegrator : public RattleLangevinIntegrator {
public:
    /** @param temperature  of the heat bath (K), not negative
     *  @param friction     how strongly it couples (1/ps), not negative
     *  @param stepSize     the step size dt (ps), that of the slowest group with one substep
     *  @param groups       for each force group its number (0 to 31) and its substeps; see RattleMTSIntegrator
     *  @throws OpenMMException if a number is negative or not finite, if a group is listed twice, or if substeps are no
     *          multiples
     */
    RattleMTSLangevinIntegrator(double temperature, double friction, double stepSize,
                                const std::vector<std::pair<int, int>>& groups)
        : RattleLangevinIntegrator(temperature, friction, stepSize), timeSteps(groups) {
    }
    /** The force groups and their substeps, as they were given: (group, substeps). */
    std::vector<std::pair<int, int>> getGroups() const {
        return timeSteps.getGroups();
    }
    /** There are no geodesic steps.
     *
     *  @param numSteps  0
     *  @throws OpenMMException if it is another number
     */
    void setNumGeodesicSteps(int numSteps) override;
    const MultipleTimeSteps* getMultipleTimeSteps() const override {
        return &timeSteps;
    }

protected:
    std::string getStepKernelName() const override {
        return "IntegrateRattleMTSLangevinStep";
    }
    double getVelocityTimeOffset() const override {
        return 0;
    }

private:
    MultipleTimeSteps timeSteps;
};

} // namespace ConstraintPlugin

#endif
