// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
#include "KernelHold.h"
#include "openmm/OpenMMException.h"
#include <chrono>
#include <map>

using namespace OpenMM;
using namespace std;

namespace ConstraintPlugin {

shared_ptr<ContextUse> ContextUse::of(const ContextImpl& context) {
    static std::mutex mutex;
    static map<const ContextImpl*, weak_ptr<ContextUse>> all;
    const lock_guard<std::mutex> lock(mutex);
    for (auto use = all.begin(); use != all.end();)
        use = use->second.expired() ? all.erase(use) : next(use);
    weak_ptr<ContextUse>& known = all[&context];
    shared_ptr<ContextUse> use = known.lock();
    if (use == nullptr)
        known = use = make_shared<ContextUse>();
    return use;
}

KernelHold::KernelHold(ContextUse& use, IntegrateConstraintsStepKernel& kernel, Purpose purpose, const char* name)
    : use(use), kernel(kernel), purpose(purpose) {
    unique_lock<recursive_mutex> lock(use.mutex);
    const auto isTaken = [&] { return use.depth > 0 && use.worker != this_thread::get_id(); };
    // Of GCC 12, wait() needs a newer libstdc++ than wheels may (manylinux_2_34); wait_for() does not.
    while (purpose == Step && isTaken() && !use.isStep)
        use.isIdle.wait_for(lock, chrono::hours(1));
    if (isTaken())
        throw OpenMMException(string(name) + ": " + use.work +
                              " is running in another thread, so this Context cannot be used. Wait until it has "
                              "returned, or call this function in the thread that called it.");
    if (purpose == Reading) {
        lock.release(); // the destructor unlocks
        return;
    }
    if (use.depth++ == 0) {
        use.worker = this_thread::get_id();
        use.work = name;
        use.isStep = purpose == Step;
    }
}

KernelHold::~KernelHold() {
    if (purpose == Reading) {
        use.mutex.unlock();
        return;
    }
    const lock_guard<recursive_mutex> lock(use.mutex);
    if (--use.depth == 0)
        use.isIdle.notify_all();
}

} // namespace ConstraintPlugin
