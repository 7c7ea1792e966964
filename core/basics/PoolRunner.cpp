// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "PoolRunner.h"
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ConstraintPlugin {

namespace {

void spin() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb"); // some 10 ns
#endif
}

/** Waits for what another thread is about to do, a microsecond or a few: that is noticed at once. What takes longer may
 *  be waiting for this thread's core. */
template <class Condition>
bool isSoon(Condition condition) {
    constexpr int spins = 500; // some 10 us
    for (int i = 0; i < spins; i++) {
        if (condition())
            return true;
        spin();
    }
    return condition();
}

} // namespace

PoolRunner::PoolRunner(int numThreads) {
    try {
        for (int thread = 1; thread < numThreads; thread++)
            threads.emplace_back([this, thread] { work(thread); });
    } catch (const std::system_error&) { // as many as the system allows
    }
    shares = std::vector<Share>(threads.size() + 1);
}

PoolRunner::~PoolRunner() {
    isEnd = true;
    beginRound();
    wake.notify_all();
    for (std::thread& thread : threads)
        thread.join();
}

void PoolRunner::run(int count, const std::function<void(int, int)>& body) {
    if (threads.empty() || count < 2) {
        TaskRunner::run(count, body);
        return;
    }
    if (isRunning.exchange(true))
        throw std::logic_error("PoolRunner::run() is called within a task, or in two threads at once.");
    task = &body;
    for (int i = 0; i < numThreads(); i++) {
        shares[i].next = (int) ((long long) count * i / numThreads());
        shares[i].end = (int) ((long long) count * (i + 1) / numThreads());
    }
    isOpen = true;
    beginRound();
    takeTasks(0);
    isOpen = false;
    if (!isSoon([&] { return numInside == 0; }))
        while (numInside > 0)
            std::this_thread::yield();
    const std::exception_ptr thrown = std::exchange(failure, nullptr);
    isRunning = false;
    if (thrown != nullptr)
        std::rethrow_exception(thrown);
}

void PoolRunner::beginRound() {
    round++;
    if (numAsleep == 0)
        return;
    { const std::lock_guard<std::mutex> lock(mutex); } // a thread that counts as asleep is in wait_for() now
    wake.notify_one();
}

void PoolRunner::work(int thread) {
    for (unsigned seen = 0;;) {
        waitAfter(seen);
        seen = round;
        if (isEnd)
            return;
        numInside++;
        if (isOpen)
            takeTasks(thread);
        numInside--;
    }
}

void PoolRunner::waitAfter(unsigned seen) {
    using Clock = std::chrono::steady_clock;
    if (isSoon([&] { return round != seen; }))
        return;
    const Clock::time_point sleep = Clock::now() + std::chrono::microseconds(300);
    while (round == seen && Clock::now() < sleep)
        std::this_thread::yield();
    if (round != seen)
        return;
    std::unique_lock<std::mutex> lock(mutex);
    numAsleep++;
    while (round == seen)
        wake.wait_for(lock, std::chrono::hours(1)); // of GCC 12, wait() needs a newer libstdc++ than wheels may
    numAsleep--;
    lock.unlock();
    if (isOpen)
        wake.notify_one(); // each wakes the next, so that the caller need not wake all
}

void PoolRunner::takeTasks(int thread) noexcept {
    for (int i = 0; i < numThreads(); i++) {
        Share& share = shares[(thread + i) % numThreads()];
        while (share.next < share.end) {
            const int next = share.next++;
            if (next >= share.end)
                break;
            try {
                (*task)(next, thread);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(mutex);
                if (failure == nullptr)
                    failure = std::current_exception();
            }
        }
    }
}

} // namespace ConstraintPlugin
