// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REFERENCE_STEPS_H_
#define OPENMM_CONSTRAINTS_REFERENCE_STEPS_H_

#include "ChainCheckpoint.h"
#include "CheckpointIO.h"
#include "LangevinNoise.h"
#include "ReferenceStepKernel.h"

namespace ConstraintPlugin {

/** Velocity Verlet with RATTLE (RattleIntegrator.h). */
class ReferenceRattleStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** Leapfrog with SHAKE (ShakeIntegrator.h). */
class ReferenceShakeStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** Base class of both discretizations of RattleLangevinIntegrator: the heat bath. */
class ReferenceLangevinStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;

protected:
    /** The Ornstein-Uhlenbeck process over one step, in the tangent space. Without friction nothing happens. */
    void ornsteinUhlenbeck(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity) {
        ornsteinUhlenbeck(context, integrator, velocity, integrator.getStepSize(), stepsTaken);
    }
    /** The same over a duration (ps), with the random numbers of a draw. */
    void ornsteinUhlenbeck(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity,
                           double duration, std::uint64_t draw);
    /** LangevinMiddle's free drift over a duration, delta = duration/2 (v before and after the heat bath), and the
     * change of velocities in the bath, see StepReading. */
    void driftThroughBath(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity,
                          double duration, std::uint64_t draw, std::vector<Real3>& change);
    void writeOwn(std::ostream& stream) const override {
        write(stream, noiseKey);
        write(stream, stepsTaken);
    }
    void readOwn(std::istream& stream) override {
        read(stream, noiseKey);
        read(stream, stepsTaken);
    }

private:
    NoiseKey noiseKey{};
};

/** LangevinMiddle with projections (RattleLangevinIntegrator.h). */
class ReferenceRattleLangevinStep : public ReferenceLangevinStep {
public:
    using ReferenceLangevinStep::ReferenceLangevinStep;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** A step with several stages of a kind: the impulses of all solves except those after random velocities, by the
 *  positions at which their gradients are. */
template <class Step>
class ReferenceSummedStep : public Step {
public:
    using Step::Step;

protected:
    void readMultipliers(double dt) override {
        std::vector<StepMoment>& read = this->record->reading.moments;
        read.resize(numMoments);
        for (std::size_t n = 0; n < numMoments; n++) {
            this->readImpulses(moments[n].impulses, dt, read[n]);
            if (n == 0) // its positions and time are those that every step notes
                continue;
            read[n].positions.swap(moments[n].positions);
            read[n].time = moments[n].time;
        }
    }
    /** Begin a sum, with gradients at the Context's positions. */
    void startSum(OpenMM::ContextImpl& context) {
        this->noteGradientPositions(context);
        numMoments = 0;
        startMoment(context);
    }
    /** Position stage over h (ps) of a displacement `delta`, which is then added to the positions. */
    void displace(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity, double h) {
        this->solver->forgetImpulses();
        HostStepKernel::solvePositions(context, integrator, this->positions(context), this->delta.data(), velocity, h);
        now().impulses.addPositions(this->solver->readImpulses(), h);
        this->addDisplacement(context, this->delta.data());
        hasMoved = true;
    }
    /** v <- P[v] */
    void returnToTangent(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity) {
        if (hasMoved) {
            const Real3* x = this->positions(context);
            startMoment(context);
            now().positions.assign(x, x + this->numParticles());
        }
        this->solver->forgetImpulses();
        this->solveVelocities(context, integrator, this->positions(context), velocity);
        now().impulses.addVelocities(this->solver->readImpulses());
    }

private:
    struct Moment {
        Impulses impulses; // mu is the sum over its stages
        std::vector<Real3> positions;
        double time = 0;
    };
    Moment& now() {
        return moments[numMoments - 1];
    }
    void startMoment(OpenMM::ContextImpl& context) {
        if (++numMoments > moments.size())
            moments.emplace_back();
        this->solver->forgetImpulses();
        now().impulses = this->solver->readImpulses(); // zero
        now().time = this->currentTime(context);
        hasMoved = false;
    }
    std::vector<Moment> moments; // of this step, and more that keep their memory
    std::size_t numMoments = 0;
    bool hasMoved = false; // since the last one began
};

/** g-BAOAB (RattleLangevinIntegrator.h). */
class ReferenceGeodesicLangevinStep : public ReferenceSummedStep<ReferenceLangevinStep> {
public:
    using ReferenceSummedStep::ReferenceSummedStep;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;

private:
    /** B: v += dt/2 f(r)/m, projected onto the tangent space. */
    void halfKick(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity);
    /** A: free motion on the constraints over dt/2, along a geodesic. */
    void geodesicDrift(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, Real3* velocity);
};

/** Velocity Verlet with RATTLE between two halves of a Nose-Hoover chain (RattleNoseHooverIntegrator.h). */
class ReferenceRattleNoseHooverStep : public ReferenceRattleStep, public HeatBathKernel {
public:
    using ReferenceRattleStep::ReferenceRattleStep;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    ThermostatChain getChain() const override {
        return chain;
    }
    void setChain(const ThermostatChain& newChain) override {
        chain = newChain;
    }

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void writeOwn(std::ostream& stream) const override {
        writeChain(stream, *this);
    }
    void readOwn(std::istream& stream) override {
        readChain(stream, *this);
    }
    void readUnsealedOwn(std::istream& stream) override {
        readChain(stream, *this);
    }

private:
    /** Propagate the chain over half a step. */
    void propagateHeatBath(OpenMM::ContextImpl& context, const HeatBath& bath, double time);
    ThermostatChain chain{0};
};

/** Velocity Verlet with the explicit constraint force (ConstraintForceIntegrator.h). */
class ReferenceConstraintForceStep : public ReferenceStepKernel {
public:
    using ReferenceStepKernel::ReferenceStepKernel;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void readMultipliers(double) override {
        record->reading.moments[0].multipliers = atStart;
        record->reading.velocityMultipliers = atEnd;
    }

private:
    /** Accelerations at the Context's positions with velocities v, constraint forces included. */
    std::vector<Real3> accelerations(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator,
                                     const Real3* v, ForceMultipliers& multipliers);
    ForceMultipliers atStart, atEnd;
};

} // namespace ConstraintPlugin

#endif
