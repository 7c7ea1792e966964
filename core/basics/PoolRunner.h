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
 * long. So the caller does not wait for threads that come late, and a thread that has nothing to do looks for more
 * during 0.3 ms, giving way to any other thread, before it goes to sleep. Each thread begins with the same tasks as the
 * last time, whose data are in its cache, and then takes what others have left. */
class PoolRunner : public TaskRunner {
public:
    /** @param numThreads  the caller's included */
    explicit PoolRunner(int numThreads);
    ~PoolRunner() override;
    int numThreads() const override {
        return (int) threads.size() + 1;
    }
    /** If tasks throw, the first exception is thrown when all have ended. */
    void run(int numTasks, const std::function<void(int, int)>& task) override;

private:
    /** Begin a round, which threads notice. */
    void wakeAll();
    void work(int thread);
    /** Wait until the round is another. */
    void waitAfter(int round);
    void takeTasks(int thread) noexcept;

    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable wake;
    std::atomic<int> round{0}, numAsleep{0};
    std::atomic<bool> isEnd{false};
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
    std::exception_ptr failure; // guarded by mutex
};

} // namespace ConstraintPlugin

#endif
