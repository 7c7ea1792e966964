// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Exceptions for lack of memory. This program replaces operator new, which the libraries use too, by one that can
// refuse large blocks.
#include "support/Messages.h"
#include "support/Simulation.h"
#include <atomic>
#include <cstdlib>
#include <new>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

static std::atomic<std::size_t> largestBlock{SIZE_MAX}; // bytes

void* operator new(std::size_t size) {
    void* block = size > largestBlock ? nullptr : std::malloc(size > 0 ? size : 1);
    if (block == nullptr)
        throw std::bad_alloc();
    return block;
}

void operator delete(void* block) noexcept {
    std::free(block);
}

void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}

namespace {

/** No larger blocks while it lives. */
struct Limit {
    explicit Limit(std::size_t bytes) {
        largestBlock = bytes;
    }
    ~Limit() {
        largestBlock = SIZE_MAX;
    }
};

/** Particles at 0.1 nm from each other on a line; the first is joined to all others (one dense factor), or each to the
 *  next one of its pair. */
std::unique_ptr<System> joined(int n, bool isStar) {
    auto system = std::make_unique<System>();
    auto* force = new ConstraintForce();
    for (int i = 0; i < n; i++) {
        system->addParticle(1);
        if (isStar ? i > 0 : i % 2 == 1)
            force->addDistance(isStar ? 0 : i - 1, i, 0.1);
    }
    system->addForce(force);
    return system;
}

} // namespace

TEST(Memory, AFactorThatItDoesNotHoldIsNamedWithItsSizeAndTheSolverThatNeedsNone) {
    const auto system = joined(401, true);
    RattleIntegrator integrator(0.001);
    const Limit limit(1 << 20);
    expectAll(messageOf([&] { integrator.getClusters(*system); }),
              {"Out of memory in getClusters()", "factor of 400 coupled constraints", "8e+04 entries",
               "1.1e+07 updates", "0.044 GB", "Remedy: setSolver(Iterative)"});
    expectAll(messageOf([&] { makeContext(*system, integrator, "Reference"); }),
              {"Out of memory in creating the Context", "factor", "setSolver(Iterative)"});
    integrator.setSolver(ConstraintIntegrator::Iterative);
    EXPECT_EQ(messageOf([&] { makeContext(*system, integrator, "Reference"); }), "");
}

TEST(Memory, AnythingElseIsNamedByTheNumberOfConstraints) {
    const auto system = joined(20000, false);
    RattleIntegrator integrator(0.001);
    const Limit limit(1 << 16);
    const std::string message = messageOf([&] { integrator.getClusters(*system); });
    expectAll(message, {"Out of memory in getClusters()", "10000 constraints", "Remedy", "memory"});
    EXPECT_EQ(message.find("Iterative"), std::string::npos) << message;
}

TEST(Memory, AStepThatItDoesNotHoldLeavesTheState) {
    for (const char* platform : {"Reference", "CPU"}) {
        SCOPED_TRACE(platform);
        Simulation s(joined(2000, false), std::make_unique<RattleIntegrator>(0.001), platform);
        Vectors r;
        for (int i = 0; i < 2000; i++)
            r.emplace_back(0.1 * i, 0, 0);
        s.context->setPositions(r);
        s.integrator->step(1);
        r[0] += Vec3(1e-4, 0, 0); // the next step has to project
        s.context->setPositions(r);
        std::string message;
        {
            const Limit limit(8 * r.size()); // less than an array of positions, and enough for a message
            message = messageOf([&] { s.integrator->step(1); });
        }
        expectAll(message, {"Out of memory in step()", "1000 constraints among 2000 particles", "Remedy"});
        EXPECT_EQ(distance(s.positions(), r), 0);
        EXPECT_EQ(s.context->getStepCount(), 1);
        s.integrator->step(1);
        EXPECT_EQ(s.context->getStepCount(), 2);
    }
}
