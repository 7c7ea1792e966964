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

/** Which thread works with the step kernels of a Context. Steps, projections and whatever computes forces have them
 *  alone; readings take a moment, and wait for one another. */
class ContextUse {
public:
    /** The one that all integrators of a Context share: children of a CompoundIntegrator use one state. */
    static std::shared_ptr<ContextUse> of(const OpenMM::ContextImpl& context);

private:
    friend class KernelHold;
    std::recursive_mutex mutex; // held throughout a reading; at the beginning and the end of work
    std::condition_variable_any isIdle;
    std::thread::id worker;
    const char* work = nullptr; // what it does
    bool isStep = false;
    int depth = 0; // work of the same thread within work: a Force of the step at hand may ask for anything
};

/** A step kernel, for as long as this thread may use it: `reading("getHeat()")->getHeat()`. */
class KernelHold {
public:
    enum Purpose { Reading, Work, Step };
    /** Readings and work are refused while another thread works: from Python, a reading that waited would keep the
     *  interpreter lock from work that may need it (a PythonForce), and work that a step's Force asks for in a thread
     *  of its own would wait for that step. A step waits, so that no question of another thread makes it fail, unless
     *  another step is under way.
     *
     *  @param name  what users call
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
