// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "openmmconstraints/Warnings.h"
#include "HeldTwice.h"
#include "Warn.h"
#include <mutex>
#include <utility>

namespace ConstraintPlugin {

namespace {

/** Set and read by any thread. */
struct HandlerSlot {
    std::mutex mutex;
    WarningHandler handler;
};

HandlerSlot& slot() {
    static HandlerSlot one;
    return one;
}

} // namespace

void setWarningHandler(WarningHandler handler) {
    const std::lock_guard<std::mutex> lock(slot().mutex);
    slot().handler = std::move(handler);
}

void warnOf(const OpenMM::System& system, const ConstraintSet& set) {
    WarningHandler handler;
    {
        const std::lock_guard<std::mutex> lock(slot().mutex);
        handler = slot().handler;
    }
    if (!handler)
        return;
    for (const ConstraintProblem& problem : findHeldTwice(system, set))
        handler(problem.text());
}

} // namespace ConstraintPlugin
