// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Joined rigid bodies on any number of threads: results are the same bit for bit.
#include "support/JoinedBodies.h"
#include "support/Rings.h"

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Many molecules, and two large bodies on a hinge. */
JoinedSystem manyBodies() {
    std::vector<Assembly> all;
    for (int copy = 0; copy < 10; copy++)
        all.insert(all.end(), someAssemblies().begin(), someAssemblies().end());
    all.push_back(hingeRing(4, true, 7));
    Random random(9);
    Assembly large;
    large.name = "large";
    large.degreesOfFreedom = 7;
    const int p = large.atom({0, 0, 0}), q = large.atom({0, 0, 1});
    for (double side : {-1.0, 1.0}) {
        std::vector<int> body{p, q};
        for (int i = 0; i < 5000; i++)
            body.push_back(large.atom(Real3{side, 0, 0} + random.inCube(0.9), random.uniform(1, 20)));
        large.bodies.push_back(body);
    }
    all.push_back(large);
    return JoinedSystem(all);
}

TEST(JoinedThreads, GiveTheSameBits) {
    const JoinedSystem joined = manyBodies();
    const auto system = joined.toOpenMM();
    const auto end = [&](const std::string& platform, const std::string& threads) {
        RattleIntegrator integrator(0.001);
        integrator.setConstraintTolerance(1e-10);
        Context context(*system, integrator, requirePlatform(platform),
                        threads.empty() ? std::map<std::string, std::string>{}
                                        : std::map<std::string, std::string>{{"Threads", threads}});
        context.setPositions(toVectors(joined.start));
        context.setVelocities(joined.velocities(1, 3));
        integrator.step(3);
        EXPECT_EQ(integrator.getNumDegreesOfFreedom(), joined.degreesOfFreedom());
        const State state = context.getState(State::Positions | State::Velocities);
        return std::make_tuple(state.getPositions(), state.getVelocities(), integrator.getConstraintForces());
    };
    const auto [x1, v1, f1] = end("Reference", "");
    EXPECT_GT(distance(x1, toVectors(joined.start)), 1e-3);
    for (const char* threads : {"1", "2", "3"}) {
        const auto [x2, v2, f2] = end("CPU", threads);
        EXPECT_EQ(distance(x1, x2), 0) << threads;
        EXPECT_EQ(distance(v1, v2), 0) << threads;
        EXPECT_EQ(distance(f1, f2), 0) << threads;
    }
}

} // namespace
