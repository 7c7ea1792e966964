// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_IMPL_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_IMPL_H_

#include "openmm/internal/ForceImpl.h"
#include "openmmconstraints/ConstraintForce.h"

namespace ConstraintPlugin {

/** A declaration: no energy, no force, no kernel. It sees to it that an integrator is there which solves what its Force
 *  declares, and that constrained particles count as bonded. */
class ConstraintForceImpl : public OpenMM::ForceImpl {
public:
    explicit ConstraintForceImpl(const ConstraintForce& owner) : owner(owner) {
    }
    /** @throws OpenMMException if the integrator cannot honour the Force, or a thermostat would sample it wrongly */
    void initialize(OpenMM::ContextImpl& context) override;
    const ConstraintForce& getOwner() const override {
        return owner;
    }
    /** @throws OpenMMException if the integrator that takes this step is none of ours */
    void updateContextState(OpenMM::ContextImpl& context, bool& forcesInvalid) override;
    double calcForcesAndEnergy(OpenMM::ContextImpl&, bool, bool, int) override {
        return 0.0;
    }
    std::map<std::string, double> getDefaultParameters() override {
        return {};
    }
    std::vector<std::string> getKernelNames() override {
        return {};
    }
    /** Hand the System's constraints with their present targets to the integrators of a Context. */
    void updateParametersInContext(OpenMM::ContextImpl& context);
    std::vector<std::pair<int, int>> getBondedParticles() const override;

private:
    const ConstraintForce& owner;
};

} // namespace ConstraintPlugin

#endif
