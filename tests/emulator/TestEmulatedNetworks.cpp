// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Networks on the emulator, cut as they are for a user: subdomains have a narrow halo, and a correction gains less.
#include "EmulatedSubdomains.h"
#include "support/Messages.h"
#include "support/Platforms.h"
#include <cmath>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

using EmulatedNetworks = EmulatedSubdomainsOf;

struct End {
    Vectors positions, velocities;
    SolverSummary summary;
};

End ended(InitialState start, const std::string& platform, double tolerance, const std::string& integrator = "Rattle") {
    Simulation s = simulationOf(std::move(start), platform, 0.002, tolerance, integrator);
    s.integrator->step(3);
    return {s.positions(), s.velocities(), s.integrator->getSolverSummary()};
}

/** In one launch, with what is found there, and in many, which is the same. */
End inBothForms(InitialState (*start)(), const std::string& platform, double tolerance,
                const std::string& integrator = "Rattle") {
    const Variable factors("OPENMM_CONSTRAINTS_LAUNCHES", "0");
    const End one = ended(start(), platform, tolerance, integrator);
    const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
    const End many = ended(start(), platform, tolerance, integrator);
    const double difference = differenceOfPrograms(platform, tolerance);
    EXPECT_LE(distance(one.positions, many.positions), difference);
    EXPECT_LE(distance(one.velocities, many.velocities), difference / 0.002);
    EXPECT_NEAR(one.summary.iterations, many.summary.iterations, programsRoundAlike() ? 0 : 1);
    return one;
}

void expectClose(const End& found, const End& expected, const std::string& platform, double tolerance) {
    EXPECT_LE(found.summary.maxError, tolerance);
    const double ofPositions = 5 * tolerance + 20 * precisionOf(platform).position;
    EXPECT_LT(distance(found.positions, expected.positions), ofPositions);
    EXPECT_LT(distance(found.velocities, expected.velocities), ofPositions / 0.002 + precisionOf(platform).force);
}

InitialState network() {
    return toState(honeycomb(10));
}

InitialState networkAndProtein() {
    return sideBySide({honeycomb(9), protein(30)});
}

} // namespace

TEST_F(EmulatedNetworks, ConvergeInSubdomainsAlone) {
    const Variable onlySubdomains("OPENMM_CONSTRAINTS_ONLY_PARTS", "1");
    const End expected = ended(network(), "Reference", 1e-5);
    for (const char* platform : {"CUDAMixed", "CUDASingle", "CUDADouble"}) {
        SCOPED_TRACE(platform);
        const End found = inBothForms(network, platform, 1e-5);
        EXPECT_NE(found.summary.solver.find("1 in overlapping subdomains"), std::string::npos) << found.summary.solver;
        EXPECT_GT(found.summary.iterations, expected.summary.iterations);
        expectClose(found, expected, platform, 1e-5);
        // Two subdomains on each multiprocessor wait for each other, too.
        const Variable few("FAKECUDA_MULTIPROCESSORS", "7");
        EXPECT_LE(distance(ended(network(), platform, 1e-5).positions, found.positions),
                  differenceOfPrograms(platform, 1e-5));
    }
}

/** Where subdomains would need too many corrections, the whole network is solved. */
TEST_F(EmulatedNetworks, ComputeWhatReferenceDoesToAnyTolerance) {
    for (const auto& [platform, tolerance] :
         {std::pair("CUDAMixed", 1e-8), {"CUDADouble", 1e-8}, {"CUDADouble", 1e-12}}) {
        SCOPED_TRACE(std::string(platform) + " " + std::to_string(std::log10(tolerance)));
        const End expected = ended(network(), "Reference", tolerance);
        expectClose(inBothForms(network, platform, tolerance), expected, platform, tolerance);
    }
}

TEST_F(EmulatedNetworks, AreSolvedBesideAProtein) {
    for (const auto& [platform, integrator] : {std::pair("CUDAMixed", "RattleLangevin"), {"CUDADouble", "Rattle"}}) {
        SCOPED_TRACE(platform);
        const End expected = ended(networkAndProtein(), "Reference", 1e-5, integrator);
        const End found = inBothForms(networkAndProtein, platform, 1e-5, integrator);
        EXPECT_NE(found.summary.solver.find("2 in overlapping subdomains"), std::string::npos) << found.summary.solver;
        expectClose(found, expected, platform, 1e-5);
    }
}

/** A force that is not a number, and too few iterations: what fails has the same name as in one block. */
TEST_F(EmulatedNetworks, FailByTheSameName) {
    const auto messages = [] {
        InitialState start = network();
        auto* force = new OpenMM::CustomExternalForce("1e-9*sqrt(limit - x)");
        force->addGlobalParameter("limit", 1000);
        force->addParticle(100);
        start.system->addForce(force);
        Simulation s = simulationOf(std::move(start), "CUDADouble", 0.002, 1e-8);
        std::vector<std::string> found;
        const auto step = [&] { found.push_back(alike(withoutSolver(messageOf([&] { s.integrator->step(1); })))); };
        step();
        s.context->setParameter("limit", -1000);
        step();
        s.context->setParameter("limit", 1000);
        s.integrator->setMaxIterations(1);
        step();
        s.integrator->setMaxIterations(150);
        step();
        return found;
    };
    const std::vector<std::string> expected = [&] {
        const Variable inOneBlock("OPENMM_CONSTRAINTS_PARTS", "0");
        return messages();
    }();
    EXPECT_EQ(expected[0] + expected[3], "");
    expectAll(expected[1], {"force on particle 100", "in step 2"});
    expectAll(expected[2], {"could not be solved in step 2", "no convergence (after 1 iteration"});
    EXPECT_EQ(messages(), expected);
    const Variable launches("OPENMM_CONSTRAINTS_LAUNCHES", "1");
    EXPECT_EQ(messages(), expected);
}
