// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Grid.h"
#include "Fiber.h"
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace Emulator {

namespace {

/** Threads that wait for each other: a block or a warp. */
struct Group {
    int threads = 0, arrived = 0, ended = 0;
    int line = 0; // where they wait
    int round = 0;
    char rounds[2]; // addresses for release() and acquire(), in turn: who goes on first may wait again before others go
                    // on
};

struct Block {
    Index index{};
    Group all;
    std::vector<Group> warps;
    std::array<char*, 32> shared{}; // by declaration
    char* dynamic = nullptr;
    std::size_t sharedBytes; // of both
    struct Exchange {
        alignas(8) char lane[warpSize][8];
    };
    std::vector<Exchange> exchange; // of each warp

    Block(unsigned int number, const Launch& launch);
    ~Block();
    Block(const Block&) = delete;
};

enum class State { Ready, InBlock, InWarp, Ended }; // waiting for the block, for the warp

struct Thread {
    Index index{};
    Block* block = nullptr;
    State state = State::Ready;
    bool isFenced = false;    // since its last atomic write
    std::vector<void*> reads; // atomic ones since its last fence
    Fiber fiber;
};

std::vector<std::unique_ptr<Thread>> pool;
const Launch* present = nullptr;
Thread* running = nullptr;
std::string problem;
std::mt19937 randomNumbers;
char begin, end; // addresses for release() and acquire()

char* newMemory(std::size_t size) {
    char* memory = (char*) std::malloc(std::max<std::size_t>(size, 1)); // a sanitizer knows where it ends
    std::memset(memory, conditions().fill, size);
    return memory;
}

Block::Block(unsigned int number, const Launch& launch)
    : index{number, 0, 0}, warps((launch.blockSize + warpSize - 1) / warpSize), dynamic(newMemory(launch.sharedBytes)),
      sharedBytes(launch.sharedBytes), exchange(warps.size()) {
    all.threads = (int) launch.blockSize;
    for (unsigned int i = 0; i < launch.blockSize; i++)
        warps[i / warpSize].threads++;
}

Block::~Block() {
    for (char* memory : shared)
        std::free(memory);
    std::free(dynamic);
}

Group& warpOf(const Thread& thread) {
    return thread.block->warps[thread.index.x / warpSize];
}

/** Let those go on that wait, if all have arrived. */
void releaseIfComplete(Group& group, State waiting, const std::vector<Thread*>& threads) {
    if (group.arrived == 0 || group.arrived + group.ended < group.threads)
        return;
    if (group.ended > 0 && problem.empty())
        problem = "threads wait in line " + std::to_string(group.line) + " for " + std::to_string(group.ended) +
                  " others that have ended";
    group.arrived = 0;
    group.round = 1 - group.round;
    for (Thread* thread : threads)
        if (thread->state == waiting && (waiting == State::InBlock ? &thread->block->all : &warpOf(*thread)) == &group)
            thread->state = State::Ready;
}

void wait(Group& group, State waiting, int line) {
    if (group.arrived > 0 && group.line != line && problem.empty())
        problem = "threads of a block wait in different lines, " + std::to_string(group.line) + " and " +
                  std::to_string(line);
    group.line = line;
    group.arrived++;
    running->isFenced = false; // what others write from now on needs another fence
    running->state = waiting;
    char* const round = &group.rounds[group.round];
    release(round);
    Fiber::leave();
    acquire(round);
}

void syncThreads(int line) {
    wait(running->block->all, State::InBlock, line);
}

void syncWarp() {
    wait(warpOf(*running), State::InWarp, 0);
}

/** As C++ has it: what a thread wrote before a fence and an atomic write, another one sees that reads the value of the
 *  latter and then passes a fence. Each such write needs a fence of its own here. */
void passFence() {
    for (void* place : running->reads)
        acquire(place);
    running->reads.clear();
    running->isFenced = true;
    Fiber::leave();
}

void noteRead(void* place) {
    if (std::find(running->reads.begin(), running->reads.end(), place) == running->reads.end())
        running->reads.push_back(place);
}

void noteWrite(void* place) {
    if (running->isFenced)
        release(place);
    running->isFenced = false;
}

void noteWordSent(void* word) {
    release(word);
}

void noteWordCame(void* word) {
    acquire(word);
}

void* sharedMemory(int declaration, std::size_t size) {
    char*& memory = running->block->shared.at(declaration);
    if (memory == nullptr) {
        memory = newMemory(size);
        release(memory);
        running->block->sharedBytes += size;
        if (running->block->sharedBytes > present->sharedLimit && problem.empty())
            problem = "a block has " + std::to_string(running->block->sharedBytes) +
                      " bytes of shared memory, more than " + std::to_string(present->sharedLimit);
    }
    acquire(memory);
    return memory;
}

void* dynamicMemory() {
    return running->block->dynamic;
}

void* lane(int lane) {
    return running->block->exchange[running->index.x / warpSize].lane[lane];
}

void runThread() {
    acquire(&begin);
    present->kernel.run(present->arguments);
    release(&end);
    running->state = State::Ended;
    Fiber::leave();
}

template <class T>
void order(std::vector<T>& items) {
    const unsigned int wanted = conditions().order;
    if (wanted == 1)
        std::reverse(items.begin(), items.end());
    else if (wanted > 1)
        std::shuffle(items.begin(), items.end(), randomNumbers);
}

/** Let a thread run until it waits or ends. */
void giveTurn(Thread& thread) {
    running = &thread;
    device().threadIdx = &thread.index;
    device().blockIdx = &thread.block->index;
    thread.fiber.resume();
}

using Blocks = std::vector<std::unique_ptr<Block>>;

/** Run all threads of some blocks, in turns. */
void runBlocks(Blocks::iterator first, Blocks::iterator last) {
    constexpr long maxIdleTurns = 100'000;
    std::vector<Thread*> threads;
    for (auto block = first; block < last; ++block)
        for (unsigned int i = 0; i < present->blockSize; i++) {
            if (pool.size() == threads.size())
                pool.push_back(std::make_unique<Thread>());
            Thread& thread = *pool[threads.size()];
            thread.index = {i, 0, 0};
            thread.block = block->get();
            thread.state = State::Ready;
            thread.isFenced = false;
            thread.reads.clear();
            thread.fiber.start(runThread);
            threads.push_back(&thread);
        }
    std::vector<Thread*> turns = threads;
    if (conditions().order == 1)
        order(turns);
    std::size_t ended = 0;
    for (long idle = 0; ended < threads.size() && problem.empty(); idle++) {
        if (conditions().order > 1)
            order(turns);
        bool anyIsReady = false;
        for (Thread* thread : turns) {
            if (thread->state != State::Ready)
                continue;
            anyIsReady = true;
            giveTurn(*thread);
            if (thread->state != State::Ready)
                idle = 0;
            if (thread->state == State::Ended) {
                if (thread->fiber.hasOverflowed() && problem.empty())
                    problem = "a thread needs more stack than the emulator has";
                ended++;
                thread->block->all.ended++;
                warpOf(*thread).ended++;
            }
            if (thread->state != State::InWarp)
                releaseIfComplete(thread->block->all, State::InBlock, threads);
            if (thread->state != State::InBlock)
                releaseIfComplete(warpOf(*thread), State::InWarp, threads);
        }
        if ((!anyIsReady || idle > maxIdleTurns) && problem.empty() && ended < threads.size())
            problem = "threads wait for each other for ever";
    }
}

} // namespace

Conditions& conditions() {
    static Conditions only;
    return only;
}

Device& device() {
    static Device only{nullptr,  nullptr,   {},           {},           syncThreads,  syncWarp,      passFence,
                       noteRead, noteWrite, noteWordSent, noteWordCame, sharedMemory, dynamicMemory, lane};
    return only;
}

std::string run(const Launch& launch) {
    static std::mutex lock; // a device runs one kernel after the other
    std::lock_guard<std::mutex> guard(lock);
    present = &launch;
    problem.clear();
    randomNumbers.seed(conditions().order);
    device().blockDim = {launch.blockSize, 1, 1};
    device().gridDim = {launch.numBlocks, 1, 1};
    // All of them exist until the end: nothing orders one block after another.
    Blocks blocks;
    for (unsigned int number = 0; number < launch.numBlocks; number++)
        blocks.push_back(std::make_unique<Block>(number, launch));
    order(blocks);
    release(&begin);
    if (launch.isCooperative)
        runBlocks(blocks.begin(), blocks.end());
    else
        for (auto block = blocks.begin(); block < blocks.end() && problem.empty(); ++block)
            runBlocks(block, block + 1);
    acquire(&end);
    return problem;
}

} // namespace Emulator
