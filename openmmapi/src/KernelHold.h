// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_KERNEL_HOLD_H_
#define OPENMM_CONSTRAINTS_KERNEL_HOLD_H_

#include "openmmconstraints/ConstraintKernels.h"
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace ConstraintPlugin {

/** What the step kernels of a Context share, and their lock. "Work" (steps, projections, everything that computes
 * forces) is exclusive. Readings are short and wait for one another. */
class ContextUse {
public:
    /** The one that all integrators of a Context share: children of a CompoundIntegrator use one state. */
    static std::shared_ptr<ContextUse> of(const OpenMM::ContextImpl& context);
    MetParameters met;

private:
    friend class KernelHold;
    std::recursive_mutex mutex; // held throughout a reading; at the beginning and the end of work
    std::condition_variable_any isIdle;
    std::thread::id worker;
    const char* work = nullptr; // the public function that is running
    bool isStep = false;
    int depth = 0; // nested work of the same thread: a Force may call any function during a step
};

/** A step kernel, for as long as this thread may use it: `reading("getHeat()")->getHeat()`. */
class KernelHold {
public:
    enum Purpose { Reading, Work, Step };
    /** Readings and work throw while another thread works. If they waited, there could be deadlocks: a reading from
     * Python would hold the interpreter lock, which the work may need (a PythonForce), and work that a Force starts in
     * another thread during a step would wait for that step. A step waits until other work ends, so that calls of other
     * threads do not make it fail; it throws only if another step is running.
     *
     *  @param name  the public function
     *  @throws OpenMMException if another thread works, naming its work */
    KernelHold(ContextUse& use, IntegrateConstraintsStepKernel& kernel, Purpose purpose, const char* name);
    ~KernelHold();
    KernelHold(const KernelHold&) = delete;
    KernelHold& operator=(const KernelHold&) = delete;
    IntegrateConstraintsStepKernel* operator->() const {
        return &kernel;
    }
    IntegrateConstraintsStepKernel& operator*() const {
        return kernel;
    }

private:
    ContextUse& use;
    IntegrateConstraintsStepKernel& kernel;
    const Purpose purpose;
};

} // namespace ConstraintPlugin

#endif
