// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PoolRunner.h"
#include <algorithm>
#include <chrono>
#include <utility>

namespace ConstraintPlugin {

PoolRunner::PoolRunner(int numThreads) : shares(std::max(numThreads, 1)) {
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
    for (int i = 0; i < numThreads(); i++) {
        shares[i].next = (int) ((long long) count * i / numThreads());
        shares[i].end = (int) ((long long) count * (i + 1) / numThreads());
    }
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
    const Clock::time_point sleep = Clock::now() + std::chrono::microseconds(300);
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
    for (int i = 0; i < numThreads(); i++) {
        Share& share = shares[(thread + i) % numThreads()];
        for (int next = share.next++; next < share.end; next = share.next++)
            try {
                (*task)(next, thread);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex);
                if (failure == nullptr)
                    failure = std::current_exception();
            }
    }
}

} // namespace ConstraintPlugin
