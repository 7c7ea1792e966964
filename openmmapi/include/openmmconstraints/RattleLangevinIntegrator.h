// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_RATTLE_LANGEVIN_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_RATTLE_LANGEVIN_INTEGRATOR_H_

#include "ConstraintIntegrator.h"
#include <array>
#include <cstdint>

namespace ConstraintPlugin {

/** Langevin dynamics with constraints: constant temperature, one force evaluation a step, with the arguments of
 * OpenMM's LangevinMiddleIntegrator. Of two discretizations, LangevinMiddle is the default:
 *
 *    v1      = P[ v(t-dt/2) + dt f(t)/m ]
 *    v2      = P[ a v1 + sqrt((1-a^2) kT/m) R ],   a = exp(-friction dt),   R standard normal
 *    r(t+dt) = r(t) + dt/2 (v1 + v2) + 1/m sum_k lambda_k grad sigma_k(t)
 *    v(t+dt/2) = v2 + 1/(m dt) sum_k lambda_k grad sigma_k(t)
 *
 *  with lambda such that sigma(r(t+dt)) = 0, and P the projection onto the velocity constraints at r(t). P after the
 *  random kick makes v2 a sample of the constrained Maxwell distribution, exactly. Velocities are those of
 *  LangevinMiddleIntegrator: half a step behind the positions. They are off the velocity constraints by what the
 *  bonds turned in the step, which the next P takes out; kinetic energy and temperature are computed from
 *  P[v(t-dt/2)] at r(t). They are not shifted to t: of a harmonic oscillator, the kinetic energy half a step behind
 *  has the mean kT/2 exactly, and at t it is low by the fraction (omega dt)^2/4.
 *
 *  getMultipliers() has the impulses over the step that answer the force and the drift; those that answer random
 *  velocities are left out. The position stage answers the centripetal term of (v1 + v2)/2 alone; to that is added what
 *  the constraints answer to the rest of the mean of both, (J M^-1 J^T) lambda = -1/4 (v1-v2)^T H (v1-v2), with H the
 *  second derivatives of sigma: a free dimer of length d reads -2 kT/d on average at any friction. Forces, virial and
 *  work are those of the sum; getHeat() takes the opposite of the work that is added.
 *
 *  setNumGeodesicSteps(K) with K > 0 chooses g-BAOAB. Velocities are those at the time of the positions, in the tangent
 *  space there, as RattleIntegrator's; the letters stand for
 *
 *    B  v <- P[ v + dt/2 f(r)/m ]
 *    A  K times: r and v move on by dt/(2K) as RattleIntegrator's without a force, along a geodesic of the constraints
 *    O  v <- P[ a v + sqrt((1-a^2) kT/m) R ]
 *
 *  and B, A, O, A, B are a step. It costs 2K position stages instead of one. Averages over positions have smaller
 *  errors of the time step where constrained parts turn far in one, and more of them let the constraints be solved in
 *  smaller parts where steps are so large that one drift fails (scripts/validate.sh measures both). getMultipliers()
 * has the impulses over the step of all solves but O's, the whole centripetal force. Its kinetic energy, at the time of
 * the positions, is low by the fraction (omega dt)^2/4 for a harmonic oscillator. setWarmStart() plays no part.
 *
 *  Without friction the thermostat is off: the positions of LangevinMiddle are those of ShakeIntegrator, g-BAOAB with
 *  K = 1 is RATTLE with a drift in two halves.
 *
 *  Random numbers are a function of the seed, of how many steps were taken, and of the particle (Philox4x32-10: Salmon
 *  et al., SC '11, doi 10.1145/2063384.2063405). Contexts do not share them, all platforms draw the same, a step that
 *  fails draws none, and a checkpoint goes on with them.
 *  Source: Zhang, Liu, Yan, Tuckerman, Liu, J. Phys. Chem. A 123, 6056 (2019), doi 10.1021/acs.jpca.9b02771;
 *  projections and g-BAOAB: Leimkuhler, Matthews, Proc. R. Soc. A 472, 20160138 (2016), doi 10.1098/rspa.2016.0138.
 */
class RattleLangevinIntegrator : public ConstraintIntegrator {
public:
    /** @param temperature  of the heat bath (K), not negative
     *  @param friction     how strongly it couples (1/ps), not negative
     *  @param stepSize     the step size (ps), not negative
     *  @throws OpenMMException if one of them is negative, infinite or not a number
     */
    RattleLangevinIntegrator(double temperature, double friction, double stepSize);
    /** The temperature of the heat bath (K). */
    double getTemperature() const {
        return temperature;
    }
    /** Set the temperature of the heat bath. May be changed between steps.
     *
     *  @param temperature  the temperature (K), not negative
     *  @throws OpenMMException if it is negative, infinite or not a number
     */
    void setTemperature(double temperature);
    /** The friction coefficient (1/ps). */
    double getFriction() const {
        return friction;
    }
    /** Set the friction coefficient, which couples the System to the heat bath. May be changed between steps.
     *
     *  @param friction  the friction coefficient (1/ps), not negative; 0 turns the thermostat off
     *  @throws OpenMMException if it is negative, infinite or not a number
     */
    void setFriction(double friction);
    /** The seed of the random numbers. */
    int getRandomNumberSeed() const {
        return randomNumberSeed;
    }
    /** Set the seed of the random numbers. It is used when a Context is created.
     *
     *  @param seed  any number; 0 (default): a unique one for every Context
     */
    void setRandomNumberSeed(int seed) {
        randomNumberSeed = seed;
    }
    /** The number K of geodesic steps that each half of the drift takes; 0: the LangevinMiddle discretization. */
    int getNumGeodesicSteps() const {
        return numGeodesicSteps;
    }
    /** Choose the discretization: g-BAOAB with K geodesic steps for each half of the drift, or LangevinMiddle. A
     * Context that exists goes on with K changed from one positive number to another; between 0 and a positive one
     * velocities change their meaning, and Context.reinitialize(True) has to be called before the next step.
     *
     *  @param numSteps  K, from 0 (default: LangevinMiddle) to 1000
     *  @throws OpenMMException if it is not in that range
     */
    void setNumGeodesicSteps(int numSteps);
    /** Heat that the bath has given to the system since the Context was created: the sum over steps of the kinetic
     *  energy after O less that before, velocities in the tangent space both times; for LangevinMiddle less what
     *  getConstraintWork() has of their difference. Negative where the system has
     *  cooled down. Total energy less heat less getConstraintWork() is conserved but for the error of the time step,
     *  which shows whether that is small enough: Bussi, Parrinello, Phys. Rev. E 75, 056707 (2007), doi
     *  10.1103/PhysRevE.75.056707. Part of checkpoints. On devices it costs a few bytes of memory per particle and
     *  step, and nobody waits until it is asked for.
     *
     *  @return kJ/mol
     */
    double getHeat() const;

protected:
    std::string getStepKernelName() const override;
    void initialize(OpenMM::ContextImpl& context) override;
    double getVelocityTimeOffset() const override {
        return numGeodesicSteps > 0 ? 0 : 0.5 * getStepSize();
    }

private:
    double temperature, friction;
    int randomNumberSeed = 0, numGeodesicSteps = 0;
    int child = 0; // number in a CompoundIntegrator: children of one seed draw different numbers
    friend std::array<std::uint32_t, 2> makeNoiseKey(const ConstraintIntegrator& integrator);
};

} // namespace ConstraintPlugin

#endif
