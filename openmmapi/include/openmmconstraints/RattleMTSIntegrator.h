// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_RATTLE_MTS_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_RATTLE_MTS_INTEGRATOR_H_

#include "ConstraintIntegrator.h"
#include "MultipleTimeSteps.h"

namespace ConstraintPlugin {

/** Multiple time steps with constraints (r-RESPA): constant energy. Forces that change fast, as those of bonds, are
 *  evaluated several times in a step, slow ones, as the reciprocal space of PME, once. It takes the arguments of
 * OpenMM's MTSIntegrator.
 *
 *  A step consists of n innermost steps over h = dt/n, n the largest number of substeps. The forces f_g of a group with
 *  n_g substeps kick by dt/(2 n_g) f_g/m at both ends of each of their own steps, which is every (n/n_g)-th moment
 *  between innermost steps. Each innermost step is one of RattleIntegrator:
 *
 *    v += sum_g dt/(2 n_g) f_g(r)/m,   r <- r + h v with the position stage
 *    v += sum_g dt/(2 n_g) f_g(r)/m with the velocity stage, after all kicks of the same moment
 *
 *  where the sums are over the groups that kick at the moment. So velocities between steps are tangent to the
 * constraints, and with one group of one substep this is RattleIntegrator, bit for bit. Forces of a group are evaluated
 * n_g times a step, and once more at the first step and after something else has changed the state.
 *
 *  getMultipliers() has the impulses of all stages of a step, divided by dt: constraint forces that answer slow and
 * fast forces. They are applied along gradients at several positions; getConstraintForces() and getConstraintVirial()
 * take those at the start of the step. setWarmStart() has no effect.
 *
 *  Slow kicks resonate with the fastest motion that is left at half of its period, and in long runs from a third of it
 *  on, whatever the number of substeps: Ma, Izaguirre, Skeel, SIAM J. Sci. Comput. 24, 1951 (2003), doi
 *  10.1137/S1064827501399833. With rigid bonds to hydrogen that period is some 20 fs.
 *
 *  Source: Tuckerman, Berne, Martyna, J. Chem. Phys. 97, 1990 (1992), doi 10.1063/1.463137.
 */
class RattleMTSIntegrator : public ConstraintIntegrator {
public:
    /** Forces of all groups must be listed, but for Forces that exert none (CMMotionRemover, barostats) and
     *  ConstraintForces. The reciprocal space of a NonbondedForce may have a group of its own.
     *
     *  @param stepSize  the step size dt (ps), that of the slowest group with one substep
     *  @param groups    for each force group its number (0 to 31) and its substeps; these must be multiples of those of
     *                   all groups with fewer, as 1, 2, 6
     *  @throws OpenMMException if a group is listed twice, or if substeps are no multiples
     */
    RattleMTSIntegrator(double stepSize, const std::vector<std::pair<int, int>>& groups)
        : ConstraintIntegrator(stepSize), timeSteps(groups) {
    }
    /** The force groups and their substeps, as they were given: (group, substeps). */
    std::vector<std::pair<int, int>> getGroups() const {
        return timeSteps.getGroups();
    }
    const MultipleTimeSteps* getMultipleTimeSteps() const override {
        return &timeSteps;
    }

protected:
    std::string getStepKernelName() const override {
        return "IntegrateRattleMTSStep";
    }

private:
    MultipleTimeSteps timeSteps;
};

} // namespace ConstraintPlugin

#endif
