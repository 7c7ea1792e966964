// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_RATTLE_LANGEVIN_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_RATTLE_LANGEVIN_INTEGRATOR_H_

#include "ConstraintIntegrator.h"

namespace ConstraintPlugin {

/** Langevin dynamics with constraints: constant temperature, one force evaluation a step. The LangevinMiddle
 *  discretization, with the arguments of OpenMM's LangevinMiddleIntegrator:
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
 *  velocities are left out. Of the centripetal force it has the fraction (1+a)/2: a free dimer of length d reads
 *  -(1+a)/2 * 2 kT/d on average. computeMultipliers() has all of it.
 *
 *  Without friction the thermostat is off, and the positions are those of ShakeIntegrator. A checkpoint holds the
 *  state of the random number generator. On the Reference and CPU platforms that generator is OpenMM's, one for all
 *  Contexts of a process: a run repeats if the Context is created anew and no other one draws in between.
 *  Source: Zhang, Liu, Yan, Tuckerman, Liu, J. Phys. Chem. A 123, 6056 (2019), doi 10.1021/acs.jpca.9b02771;
 *  projections: Leimkuhler, Matthews, Proc. R. Soc. A 472, 20160138 (2016), doi 10.1098/rspa.2016.0138.
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
    /** Set the seed of the random numbers. It is used when a Context is created. Children of a CompoundIntegrator
     *  share their Context's random numbers: give all of them the same seed, or creating the Context throws.
     *
     *  @param seed  any number; 0 (default): a unique one for every Context
     */
    void setRandomNumberSeed(int seed) {
        randomNumberSeed = seed;
    }

protected:
    std::string getStepKernelName() const override;
    void initialize(OpenMM::ContextImpl& context) override;
    double getVelocityTimeOffset() const override {
        return 0.5 * getStepSize();
    }

private:
    double temperature, friction;
    int randomNumberSeed = 0;
};

} // namespace ConstraintPlugin

#endif
