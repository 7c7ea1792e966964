// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_CORE_POOL_RUNNER_H_
#define CONSTRAINTS_CORE_POOL_RUNNER_H_

#include "TaskRunner.h"
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace ConstraintPlugin {

/** Runs tasks on the calling thread and others. Tasks are short, tens of microseconds, while waking a thread takes as
 * long. So the caller does not wait for threads that have not begun, and a thread that has nothing to do looks for more
 * for some time before it goes to sleep. Each thread begins with the same tasks as the last time, whose data are in its
 * cache, and then takes what others have left. */
class PoolRunner : public TaskRunner {
public:
    /** @param numThreads  the caller's included; there are fewer if no more can be started */
    explicit PoolRunner(int numThreads);
    ~PoolRunner() override;
    int numThreads() const override {
        return (int) threads.size() + 1;
    }
    /** @throws std::logic_error  within a task, or in two threads at once */
    void run(int numTasks, const std::function<void(int, int)>& task) override;

private:
    /** Begin a round, which threads notice. */
    void beginRound();
    void work(int thread);
    /** Wait until the round is not the one that was seen last. */
    void waitAfter(unsigned seen);
    void takeTasks(int thread) noexcept;

    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable wake;
    std::atomic<unsigned> round{0};
    std::atomic<int> numAsleep{0};
    std::atomic<bool> isEnd{false}, isRunning{false};
    /** Tasks may be taken while the round is open. Threads enter before they look, so that when it is closed and nobody
     *  is inside, nobody reads what follows. */
    std::atomic<bool> isOpen{false};
    std::atomic<int> numInside{0};
    struct alignas(64) Share { // on a cache line of its own
        std::atomic<int> next{0};
        int end = 0;
    };
    std::vector<Share> shares; // [threads] of the tasks
    const std::function<void(int, int)>* task = nullptr;
    std::exception_ptr failure; // guarded by mutex while the round is open
};

} // namespace ConstraintPlugin

#endif
