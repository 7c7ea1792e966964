// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_REPLACED_KERNELS_H_
#define OPENMM_CONSTRAINTS_REPLACED_KERNELS_H_

#include "openmm/Kernel.h"
#include "openmm/common/ComputeContext.h"
#include "openmm/internal/ContextImpl.h"
#include "openmm/kernels.h"
#include <memory>

namespace ConstraintPlugin {

/** What OpenMM's own kernels of a Context on a device ask for. */
class SolverCalls {
public:
    virtual ~SolverCalls() = default;
    /** Make IntegrationUtilities::getPosDelta() displacements onto the constraints, from the Context's positions. */
    virtual void solvePositions() = 0;
    /** Make the Context's velocities tangent to the constraints, for applyVelocityConstraints(), too. getPosDelta()
     * must stay as it is: kinetic energies keep velocities there, and a CustomIntegrator its displacements. */
    virtual void solveVelocities() = 0;
    /** Context.applyConstraints(). */
    virtual void project() = 0;
    /** Somebody reads or sets the state; it may throw. */
    virtual void beforeState() = 0;
    /** Somebody has set positions, or all by a checkpoint. */
    virtual void afterPositions() = 0;
    /** Somebody has set the box. */
    virtual void afterBox() = 0;
};

/** Puts a solver in the place of SETTLE, SHAKE and CCMA in OpenMM's IntegrationUtilities, and lets it hear of states
 *  that are read and set: there is no other way to tell that a launch of the last step has failed, or that positions
 *  were set. It replaces kernels of one Context, and nothing of others. While it is destroyed nobody may call. */
class ReplacedKernels {
public:
    /** @throws OpenMMException if OpenMM does not call what was installed, because it is another version */
    ReplacedKernels(OpenMM::ContextImpl& context, OpenMM::ComputeContext& cc, SolverCalls& solver);
    ~ReplacedKernels();
    ReplacedKernels(const ReplacedKernels&) = delete;
    ReplacedKernels& operator=(const ReplacedKernels&) = delete;
    /** OpenMM's own kernel, for calls that need not be heard of. */
    OpenMM::UpdateStateDataKernel& state() {
        return stateOfOpenMM.getAs<OpenMM::UpdateStateDataKernel>();
    }

    /** The solver, for kernels that may live longer. */
    struct Link {
        SolverCalls* solver = nullptr;
    };

private:
    std::shared_ptr<Link> link;
    OpenMM::Kernel stateOfOpenMM;
};

/** Let Context.applyConstraints() and applyVelocityConstraints() call an integrator of this library, which is the only
 *  one of its Context, instead of SETTLE, SHAKE and CCMA. */
void solveByOwnIntegrator(OpenMM::ContextImpl& context);

} // namespace ConstraintPlugin

#endif
