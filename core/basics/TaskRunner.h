// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_TASK_RUNNER_H_
#define CONSTRAINTS_CORE_TASK_RUNNER_H_

#include <algorithm>
#include <functional>

namespace ConstraintPlugin {

/** Runs tasks 0 ... numTasks-1, each once, in parallel. The base class runs all of them on the calling thread. */
class TaskRunner {
public:
    virtual ~TaskRunner() = default;
    virtual int numThreads() const {
        return 1;
    }
    /** Returns when all are done. If tasks throw, one of their exceptions is thrown when no task runs any more; others
     * may or may not have run. @param task  (task, thread) */
    virtual void run(int numTasks, const std::function<void(int, int)>& task) {
        for (int i = 0; i < numTasks; i++)
            task(i, 0);
    }
};

/** body(i) for i = 0 ... n-1, in any order, on several threads if there are many.
 *  @param runner  null: on the calling thread */
template <class Body>
void forEach(TaskRunner* runner, int n, const Body& body) {
    constexpr int taskSize = 2048;
    const auto part = [&](int begin, int end) {
        for (int i = begin; i < end; i++)
            body(i);
    };
    if (runner == nullptr || n < 4 * taskSize)
        part(0, n);
    else
        runner->run((n + taskSize - 1) / taskSize,
                    [&](int task, int) { part(task * taskSize, std::min(n, (task + 1) * taskSize)); });
}

} // namespace ConstraintPlugin

#endif
