// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_COMMON_STEP_KERNEL_H_
#define CONSTRAINTS_COMMON_STEP_KERNEL_H_

#include "ConstraintSet.h"
#include "openmm/OpenMMException.h"
#include "openmm/common/ComputeContext.h"
#include "openmmconstraints/ConstraintKernels.h"

namespace ConstraintPlugin {

/** A placeholder, which compiles a kernel and does nothing else. */
class CommonStepKernel : public IntegrateConstraintsStepKernel {
public:
    CommonStepKernel(const std::string& name, const OpenMM::Platform& platform, OpenMM::ContextImpl& context,
                     OpenMM::ComputeContext& cc);
    void initialize(const OpenMM::System& system, const ConstraintIntegrator& integrator,
                    const ConstraintSet& constraints) override;
    void setTargets(const ConstraintSet& constraints) override {
        set = constraints;
    }
    void execute(OpenMM::ContextImpl& context, const ConstraintIntegrator& integrator, int steps) override;
    double computeKineticEnergy(OpenMM::ContextImpl&, const ConstraintIntegrator&) override {
        return 0;
    }
    void applyConstraints(OpenMM::ContextImpl&, const ConstraintIntegrator&) override {
    }
    void applyVelocityConstraints(OpenMM::ContextImpl&, const ConstraintIntegrator&) override {
    }
    void projectVelocities(OpenMM::ContextImpl&, const ConstraintIntegrator&, std::vector<OpenMM::Vec3>&) override {
    }
    void invalidateForces() override {
    }
    SolverSummary getSummary() const override {
        return {};
    }
    const ConstraintSet& getConstraints() const override {
        return set;
    }
    std::vector<double> getMultipliers() const override {
        return {};
    }
    std::vector<double> getVelocityMultipliers() const override {
        return {};
    }
    void getConstraintForces(std::vector<OpenMM::Vec3>&, std::vector<OpenMM::Vec3>&) const override {
    }
    double getConstraintWork() const override {
        return 0;
    }
    std::vector<double> computeMultipliers(OpenMM::ContextImpl&, const ConstraintIntegrator&) override {
        return {};
    }
    void computeBlueMoon(OpenMM::ContextImpl&, const ConstraintIntegrator&, const std::vector<int>&,
                         std::vector<double>&, std::vector<double>&, double&) override {
    }
    int getConstraintRank() const override {
        return 0;
    }
    void createCheckpoint(std::ostream&) const override {
    }
    void loadCheckpoint(std::istream&, bool) override {
    }

private:
    OpenMM::ComputeContext& cc;
    OpenMM::ComputeKernel kernel;
    ConstraintSet set;
};

} // namespace ConstraintPlugin

#endif
