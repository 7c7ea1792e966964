// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_IMPL_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_IMPL_H_

#include "openmm/Force.h"
#include "openmm/internal/ForceImpl.h"
#include <vector>

namespace ConstraintPlugin {

/** Implementation of Forces that declare constraints. It has no energy, no force and no kernel. It throws if the
 * integrator does not solve the constraints of its Force, reports constrained particles as bonded, and throws if an
 * energy is asked for after a changed Context parameter has made the positions violate the constraints. */
class ConstraintForceImpl : public OpenMM::ForceImpl {
public:
    /** @param owner              a Force that declares constraints
     *  @param defaultParameters  Context parameters that its constraints may depend on */
    explicit ConstraintForceImpl(const OpenMM::Force& owner, std::map<std::string, double> defaultParameters = {})
        : owner(owner), defaultParameters(std::move(defaultParameters)) {
    }
    /** @throws ConstraintException if the integrator does not solve the constraints of the Force */
    void initialize(OpenMM::ContextImpl& context) override;
    const OpenMM::Force& getOwner() const override {
        return owner;
    }
    /** @throws OpenMMException if the integrator that takes this step is none of ours */
    void updateContextState(OpenMM::ContextImpl& context, bool& forcesInvalid) override;
    /** Called for any force groups, when energies are computed.
     *  @return 0
     *  @throws OpenMMException as IntegrateConstraintsStepKernel::requireProjected */
    double calcForcesAndEnergy(OpenMM::ContextImpl& context, bool, bool, int) override;
    std::map<std::string, double> getDefaultParameters() override {
        return defaultParameters;
    }
    std::vector<std::string> getKernelNames() override {
        return {};
    }
    /** Pass the System's constraints with their present targets to the integrators of a Context. */
    void updateParametersInContext(OpenMM::ContextImpl& context);
    /** This Force's part of the multipliers of the current integrator. */
    std::vector<double> getMultipliers(OpenMM::ContextImpl& context) const;
    std::vector<std::pair<int, int>> getBondedParticles() const override;

private:
    const OpenMM::Force& owner;
    std::map<std::string, double> defaultParameters;
    bool declaresAny = false;
};

} // namespace ConstraintPlugin

#endif
