// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef OPENMM_CONSTRAINTS_POOL_RUNNER_H_
#define OPENMM_CONSTRAINTS_POOL_RUNNER_H_

#include "TaskRunner.h"
#include "openmm/internal/ThreadPool.h"
#include <memory>

namespace ConstraintPlugin {

/** Runs tasks on OpenMM's threads; a single one on the calling thread, because waking another thread takes longer. */
class PoolRunner : public TaskRunner {
public:
    explicit PoolRunner(int numThreads);
    int numThreads() const override {
        return threads == nullptr ? 1 : threads->getNumThreads();
    }
    void run(int numTasks, const std::function<void(int, int)>& task) override;

private:
    std::unique_ptr<OpenMM::ThreadPool> threads; // null: one
};

} // namespace ConstraintPlugin

#endif
