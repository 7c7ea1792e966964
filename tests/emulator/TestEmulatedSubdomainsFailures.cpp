// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Large clusters in overlapping subdomains: what is reported, and how they fail, as on Reference and in one block.
#include "EmulatedSubdomains.h"
#include "support/Messages.h"
#include <functional>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** Fails in some step, and where the cause is removed runs on. */
struct Failing {
    std::string name;
    std::function<InitialState()> start;
    std::string words;
    bool hasLimit = false; ///< a parameter, that is the cause
};

/** A chain between two massless anchors, from each of which its middle moves away. */
InitialState taut() {
    const int n = 60;
    TestSystem system = bentChain(n, 170);
    system.masses.front() = system.masses.back() = 0;
    InitialState start = toState(system, false);
    start.velocities.assign(start.velocities.size(), Vec3());
    dynamic_cast<ConstraintForce&>(start.system->getForce(0))
        .addDistance(0, n / 2, length(start.positions[0] - start.positions[n / 2]), 8);
    return start;
}

/** A ring that a growing diameter stretches. */
InitialState stretchedRing() {
    Builder b("ring");
    const int n = 64;
    const double turn = 2 * std::acos(-1.0) / n, radius = 0.15 / turn;
    for (int k = 0; k < n; k++)
        b.particle(12, Real3{1.2 * radius * std::cos(turn * k), 0.8 * radius * std::sin(turn * k), 0.03 * (k % 3)});
    for (int k = 0; k < n; k++)
        b.bond(k, (k + 1) % n);
    InitialState start = toState(b.build(), false);
    start.velocities.assign(start.velocities.size(), Vec3());
    dynamic_cast<ConstraintForce&>(start.system->getForce(0))
        .addDistance(0, n / 2, length(start.positions[0] - start.positions[n / 2]), 20);
    return start;
}

/** A force on one particle that is not a number beyond a limit. */
InitialState notANumber() {
    InitialState start = toState(protein(30));
    auto* force = new CustomExternalForce("1e-9*sqrt(limit - x)");
    force->addGlobalParameter("limit", 1000);
    force->addParticle(100);
    start.system->addForce(force);
    return start;
}

/** A protein with an expression of time, of the carbons of a residue in its middle: 0 for a while. */
InitialState proteinWith(const std::string& ofTime) {
    InitialState start = toState(protein(30));
    auto* custom = new CustomConstraintForce(2, "distance(p1, p2) - q + " + ofTime);
    custom->addPerConstraintParameter("q");
    const int first = 1 + 7 * 15, second = first + 4; // with one between them
    custom->addConstraint({first, second}, {length(start.positions[first] - start.positions[second])});
    start.system->addForce(custom);
    return start;
}

InitialState growing() {
    return proteinWith("max(0, t - 0.009)*-20");
}

InitialState expressionNotANumber() {
    return proteinWith("1e-9*(sqrt(0.009 - t) - sqrt(0.009))");
}

/** Steps are reported in two buffers in turn. In the first of each, subdomains solve the cluster; in the next of the
 * same buffers, with a smaller tolerance, it is solved as a whole: what is reported is no more what its subdomains had
 * found. */
TEST_F(EmulatedSubdomainsOf, ReportsOfTheWholeReplaceThoseOfSubdomains) {
    const auto run = [](bool launches) {
        std::unique_ptr<Variable> many;
        if (launches)
            many = std::make_unique<Variable>("OPENMM_CONSTRAINTS_LAUNCHES", "1");
        Simulation s = simulationOf(toState(bentChain(200, 170), false), "CUDADouble", 0.002, 1e-8);
        std::vector<SolverSummary> summaries;
        for (double tolerance : {1e-8, 1e-12}) {
            s.integrator->setConstraintTolerance(tolerance);
            for (int step = 0; step < 2; step++) {
                s.integrator->step(1);
                summaries.push_back(s.integrator->getSolverSummary());
                EXPECT_LE(summaries.back().maxError, tolerance);
            }
        }
        return summaries;
    };
    const auto inOnePiece = [&] {
        const Variable none("OPENMM_CONSTRAINTS_PARTS", "0");
        return run(false);
    };
    const std::vector<SolverSummary> expected = inOnePiece();
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "50");
    for (bool launches : {false, true}) {
        const std::vector<SolverSummary> found = run(launches);
        for (int step : {0, 1})
            EXPECT_GT(found[step].iterations, expected[step + 2].iterations) << "by its subdomains";
        for (int step : {2, 3})
            EXPECT_NEAR(found[step].iterations, expected[step].iterations, programsRoundAlike() ? 0 : 1)
                << "as a whole";
    }
}

/** Without values, which grow from rounding where nothing converges, and without positions, which Reference omits. */
std::string withoutValues(const std::string& message) {
    return replaced(message, ": value [^\n]*|\nThere: [^\n]*");
}

TEST_F(EmulatedSubdomainsOf, FailingSystemsFailAsReferenceDoes) {
    for (const Failing& one :
         std::vector<Failing>{{"taut chain", taut, "no convergence (after 12 iterations"},
                              {"stretched ring", stretchedRing, "no convergence (after 12 iterations"},
                              {"an expression that grows", growing, "no convergence (after 12 iterations"},
                              {"an expression that is not a number", expressionNotANumber, "particles 106 and 110"},
                              {"a force that is not a number", notANumber, "The force on particle 100 is NaN", true}}) {
        struct Outcome {
            std::string message;
            int step = 0;
            Vectors after; ///< from the start again
        };
        const auto run = [&](const std::string& platform) {
            Simulation s = simulationOf(one.start(), platform, 0.002, 1e-8);
            s.integrator->setMaxIterations(12);
            Outcome outcome;
            Vectors before;
            while (outcome.message.empty() && outcome.step < 60) {
                before = s.positions();
                if (one.hasLimit && outcome.step == 3)
                    s.context->setParameter("limit", -1000);
                outcome.message = messageOf([&] { s.integrator->step(1); });
                outcome.step++;
            }
            EXPECT_EQ(distance(s.positions(), before), 0) << "the last good step";
            if (one.hasLimit) {
                s.context->setParameter("limit", 1000);
                EXPECT_EQ(messageOf([&] { s.integrator->step(3); }), "");
            }
            const InitialState start = one.start();
            s.context->setTime(0);
            s.context->setPositions(start.positions);
            s.context->setVelocities(start.velocities);
            EXPECT_EQ(messageOf([&] { s.integrator->step(3); }), "") << one.name;
            outcome.after = s.positions();
            EXPECT_NE(distance(outcome.after, start.positions), 0);
            return outcome;
        };
        const Variable none("OPENMM_CONSTRAINTS_PARTS", "0");
        const Outcome expected = run("CUDADouble"), onReference = run("Reference");
        expectAll(expected.message, {"in step", one.words});
        EXPECT_EQ(alike(withoutSolver(withoutValues(expected.message))), alike(withoutValues(onReference.message)));
        EXPECT_EQ(onReference.step, expected.step) << one.name;
        EXPECT_LT(distance(expected.after, onReference.after), 1e-7) << one.name;
        const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "20");
        for (int launches = 0; launches < 2; launches++) {
            std::unique_ptr<Variable> many;
            if (launches > 0)
                many = std::make_unique<Variable>("OPENMM_CONSTRAINTS_LAUNCHES", "1");
            const Outcome found = run("CUDADouble");
            EXPECT_EQ(alike(withoutSolver(found.message)), alike(withoutSolver(expected.message))) << one.name;
            EXPECT_EQ(found.step, expected.step) << one.name;
            EXPECT_LT(distance(found.after, onReference.after), 1e-7) << one.name;
        }
    }
}

/** What fails is named, be it in the protein or in one of the clusters of a block. */
TEST_F(EmulatedSubdomainsOf, ClustersSideBySideInABlockFailByName) {
    const Variable few("FAKECUDA_MULTIPROCESSORS", "8");
    const int numParticles = lipids().system->getNumParticles();
    for (int failing : {5, numParticles / 2, numParticles - 30, numParticles - 1}) {
        const auto message = [&] {
            InitialState start = lipids();
            auto* force = new CustomExternalForce("1e-9*sqrt(limit - x)");
            force->addGlobalParameter("limit", 1000);
            force->addParticle(failing);
            start.system->addForce(force);
            Simulation s = simulationOf(std::move(start), "CUDAMixed", 0.002, 1e-8);
            s.integrator->step(2);
            s.context->setParameter("limit", -1000);
            const std::string found = messageOf([&] { s.integrator->step(1); });
            s.context->setParameter("limit", 1000);
            EXPECT_EQ(messageOf([&] { s.integrator->step(2); }), "");
            return alike(withoutSolver(found));
        };
        const std::string found = message();
        expectAll(found, {"The force on particle " + std::to_string(failing) + " is NaN", "in step"});
        const Variable none("OPENMM_CONSTRAINTS_PARTS", "0");
        EXPECT_EQ(found, message());
    }
}

TEST_F(EmulatedSubdomainsOf, OneIterationIsTheMostThatIsTaken) {
    const auto run = [](double tolerance) {
        Simulation s = simulationOf(toState(protein(20)), "CUDADouble", 0.002, tolerance);
        s.integrator->setMaxIterations(1);
        return alike(withoutSolver(messageOf([&] { s.integrator->step(1); })));
    };
    const Variable subdomains("OPENMM_CONSTRAINTS_PARTS", "40");
    EXPECT_EQ(run(1e-3), "");
    const std::string found = run(1e-11);
    expectAll(found, {"no convergence (after 1 iterations of"});
    const Variable whole("OPENMM_CONSTRAINTS_PARTS", "0");
    EXPECT_EQ(run(1e-11), found);
}

} // namespace
