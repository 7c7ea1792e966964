// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_COMMON_MTS_STEPS_H_
#define OPENMM_CONSTRAINTS_COMMON_MTS_STEPS_H_

#include "CommonSteps.h"
#include "openmmconstraints/MultipleTimeSteps.h"

namespace ConstraintPlugin {

/** What both integrators with multiple time steps share. The forces of the fastest level are in OpenMM's array; those
 * of others that kick at the same moment are summed up in one of ours. */
template <class Step>
class CommonMTSStep : public Step {
public:
    using Step::Step;
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override {
        numSubsteps = integrator.getMultipleTimeSteps()->getNumSubsteps();
        Step::initialize(system, integrator, constraints);
    }

protected:
    int numDrifts(const ConstraintIntegrator&) const override {
        return numSubsteps;
    }
    int numMoments(const ConstraintIntegrator&) const override {
        return numSubsteps + 1;
    }
    void setOwnNumbers(const ConstraintIntegrator& integrator) override;
    /** Begin a step. */
    void startStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** Compute the forces that kick at a moment: after so many innermost steps. */
    void computeForcesAt(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int moment);
    /** After the position stage of an innermost step: the next moment begins. */
    void finishInnermost(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int moment);

    int numSubsteps = 1;

private:
    double start = 0;     // ps, of the step
    int summedGroups = 0; // of all levels, whose forces are known
};

/** r-RESPA with RATTLE (RattleMTSIntegrator.h). */
class CommonRattleMTSStep : public CommonMTSStep<CommonStepKernel> {
public:
    using CommonMTSStep::CommonMTSStep;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** The same with a heat bath (RattleMTSLangevinIntegrator.h). */
class CommonRattleMTSLangevinStep : public CommonMTSStep<CommonLangevinStep> {
public:
    using CommonMTSStep::CommonMTSStep;

protected:
    std::vector<StageText> stages() const override;
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
    double bathTime(const ConstraintIntegrator& integrator) const override {
        return driftTime(integrator);
    }
};

} // namespace ConstraintPlugin

#endif
