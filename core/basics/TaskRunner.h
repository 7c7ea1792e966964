// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_TASK_RUNNER_H_
#define CONSTRAINTS_CORE_TASK_RUNNER_H_

#include <functional>

namespace ConstraintPlugin {

/** Runs tasks 0 ... numTasks-1, each once, in parallel. The base class runs all of them on the calling thread. */
class TaskRunner {
public:
    virtual ~TaskRunner() = default;
    virtual int numThreads() const {
        return 1;
    }
    /** @param task  (task, thread). Returns when all are done. */
    virtual void run(int numTasks, const std::function<void(int, int)>& task) {
        for (int i = 0; i < numTasks; i++)
            task(i, 0);
    }
};

} // namespace ConstraintPlugin

#endif
