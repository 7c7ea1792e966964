// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Threads for short tasks: every task once, whatever the threads are doing when tasks arrive.
#include "PoolRunner.h"
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>

using namespace ConstraintPlugin;

namespace {

/** Run tasks and count how often each was taken. */
void expectEachOnce(PoolRunner& runner, int numTasks) {
    std::vector<int> taken(numTasks), ofThread(runner.numThreads());
    runner.run(numTasks, [&](int task, int thread) {
        taken[task]++;
        ofThread[thread]++; // no two tasks have the same thread at a time
    });
    EXPECT_EQ(taken, std::vector<int>(numTasks, 1));
    int sum = 0;
    for (int n : ofThread)
        sum += n;
    EXPECT_EQ(sum, numTasks);
}

} // namespace

TEST(PoolRunner, TakesEveryTaskOnce) {
    for (int numThreads : {1, 2, 3, 16}) {
        PoolRunner runner(numThreads);
        EXPECT_EQ(runner.numThreads(), numThreads);
        for (int round = 0; round < 300; round++) // at once, before threads sleep
            expectEachOnce(runner, round % 40);
        for (int pause : {50, 280, 320, 1000}) { // about when they fall asleep, and later
            for (int round = 0; round < 20; round++) {
                std::this_thread::sleep_for(std::chrono::microseconds(pause));
                expectEachOnce(runner, 20);
            }
        }
    }
}

TEST(PoolRunner, SharesTasksAmongThreads) {
    PoolRunner runner(2);
    std::atomic<int> numMet{0};
    // Neither task ends before the other has begun.
    runner.run(2, [&](int, int) {
        numMet++;
        while (numMet < 2)
            std::this_thread::yield();
    });
    EXPECT_EQ(numMet, 2);
}

TEST(PoolRunner, ThrowsWhatATaskThrowsWhenNoneRunsAnyMore) {
    for (int numThreads : {1, 3}) {
        PoolRunner runner(numThreads);
        for (int round = 0; round < 50; round++) {
            std::atomic<int> numRunning{0};
            const auto failing = [&](int task, int) {
                numRunning++;
                std::this_thread::yield();
                numRunning--;
                if (task % 5 == 2)
                    throw std::runtime_error("task");
            };
            EXPECT_THROW(runner.run(20, failing), std::runtime_error);
            EXPECT_EQ(numRunning, 0);
            expectEachOnce(runner, 20);
        }
    }
}

TEST(PoolRunner, IsNotRunWithinATask) {
    PoolRunner runner(2);
    EXPECT_THROW(runner.run(4, [&](int, int) { runner.run(4, [](int, int) {}); }), std::logic_error);
    expectEachOnce(runner, 20);
}

TEST(PoolRunner, RunsLoopsOverElements) {
    PoolRunner runner(2);
    for (int n : {0, 1, 8191, 8192, 8193, 10000, 20480}) {
        std::vector<int> taken(n);
        forEach(&runner, n, [&](int i) { taken[i]++; });
        EXPECT_EQ(taken, std::vector<int>(n, 1));
        forEach(nullptr, n, [&](int i) { taken[i]++; });
        EXPECT_EQ(taken, std::vector<int>(n, 2));
    }
}

TEST(PoolRunner, EndsWhateverItsThreadsDo) {
    for (int pause : {0, 50, 300, 1000}) // before they begin, searching, about to sleep, asleep
        for (int round = 0; round < 30; round++) {
            const auto runner = std::make_unique<PoolRunner>(4);
            std::this_thread::sleep_for(std::chrono::microseconds(pause));
            if (round % 2 == 0)
                runner->run(8, [](int, int) {});
        }
}

TEST(PoolRunner, ServesSeveralCallersWithThreadsOfTheirOwn) {
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; i++)
        callers.emplace_back([] {
            PoolRunner runner(2);
            for (int round = 0; round < 200; round++)
                expectEachOnce(runner, 10);
        });
    for (std::thread& caller : callers)
        caller.join();
}
