// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_IMPL_H_
#define OPENMM_CONSTRAINTS_CONSTRAINT_FORCE_IMPL_H_

#include "CollectConstraints.h"
#include "openmm/Force.h"
#include "openmm/internal/ForceImpl.h"
#include "openmmconstraints/ConstraintKernels.h"
#include <vector>

namespace ConstraintPlugin {

/** Implementation of Forces that declare constraints. It has no energy and no force. It throws if nobody solves the
 * constraints of its Force, reports constrained particles as bonded, and throws if an energy is asked for after a
 * changed Context parameter has made the positions violate the constraints. That of the Force which replaces the solver
 * of OpenMM's integrators has the kernel that does so. */
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
    /** Where the solver is replaced, bring positions that others have set onto the constraints.
     *  @throws OpenMMException if nobody solves the constraints in this step */
    void updateContextState(OpenMM::ContextImpl& context, bool& forcesInvalid) override;
    /** Called for any force groups, when energies or forces are computed.
     *  @return 0
     *  @throws OpenMMException as IntegrateConstraintsStepKernel::requireProjected and, where forces are asked for and
     *          not only an energy, requireNearConstraints */
    double calcForcesAndEnergy(OpenMM::ContextImpl& context, bool includeForces, bool includeEnergy, int) override;
    std::map<std::string, double> getDefaultParameters() override {
        return defaultParameters;
    }
    std::vector<std::string> getKernelNames() override {
        return {};
    }
    /** Pass the System's constraints with their present targets to the integrators of a Context. */
    void updateParametersInContext(OpenMM::ContextImpl& context);
    /** Of the solver that the present integrator uses, in its last step or the last call. */
    static SolverSummary getSolverSummary(OpenMM::ContextImpl& context);
    /** This Force's part of the multipliers of the current integrator. */
    std::vector<double> getMultipliers(OpenMM::ContextImpl& context) const;
    std::vector<std::pair<int, int>> getBondedParticles() const override;

private:
    const OpenMM::Force& owner;
    std::map<std::string, double> defaultParameters;
    void replaceSolver(OpenMM::ContextImpl& context);
    ConstraintSet collect(OpenMM::ContextImpl& context, const ParameterValues* parameters) const;
    /** Whether it is the first one of a Context that declares constraints, which asks for what one question answers. */
    bool isFirst(OpenMM::ContextImpl& context) const;
    /** The one of a Context that replaces the solver; null: there is none. */
    static ConstraintForceImpl* replacingImpl(OpenMM::ContextImpl& context);

    bool declaresAny = false;
    OpenMM::Kernel kernel; // of `replacing`
    SolveConstraintsKernel* replacing = nullptr;
    bool areDegreesCounted = false; // of thermostats
};

} // namespace ConstraintPlugin

#endif
