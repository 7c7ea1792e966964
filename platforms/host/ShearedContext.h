// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_SHEARED_CONTEXT_H_
#define OPENMM_CONSTRAINTS_SHEARED_CONTEXT_H_

#include "Deformation.h"
#include "openmm/Context.h"
#include "openmm/System.h"
#include "openmm/VerletIntegrator.h"
#include "openmm/internal/ContextImpl.h"
#include <memory>
#include <vector>

namespace ConstraintPlugin {

/** A Context on the CPU platform (or Reference, where that is missing) with the System, positions and parameters of
 *  another one, for energies in boxes that the other's platform refuses. It leaves the random numbers of barostats as
 *  they are, which OpenMM draws from one generator for all Contexts. */
class ShearedContext {
public:
    /** @param positions  [numParticles] nm
     *  @throws OpenMMException if the System cannot be copied, and has constraints for which OpenMM's set-up is slow */
    ShearedContext(OpenMM::ContextImpl& other, const Box& box, std::vector<OpenMM::Vec3> positions);
    /** Potential energy (kJ/mol) of these force groups. */
    double energy(const Deformation& deformation, int groups);

private:
    const Box box;
    const std::vector<OpenMM::Vec3> positions;
    std::unique_ptr<OpenMM::System> changed; // outlives the Context
    OpenMM::VerletIntegrator integrator{0.001};
    std::unique_ptr<OpenMM::Context> context;
};

} // namespace ConstraintPlugin

#endif
