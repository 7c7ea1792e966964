// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "Fiber.h"
#include <cstddef>
#include <new>
#include <stdexcept>
#include <sys/mman.h>

extern "C" {
// Of ThreadSanitizer, where it is loaded.
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void __tsan_acquire(void* address);
__attribute__((weak)) void __tsan_release(void* address);

/** Leave a stack, whose place is kept in *from, for the one at `to`. Of the registers, a call keeps these. */
void emulatorSwitchStack(void** from, void* to);
}
#ifdef __x86_64__
asm(R"(
    .text
    .globl emulatorSwitchStack
    .hidden emulatorSwitchStack
    .type emulatorSwitchStack, @function
emulatorSwitchStack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emulatorSwitchStack, .-emulatorSwitchStack
)");
#else // where CMakeLists.txt has no stand-in for NVRTC, so that nothing is emulated
void emulatorSwitchStack(void**, void*) {
    throw std::logic_error("The emulator switches stacks on x86-64 only");
}
#endif

namespace Emulator {

namespace {

constexpr std::size_t stackSize = 256 * 1024, stacksTogether = 64, guardSize = 4096;
constexpr unsigned withoutOrder = 1; // of what happens before and after a switch

void *hostPlace = nullptr, *hostSanitized = nullptr;
void** runningPlace = nullptr; // of the fiber that runs

/** Stacks are cut from mappings of many: with one each, and guards between them, the blocks of a large device would
 * exceed the mappings that Linux allows a process. */
char* newStack() {
    static char* next = nullptr;
    static std::size_t left = 0;
    if (left == 0) {
        next = (char*) mmap(nullptr, guardSize + stacksTogether * stackSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (next == MAP_FAILED || mprotect(next, guardSize, PROT_NONE) != 0)
            throw std::bad_alloc();
        next += guardSize;
        left = stacksTogether;
    }
    char* const stack = next;
    next += stackSize;
    left--;
    return stack + guardSize; // below it is room for what overflows a little, until hasOverflowed() finds it
}

void switchTo(void* sanitized) {
    if (__tsan_switch_to_fiber != nullptr)
        __tsan_switch_to_fiber(sanitized, withoutOrder);
}

} // namespace

Fiber::Fiber() : memory(newStack()) {
    if (__tsan_create_fiber != nullptr)
        sanitized = __tsan_create_fiber(0);
}

bool Fiber::hasOverflowed() const {
    return *(volatile long*) memory != 0;
}

void Fiber::start(void (*function)()) {
    if (hasOverflowed()) // in an earlier turn
        *(volatile long*) memory = 0;
    void** top = (void**) (memory + stackSize - guardSize);
    *--top = nullptr; // a call leaves the stack so, 8 bytes from a multiple of 16
    *--top = (void*) function;
    for (int i = 0; i < 6; i++)
        *--top = nullptr;
    place = top;
}

void Fiber::resume() {
    if (__tsan_get_current_fiber != nullptr)
        hostSanitized = __tsan_get_current_fiber();
    runningPlace = &place;
    switchTo(sanitized);
    emulatorSwitchStack(&hostPlace, place);
}

void Fiber::leave() {
    switchTo(hostSanitized);
    emulatorSwitchStack(runningPlace, hostPlace);
}

void release(void* x) {
    if (__tsan_release != nullptr)
        __tsan_release(x);
}

void acquire(void* x) {
    if (__tsan_acquire != nullptr)
        __tsan_acquire(x);
}

} // namespace Emulator
