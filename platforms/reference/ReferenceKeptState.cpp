// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "ReferenceStepKernel.h"

using namespace OpenMM;

namespace ConstraintPlugin {

class ReferenceStepKernel::Kept : public KeptState {
public:
    Kept(ReferenceStepKernel& kernel, ContextImpl& context)
        : kernel(kernel), context(context), forces(kernel.keptForces), forceGroups(kernel.forceGroups),
          contextGroups(context.getLastForceGroups()), forceTime(kernel.forceTime), forcesKept(kernel.forcesKept) {
        kernel.take(context, state);
    }
    void deform(const Deformation& deformation) override {
        setBox(DeformedBox(deformation, state.box).box);
        Real3* x = kernel.positions(context);
        kernel.forParticles([&](int i) { x[i] = deformation(state.positions[i]); });
    }
    void restore() override {
        setBox(state.box);
        std::copy(state.positions.begin(), state.positions.end(), kernel.positions(context));
        std::copy(state.velocities.begin(), state.velocities.end(), kernel.velocities(context));
        kernel.keptForces = forces;
        kernel.forceGroups = forceGroups;
        kernel.forceTime = forceTime;
        kernel.forcesKept = forcesKept;
        kernel.forcesComputed = false; // the Context's own array has changed
        context.getLastForceGroups() = contextGroups;
    }

private:
    void setBox(const Box& box) {
        context.setPeriodicBoxVectors(toVec3(box.a), toVec3(box.b), toVec3(box.c));
    }
    ReferenceStepKernel& kernel;
    ContextImpl& context;
    Snapshot state;
    const std::vector<Real3> forces;
    const int forceGroups, contextGroups;
    const double forceTime;
    const bool forcesKept;
};

std::unique_ptr<KeptState> ReferenceStepKernel::keepState(ContextImpl& context) {
    return std::make_unique<Kept>(*this, context);
}

} // namespace ConstraintPlugin
