// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COMMON_STEPS_H_
#define OPENMM_CONSTRAINTS_COMMON_STEPS_H_

#include "CheckpointIO.h"
#include "CommonStepKernel.h"
#include "LangevinNoise.h"

namespace ConstraintPlugin {

/** Velocity Verlet with RATTLE (RattleIntegrator.h). */
class CommonRattleStep : public CommonStepKernel {
public:
    using CommonStepKernel::CommonStepKernel;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** Leapfrog with SHAKE (ShakeIntegrator.h). */
class CommonShakeStep : public CommonStepKernel {
public:
    using CommonStepKernel::CommonStepKernel;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** Base class of both discretizations of RattleLangevinIntegrator: the heat bath. */
class CommonLangevinStep : public CommonStepKernel {
public:
    using CommonStepKernel::CommonStepKernel;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;

protected:
    void setOwnNumbers(const ConstraintIntegrator& integrator) override;
    /** Use the random numbers of a draw from now on. */
    void setNoiseStep(std::uint64_t draw);
    void setNoiseStep() {
        setNoiseStep(stepsTaken);
    }
    /** The drift of LangevinMiddle, with the bath in its middle. */
    StageText driftAndHeat() const;
    void launchDrift();
    /** How long a bath acts (ps). */
    virtual double bathTime(const ConstraintIntegrator& integrator) const {
        return integrator.getStepSize();
    }
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
class CommonRattleLangevinStep : public CommonLangevinStep {
public:
    using CommonLangevinStep::CommonLangevinStep;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** g-BAOAB (RattleLangevinIntegrator.h). */
class CommonGeodesicLangevinStep : public CommonLangevinStep {
public:
    using CommonLangevinStep::CommonLangevinStep;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void setOwnNumbers(const ConstraintIntegrator& integrator) override;
    int numDrifts(const ConstraintIntegrator& integrator) const override;
    int numMoments(const ConstraintIntegrator& integrator) const override {
        return numDrifts(integrator) + 1;
    }
};

/** Velocity Verlet with the explicit constraint force (ConstraintForceIntegrator.h). */
class CommonConstraintForceStep : public CommonStepKernel {
public:
    using CommonStepKernel::CommonStepKernel;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    void setOwnNumbers(const ConstraintIntegrator& integrator) override;
};

} // namespace ConstraintPlugin

#endif
