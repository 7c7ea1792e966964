// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#ifndef CONSTRAINTS_TESTS_EMULATOR_FIBER_H_
#define CONSTRAINTS_TESTS_EMULATOR_FIBER_H_

namespace Emulator {

/** A stack on which a function runs until it gives up its turn. It is kept as long as the process. ThreadSanitizer,
 * where it is loaded, takes fibers for threads, between which a switch orders nothing. */
class Fiber {
public:
    Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;
    /** Begin anew: the next turn calls function(), which must not return. */
    void start(void (*function)());
    /** Run until it calls leave(). */
    void resume();
    /** Whether the lowest word of the stack was written: what lies below may be another fiber's. */
    bool hasOverflowed() const;
    /** Return from resume(), in the fiber. */
    static void leave();

private:
    char* memory;
    void* place = nullptr; // of the stack, while others run
    void* sanitized = nullptr;
};

/** What one thread or the host did before release(x) is before what another does after acquire(x). Only ThreadSanitizer
 *  needs to know. */
void release(void* x);
void acquire(void* x);

} // namespace Emulator

#endif
