// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Large clusters in overlapping subdomains on the emulator.
#include "Emulated.h"
#include "support/LargeSystems.h"
#include "support/Messages.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Clusters in overlapping subdomains, which wait for each other or are launched for each round. */
class EmulatedSubdomains : public Emulated {
protected:
    struct Case {
        InitialState (*start)();
        const char* ownRows;
    };
    /** A large cluster; every kind of constraint, some that move; rigid bodies that constraints join. */
    std::vector<Case> cases() const {
        std::vector<Case> all = {{moleculeWithBarostat, "25"}, {chainOfBodiesWithBarostat, "6"}};
        if (std::get<2>(GetParam()) != "RattleNoseHoover") // holds nothing that moves in time
            all.push_back({mixture, "10"});
        return all;
    }
    const Variable multiprocessors{"FAKECUDA_MULTIPROCESSORS", "32"};
};

TEST_P(EmulatedSubdomains, DependNeitherOnTurnsNorOnWhatMemoryHeld) {
    for (const Case& one : cases()) {
        const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", one.ownRows);
        expectTheSameUnderAllConditions(one.start, "in overlapping subdomains");
        const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
        expectTheSameUnderAllConditions(one.start, "in overlapping subdomains");
    }
}

TEST_P(EmulatedSubdomains, ComputeWhatReferenceDoes) {
    for (const Case& one : cases()) {
        const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", one.ownRows);
        // Barostats have noise of their own on each platform.
        expectWhatReferenceComputes(one.start == mixture                     ? mixture
                                    : one.start == chainOfBodiesWithBarostat ? chainOfBodies
                                                                             : molecule);
    }
}

TEST_P(EmulatedSubdomains, ComputeTheSameInOneLaunchAndInMany) {
    for (const Case& one : cases()) {
        const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", one.ownRows), factors("OPENMM_CONSTRAINTS_LAUNCHES", "0");
        const Readings waiting = after(5, one.start(), GetParam());
        const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
        expectAlike(after(5, one.start(), GetParam()), waiting, std::get<0>(GetParam()));
        const Variable few("FAKECUDA_MULTIPROCESSORS", "1"), smaller("OPENMM_CONSTRAINTS_PARTS", "12");
        const Readings inTurns = after(5, one.start(), GetParam()); // fewer blocks than subdomains
        const Variable more("FAKECUDA_MULTIPROCESSORS", "2");       // twice as many, and clusters in the same order
        expectAlike(inTurns, after(5, one.start(), GetParam()), std::get<0>(GetParam()));
    }
}

/** A straight chain, in which a subdomain knows nothing of what is far away: it is solved as a whole. */
TEST_P(EmulatedSubdomains, LeaveSlowOnesToTheWholeCluster) {
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "12"), factors("OPENMM_CONSTRAINTS_LAUNCHES", "0");
    const auto straight = [] {
        const TestSystem system = longChain(150, 1e4);
        InitialState start{toOpenMM(system, Declared::InForce), toVectors(system.positions), {}};
        start.velocities = tangentVelocities(system, 0.5, 3);
        return start;
    };
    expectWhatReferenceComputes(straight);
    const Readings waiting = after(3, straight(), GetParam());
    const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
    expectAlike(after(3, straight(), GetParam()), waiting, std::get<0>(GetParam()));
    const Variable whole("OPENMM_CONSTRAINTS_PARTS", "1000");
    expectClose(after(3, straight(), GetParam()), waiting, std::get<0>(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(All, EmulatedSubdomains,
                         testing::ValuesIn(setups({ConstraintIntegrator::MatrixInversion}, true)),
                         [](const auto& info) { return nameOf(info.param); });
} // namespace
