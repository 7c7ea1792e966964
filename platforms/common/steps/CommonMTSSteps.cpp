// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonMTSSteps.h"

using namespace OpenMM;

namespace ConstraintPlugin {

std::vector<StageText> CommonRattleMTSStep::stages() const {
    std::vector<StageText> stages = {
        {"firstHalf", {"keepPositions", "keepVelocity", "halfKickOfLevels", "drift", "solvePositions", "move"}},
        {"lastHalf", {"keepPositions", "halfKickOfLevels", "solveVelocities", "addVelocityCorrection"}}};
    if (numSubsteps > 1) // the end of an innermost step and the beginning of the next
        stages.push_back({"between",
                          {"keepPositions", "halfKickOfLevels", "solveVelocities", "addVelocityCorrection",
                           "halfKickOfLevels", "drift", "solvePositions", "move"}});
    return stages;
}

void CommonRattleMTSStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    startStep(context, integrator);
    for (int moment = 0; moment < numSubsteps; moment++) {
        launch(moment == 0 ? "firstHalf" : "between");
        finishInnermost(context, integrator, moment);
    }
    launch("lastHalf");
    checkVelocities();
}

std::vector<StageText> CommonRattleMTSLangevinStep::stages() const {
    std::vector<StageText> stages = {
        {"kick", {"keepPositions", "keepVelocity", "halfKickOfLevels", "solveVelocities", "addVelocityCorrection"}},
        driftAndHeat(),
        {"lastKick", {"keepPositions", "halfKickOfLevels", "solveVelocities", "addVelocityCorrection"}}};
    if (numSubsteps > 1) // both kicks of a moment have one projection
        stages.push_back(
            {"between",
             {"keepPositions", "halfKickOfLevels", "halfKickOfLevels", "solveVelocities", "addVelocityCorrection"}});
    return stages;
}

void CommonRattleMTSLangevinStep::takeStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    startStep(context, integrator);
    for (int moment = 0; moment < numSubsteps; moment++) {
        launch(moment == 0 ? "kick" : "between");
        setNoiseStep(stepsTaken * numSubsteps + moment);
        program->arguments.set("isFirstBath", moment == 0 ? 1 : 0);
        launchDrift();
        finishInnermost(context, integrator, moment);
    }
    launch("lastKick");
    checkVelocities();
}

template <class Step>
void CommonMTSStep<Step>::setOwnNumbers(const ConstraintIntegrator& integrator) {
    Step::setOwnNumbers(integrator);
    this->program->arguments.set("warmStart", 0); // a step has several solves
}

template <class Step>
void CommonMTSStep<Step>::startStep(ContextImpl& context, const ConstraintIntegrator& integrator) {
    start = this->cc.getTime();
    computeForcesAt(context, integrator, 0);
}

template <class Step>
void CommonMTSStep<Step>::computeForcesAt(ContextImpl& context, const ConstraintIntegrator& integrator, int moment) {
    const MultipleTimeSteps& steps = *integrator.getMultipleTimeSteps();
    const int groups = integrator.getIntegrationForceGroups();
    const auto levels = steps.levels(groups);
    const int fastest = levels.back().groups;
    if (moment == 0 && groups == summedGroups && this->knowsForces(context, fastest))
        return; // and the sum of slower ones, from the end of the last step
    summedGroups = groups;
    this->program->arguments.set("hasSlowForces", 0);
    for (std::size_t level = 0; level + 1 < levels.size(); level++)
        if (steps.kicks(levels[level], moment)) {
            this->computeForces(context, levels[level].groups);
            this->program->arguments.set("forceFactor", (double) steps.periodOf(levels[level]));
            this->program->launchAfterwards("addSlowForces", this->numParticles(), this->nextLaunch++);
            this->program->arguments.set("hasSlowForces", 1);
        }
    this->computeForces(context, fastest);
}

template <class Step>
void CommonMTSStep<Step>::finishInnermost(ContextImpl& context, const ConstraintIntegrator& integrator, int moment) {
    const double dt = integrator.getStepSize();
    const bool isLast = moment + 1 == numSubsteps;
    this->finishPositions(context, start + (isLast ? dt : (moment + 1) * (dt / numSubsteps)));
    computeForcesAt(context, integrator, moment + 1);
    this->program->setMoment(this->bufferNow, moment + 1);
}

template class CommonMTSStep<CommonStepKernel>;
template class CommonMTSStep<CommonLangevinStep>;

} // namespace ConstraintPlugin
