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

/** None: nobody wants warnings. */
static WarningHandler presentHandler() {
    const std::lock_guard<std::mutex> lock(slot().mutex);
    return slot().handler;
}

void warnOf(const OpenMM::System& system, const ConstraintSet& set) {
    const WarningHandler handler = presentHandler();
    if (!handler)
        return;
    for (const ConstraintProblem& problem : findHeldTwice(system, set))
        handler(problem.text());
}

void warnOf(const std::string& text) {
    if (const WarningHandler handler = presentHandler())
        handler(text);
}

} // namespace ConstraintPlugin
