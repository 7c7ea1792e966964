// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PoolRunner.h"
#include <atomic>

using namespace OpenMM;

namespace ConstraintPlugin {

PoolRunner::PoolRunner(int numThreads) {
    if (numThreads > 1)
        threads = std::make_unique<ThreadPool>(numThreads);
}

void PoolRunner::run(int numTasks, const std::function<void(int, int)>& task) {
    if (threads == nullptr || numTasks < 2) {
        TaskRunner::run(numTasks, task);
        return;
    }
    std::atomic<int> next{0};
    threads->execute([&](ThreadPool&, int thread) {
        for (int i = next++; i < numTasks; i = next++)
            task(i, thread);
    });
    threads->waitForThreads();
}

} // namespace ConstraintPlugin
