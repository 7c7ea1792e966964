// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PoolRunner.h"
#include <chrono>
#include <utility>

namespace ConstraintPlugin {

PoolRunner::PoolRunner(int numThreads) {
    for (int thread = 1; thread < numThreads; thread++)
        threads.emplace_back([this, thread] { work(thread); });
}

PoolRunner::~PoolRunner() {
    isEnd = true;
    wakeAll();
    for (std::thread& thread : threads)
        thread.join();
}

void PoolRunner::run(int count, const std::function<void(int, int)>& body) {
    if (threads.empty() || count < 2) {
        TaskRunner::run(count, body);
        return;
    }
    task = &body;
    numTasks = count;
    nextTask = 0;
    isOpen = true;
    wakeAll();
    takeTasks(0);
    isOpen = false;
    while (numInside > 0)
        std::this_thread::yield();
    if (failure != nullptr)
        std::rethrow_exception(std::exchange(failure, nullptr));
}

void PoolRunner::wakeAll() {
    round++;
    if (numAsleep == 0)
        return;
    { const std::lock_guard<std::mutex> lock(mutex); } // who counts as asleep waits
    wake.notify_all();
}

void PoolRunner::work(int thread) {
    for (int seen = 0;; seen++) {
        waitAfter(seen);
        seen = round - 1;
        if (isEnd)
            return;
        numInside++;
        if (isOpen)
            takeTasks(thread);
        numInside--;
    }
}

void PoolRunner::waitAfter(int seen) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point sleep = Clock::now() + std::chrono::microseconds(100);
    while (round == seen && Clock::now() < sleep)
        std::this_thread::yield();
    if (round != seen)
        return;
    std::unique_lock<std::mutex> lock(mutex);
    numAsleep++;
    wake.wait(lock, [&] { return round != seen; });
    numAsleep--;
}

void PoolRunner::takeTasks(int thread) noexcept {
    for (int i = nextTask++; i < numTasks; i = nextTask++)
        try {
            (*task)(i, thread);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex);
            if (failure == nullptr)
                failure = std::current_exception();
        }
}

} // namespace ConstraintPlugin
