// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "CommonStepKernel.h"
#include "ConstraintKernelSources.h"
#include "openmm/common/ContextSelector.h"

using namespace OpenMM;

namespace ConstraintPlugin {

CommonStepKernel::CommonStepKernel(const std::string& name, const Platform& platform, ContextImpl&, ComputeContext& cc)
    : IntegrateConstraintsStepKernel(name, platform), cc(cc) {
}

void CommonStepKernel::initialize(const System& system, const ConstraintIntegrator&, const ConstraintSet& constraints) {
    set = constraints;
    cc.initializeContexts();
    ContextSelector selector(cc);
    ComputeProgram program = cc.compileProgram(ConstraintKernelSources::placeholder);
    kernel = program->createKernel("placeholderStep");
    kernel->addArg(system.getNumParticles());
    kernel->addArg(cc.getVelm());
}

void CommonStepKernel::execute(ContextImpl& context, const ConstraintIntegrator& integrator, int steps) {
    for (int i = 0; i < steps; i++) {
        context.updateContextState();
        context.calcForcesAndEnergy(true, false, integrator.getIntegrationForceGroups());
        ContextSelector selector(cc);
        kernel->execute(cc.getNumAtoms());
        cc.setTime(cc.getTime() + integrator.getStepSize());
        cc.setStepCount(cc.getStepCount() + 1);
    }
}

} // namespace ConstraintPlugin
