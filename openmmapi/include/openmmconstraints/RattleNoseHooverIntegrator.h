// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_RATTLE_NOSE_HOOVER_INTEGRATOR_H_
#define OPENMM_CONSTRAINTS_RATTLE_NOSE_HOOVER_INTEGRATOR_H_

#include "ConstraintIntegrator.h"

namespace ConstraintPlugin {

/** Deterministic constant temperature: RattleIntegrator's step between two half steps of a Nose-Hoover chain, which
 * acts on all degrees of freedom that the constraints leave (getNumDegreesOfFreedom()). One force evaluation a step.
 *
 *    v <- s v,  s from the chain over dt/2;   a step of RattleIntegrator;   v <- s' v over dt/2
 *
 *  Scaling all velocities by one factor keeps them tangent to the constraints, and keeps the directions of the momenta.
 * The sum of potential energy, kinetic energy and computeHeatBathEnergy() is conserved to second order in the step
 * size; its drift shows whether the step size is too large. Positions and velocities belong to the same time.
 *
 *  The chain's masses are N kT/w^2 of the first thermostat and kT/w^2 of the others, N degrees of freedom, w the
 *  collision frequency. With a single thermostat, a small or stiff system is not sampled ergodically; hence the chain.
 *  Purely harmonic motion is not sampled ergodically even with a chain: use RattleLangevinIntegrator for it. Without
 *  external forces the total momentum keeps its direction, so its three degrees of freedom are not sampled: add a
 *  CMMotionRemover, which subtracts them from N.
 *
 *  The chain is part of checkpoints, and of a State with integrator parameters. If a step fails, the chain is restored
 * like the particles. Creating a Context throws if constraints move in time, because their velocities must not be
 * scaled. Sources: Martyna, Klein, Tuckerman, J. Chem. Phys. 97, 2635 (1992), doi 10.1063/1.463940; Martyna, Tuckerman,
 *  Tobias, Klein, Mol. Phys. 87, 1117 (1996), doi 10.1080/00268979600100761.
 */
class RattleNoseHooverIntegrator : public ConstraintIntegrator {
public:
    /** The arguments of OpenMM's NoseHooverIntegrator.
     *
     *  @param temperature         of the heat bath (K), positive
     *  @param collisionFrequency  of the interaction with it (1/ps), positive
     *  @param stepSize            the step size (ps), not negative
     *  @param chainLength         thermostats in the chain, 1 to 1000
     *  @param numMTS              substeps of the chain in half a step, 1 to 1000. It takes more where it moves too
     * fast for them, as after the bath has become much colder
     *  @param numYoshidaSuzuki    factors of each substep: 1, 3, 5 or 7
     *  @throws OpenMMException if one of them is not in its range
     */
    RattleNoseHooverIntegrator(double temperature, double collisionFrequency, double stepSize, int chainLength = 3,
                               int numMTS = 3, int numYoshidaSuzuki = 7);
    /** The temperature of the heat bath (K). */
    double getTemperature() const {
        return temperature;
    }
    /** Set the temperature of the heat bath. May be changed between steps.
     *
     *  @param temperature  the temperature (K), positive
     *  @throws OpenMMException if it is not positive, infinite or not a number
     */
    void setTemperature(double temperature);
    /** The frequency of the interaction with the heat bath (1/ps). */
    double getCollisionFrequency() const {
        return collisionFrequency;
    }
    /** Set the frequency of the interaction with the heat bath. May be changed between steps.
     *
     *  @param collisionFrequency  the frequency (1/ps), positive
     *  @throws OpenMMException if it is not positive, infinite or not a number
     */
    void setCollisionFrequency(double collisionFrequency);
    /** Number of thermostats in the chain. */
    int getChainLength() const {
        return chainLength;
    }
    /** Number of substeps of the chain in half a step; it takes more where it moves too fast for them. */
    int getNumMultiTimeSteps() const {
        return numMTS;
    }
    /** Number of factors of each substep. */
    int getNumYoshidaSuzukiTimeSteps() const {
        return numYoshidaSuzuki;
    }
    /** The energy of the chain: the sum of it, the potential and the kinetic energy is conserved. Zero when the Context
     * is created.
     *
     *  @return kJ/mol
     */
    double computeHeatBathEnergy() const;

protected:
    std::string getStepKernelName() const override;
    void checkSupported(const ConstraintSet& constraints, const ProblemReport& report) const override;
    void serializeParameters(OpenMM::SerializationNode& node) const override;
    void deserializeParameters(const OpenMM::SerializationNode& node) override;

private:
    double temperature, collisionFrequency;
    int chainLength, numMTS, numYoshidaSuzuki;
};

} // namespace ConstraintPlugin

#endif
