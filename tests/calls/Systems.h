// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Systems whose steps TestCalls.cpp takes, one for each kind of constraint and each way to solve it.
#ifndef CONSTRAINTS_TESTS_CALLS_SYSTEMS_H_
#define CONSTRAINTS_TESTS_CALLS_SYSTEMS_H_

#include "support/Simulation.h"
#include <functional>

namespace ConstraintTests {

struct Example {
    std::unique_ptr<OpenMM::System> system = std::make_unique<OpenMM::System>();
    Vectors positions;
};

/** @param chains  bonds of each, side by side */
Example chainsOf(const std::vector<int>& chains);

struct Kind {
    const char* name;
    std::function<Example()> make;
};
const std::vector<Kind>& kinds();
Example makeExample(const std::string& kind);

} // namespace ConstraintTests

#endif
