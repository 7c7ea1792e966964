// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// Tolerances that are nearly the error which a solve has reached: an error and a tolerance that are compared as floats
// in one place and as doubles in another may agree in one only, and then a solve would not end.
#include "support/Groups.h"
#include "support/LargeSystems.h"
#include "support/Mixture.h"
#include "support/Variable.h"
#include <cmath>
#include <set>
#include <sstream>

using namespace ConstraintPlugin;
using namespace ConstraintTests;
using namespace OpenMM;

namespace {

/** A System at its start, and the largest error of its constraints at positions. */
struct Start {
    std::unique_ptr<System> system;
    Vectors positions, velocities;
    std::function<testing::AssertionResult(const Vectors& x, double time, double tolerance)> holds;
};

Start start(const std::vector<TestSystem>& parts) {
    std::unique_ptr<System> system = toOpenMM(parts, Declared::InForce);
    addSprings(*system, parts);
    const auto holds = [parts](const Vectors& x, double, double tolerance) {
        for (std::size_t p = 0; p < parts.size(); p++) {
            const ConstraintSet set = toConstraintSet(parts[p]);
            const auto result =
                Verifier(set, parts[p].box, parts[p].positions).holdsLengths(toArrays(partOf(parts, p, x)), tolerance);
            if (!result)
                return testing::AssertionFailure() << result.message() << " in " << parts[p].name;
        }
        return testing::AssertionSuccess();
    };
    return {std::move(system), positionsOf(parts), tangentVelocities(parts, 2, 3), holds};
}

Start smallClusters() {
    return start({findSystem("OH"), findSystem("water"), findSystem("CH3"), findSystem("ring"), findSystem("stars")});
}

Start largeClusters() {
    return start({longChain(60), mesh(6), protein(8)});
}

/** Every kind, with rigid and joined bodies. */
Start everyKind() {
    auto mixture = std::make_shared<Mixture>(drawMixture(1, false));
    Start start{std::move(mixture->system), mixture->positions, mixture->velocities, {}};
    start.holds = [mixture](const Vectors& x, double time, double tolerance) {
        return mixture->holds(x, time, tolerance);
    };
    return start;
}

/** With a border between the clusters. */
Start groupsOf(Among among) {
    auto groups = std::make_shared<Groups>(makeGroups(among, 4));
    groups->addSprings();
    const Vectors velocities = groups->random(0.5, 5);
    Start start{std::move(groups->system), groups->positions, velocities, {}};
    start.holds = [groups](const Vectors& x, double, double tolerance) {
        const double error = groups->error(x) / 4; // of lengths it is absolute: they are shorter than 4 nm
        return error <= tolerance ? testing::AssertionSuccess() : testing::AssertionFailure() << error;
    };
    return start;
}

/** Where bodies share particles, solves go on to a smaller tolerance than a user's. */
Start groups() {
    return groupsOf(Among::ManyBodies);
}

Start groupsOfMolecules() {
    return groupsOf(Among::Molecules);
}

const std::map<std::string, std::function<Start()>> starts = {{"SmallClusters", smallClusters},
                                                              {"LargeClusters", largeClusters},
                                                              {"EveryKind", everyKind},
                                                              {"Groups", groups},
                                                              {"GroupsOfMolecules", groupsOfMolecules}};

/** Doubles at and between the ten floats below and above an error. */
std::vector<double> around(double error) {
    std::vector<double> tolerances;
    float each = (float) error;
    for (int i = 0; i < 10; i++)
        each = std::nextafter(each, 0.0f);
    for (int i = 0; i < 20; i++) {
        const float next = std::nextafter(each, 1.0f);
        for (double share : {0.0, 0.25, 0.75})
            tolerances.push_back(each + share * ((double) next - each));
        each = next;
    }
    return tolerances;
}

class ToleranceEdges : public testing::TestWithParam<std::tuple<ConstraintTests::Setup, std::string>> {
protected:
    const ConstraintTests::Setup setup = std::get<0>(GetParam());
    const std::string platform = std::get<0>(setup);
    const Variable border{"OPENMM_CONSTRAINTS_BORDER", "1"};
    Start start = starts.at(std::get<1>(GetParam()))();
    static constexpr double stepSize = 0.004;
    static constexpr double leastInFloats = 1.001e-7; ///< of tolerances that devices solve to in floats

    Simulation simulate() {
        Simulation s(std::move(start.system), makeIntegrator(setup, stepSize, 1e-6), platform);
        s.context->setPositions(start.positions);
        s.context->setVelocities(start.velocities);
        s.integrator->applyVelocityConstraints();
        return s;
    }
    /** @return what the solvers reported */
    SolverSummary take(Simulation& s, double tolerance) const {
        s.integrator->setConstraintTolerance(tolerance);
        try {
            s.integrator->step(1);
        } catch (const OpenMMException& e) {
            ADD_FAILURE() << "at a tolerance of " << tolerance << ": " << e.what();
        }
        const SolverSummary summary = s.integrator->getSolverSummary();
        const double allowed = std::max(tolerance, precisionOf(platform).constraint);
        EXPECT_LE(summary.maxError, allowed) << summary.maxError - allowed;
        EXPECT_TRUE(start.holds(s.positions(), s.context->getTime(), 1.000001 * attainable(platform, tolerance)));
        return summary;
    }
};

} // namespace

TEST_P(ToleranceEdges, NeitherFailNorTakeMoreThanAFewRounds) {
    Simulation s = simulate();
    for (int i = 0; i < 3; i++)
        s.integrator->step(1);
    std::stringstream checkpoint;
    s.context->createCheckpoint(checkpoint);
    const auto takeAgain = [&](double tolerance) {
        checkpoint.clear();
        checkpoint.seekg(0);
        s.context->loadCheckpoint(checkpoint);
        return take(s, tolerance);
    };
    std::set<double> errors;
    for (double tolerance : {1e-4, 1e-5, 1e-6, 2e-7}) {
        const double error = takeAgain(tolerance).maxError;
        errors.insert(error);
        // Where rounding may hide an error above the tolerance, another round begins with an error of its own.
        for (int i = 2; i < 14 && error > leastInFloats; i++)
            errors.insert(takeAgain(error * (1 - std::pow(0.5, i))).maxError);
    }
    for (double error : errors) {
        if (error < leastInFloats)
            continue;
        int iterations = 0;
        for (double share : {0.5, 0.9, 1.1})
            iterations = std::max(iterations, takeAgain(share * error).iterations);
        for (double tolerance : around(error)) // each round but the first makes a correction, an iteration
            EXPECT_LE(takeAgain(tolerance).iterations, iterations + 3) << tolerance;
        if (HasFailure())
            return;
    }
    // Someone else computes forces between steps, so devices look whether particles have moved, and project them.
    for (int i = 0; i < 6 && !HasFailure(); i++) {
        const std::vector<double> tolerances = around(std::max(take(s, 1e-6).maxError, leastInFloats));
        s.energy();
        take(s, tolerances[7 * i]);
        s.energy();
    }
}

/** Devices compile for each; on the host sweeps take long. */
static std::vector<std::tuple<ConstraintTests::Setup, std::string>> someSetups() {
    std::vector<std::tuple<ConstraintTests::Setup, std::string>> setups;
    for (const std::string& platform : platformsUnderTest())
        for (const auto& [name, start] : starts)
            for (const char* integrator : {"Rattle", "FrictionlessLangevin"})
                for (Solver solver : {ConstraintIntegrator::MatrixInversion, ConstraintIntegrator::Iterative}) {
                    const bool isDirect = solver == ConstraintIntegrator::MatrixInversion;
                    if (isDevice(platform) && platform.find("Mixed") == std::string::npos)
                        continue;
                    if (name == "SmallClusters" || (isDirect && (!isDevice(platform) || integrator[0] == 'R')))
                        setups.emplace_back(ConstraintTests::Setup(platform, solver, integrator), name);
                }
    return setups;
}

INSTANTIATE_TEST_SUITE_P(Platforms, ToleranceEdges, testing::ValuesIn(someSetups()), [](const auto& info) {
    return nameOf(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
});
