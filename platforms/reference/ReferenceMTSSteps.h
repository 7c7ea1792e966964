// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REFERENCE_MTS_STEPS_H_
#define OPENMM_CONSTRAINTS_REFERENCE_MTS_STEPS_H_

#include "ReferenceSteps.h"
#include "openmmconstraints/MultipleTimeSteps.h"

namespace ConstraintPlugin {

/** What both integrators with multiple time steps share: which forces kick when. */
template <class Step>
class ReferenceMTSStep : public ReferenceSummedStep<Step> {
public:
    using ReferenceSummedStep<Step>::ReferenceSummedStep;

protected:
    /** Begin a step: velocities, positions and time at its start. */
    void startStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator);
    /** v += h/2 F/m, F the sum over the levels that kick now of their forces, each times the number of innermost steps
     * in one of theirs. @param times  the kick is done */
    void halfKick(OpenMM::ContextImpl& context, int times = 1);
    /** Position stage of an innermost step, r += delta + c, v += c/h, and the forces at its end. */
    void drift(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int moment);

    int numSubsteps = 1;
    double h = 0; ///< ps, of an innermost step

private:
    /** The forces that kick at a moment: after so many innermost steps. */
    void computeForces(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int moment);
    double start = 0;             // ps, of the step
    int fastest = 0;              // groups of this level
    int summedGroups = 0;         // of all levels, whose forces are known
    std::vector<Real3> slow, all; // parts of F: of all levels but the fastest, and F
};

/** r-RESPA with RATTLE (RattleMTSIntegrator.h). */
class ReferenceRattleMTSStep : public ReferenceMTSStep<ReferenceStepKernel> {
public:
    using ReferenceMTSStep::ReferenceMTSStep;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

/** The same with a heat bath (RattleMTSLangevinIntegrator.h). */
class ReferenceRattleMTSLangevinStep : public ReferenceMTSStep<ReferenceLangevinStep> {
public:
    using ReferenceMTSStep::ReferenceMTSStep;

protected:
    void takeStep(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator) override;
};

} // namespace ConstraintPlugin

#endif
