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
 *  LangevinMiddleIntegrator: half a step behind the positions. They violate the velocity constraints by the rotation of
 *  bonds in the step, until the next P; kinetic energy and temperature are computed from P[v(t-dt/2)] at r(t). They are
 *  not shifted to t: for a harmonic oscillator, the kinetic energy half a step behind has the exact mean kT/2, and at t
 * it is too low by the fraction (omega dt)^2/4.
 *
 *  getMultipliers() has the impulses of the projection after the force and of the drift, divided by the step size,
 * without those of the random velocities. The position stage contains the centripetal term of (v1 + v2)/2. The
 * remaining part of the mean centripetal term of v1 and v2 is added, (J M^-1 J^T) lambda = -1/4 (v1-v2)^T H (v1-v2),
 * with H the second derivatives of sigma, so that the mean for a free dimer of length d is -2 kT/d at any friction.
 * Forces, virial and work include this term; getHeat() contains the negative of its work.
 *
 *  setNumGeodesicSteps(K) with K > 0 chooses g-BAOAB. Velocities are those at the time of the positions, in the tangent
 *  space there, as RattleIntegrator's; the letters stand for
 *
 *    B  v <- P[ v + dt/2 f(r)/m ]
 *    A  K times: a step of RattleIntegrator over dt/(2K) without forces, along a geodesic of the constraints
 *    O  v <- P[ a v + sqrt((1-a^2) kT/m) R ]
 *
 *  and a step is B, A, O, A, B. It has 2K position stages instead of one. Averages over positions have smaller time
 * step errors if constrained parts rotate by large angles in one step. If steps are so large that the constraints
 * cannot be solved for one drift, larger K divides it into smaller drifts (scripts/validate.sh measures both).
 * getMultipliers() has the impulses of all solves except that of O, divided by the step size: the whole centripetal
 * force. The kinetic energy, at the time of the positions, is too low by the fraction (omega dt)^2/4 for a harmonic
 * oscillator. setWarmStart() has no effect.
 *
 *  At zero friction there is no thermostat: LangevinMiddle has the positions of ShakeIntegrator, and g-BAOAB with K = 1
 * is RATTLE with its drift in two halves.
 *
 *  Random numbers depend only on the seed, the number of steps in the Context and the index of the particle
 * (Philox4x32-10: Salmon et al., SC '11, doi 10.1145/2063384.2063405). They are the same on all platforms. Other
 * Contexts do not change them, a failed step does not consume any, and a run that continues from a checkpoint uses the
 * same numbers. Source: Zhang, Liu, Yan, Tuckerman, Liu, J. Phys. Chem. A 123, 6056 (2019),
 * doi 10.1021/acs.jpca.9b02771; projections and g-BAOAB: Leimkuhler, Matthews, Proc. R. Soc. A 472, 20160138 (2016),
 * doi 10.1098/rspa.2016.0138.
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
     *  running Context accepts a change from one positive number to another. After a change between 0 and a positive
     *  number, velocities belong to another time, and Context.reinitialize(True) must be called before the next step.
     *
     *  @param numSteps  K, from 0 (default: LangevinMiddle) to 1000
     *  @throws OpenMMException if it is not in that range
     */
    virtual void setNumGeodesicSteps(int numSteps);
    /** Heat that the bath has added to the system since the Context was created: the sum over steps of the kinetic
     * energy after O minus that before O, both with velocities in the tangent space; for LangevinMiddle minus the part
     * of their difference that getConstraintWork() contains. It is negative if the system lost energy. Total energy
     * minus heat minus getConstraintWork() is conserved up to the error of the time step, so its drift shows whether
     * the time step is small enough: Bussi, Parrinello, Phys. Rev. E 75, 056707 (2007), doi 10.1103/PhysRevE.75.056707.
     * It is part of checkpoints. On devices it costs a few bytes of memory per particle and step, and the host waits
     * only if this function is called.
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
