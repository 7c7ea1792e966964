// SPDX-FileCopyrightText: 2026 the openmm-constraints developers
// SPDX-License-Identifier: MIT
// What is said of a projection that fails: nothing about steps, their size, or velocities.
#include "ConstraintErrors.h"
#include "support/Bodies.h"
#include "support/Messages.h"
#include "support/SharedBodies.h"
#include <gtest/gtest.h>

using namespace ConstraintPlugin;
using namespace ConstraintTests;

namespace {

constexpr Outcome failures[] = {Outcome::NotConverged, Outcome::Singular, Outcome::NotFinite, Outcome::Inconsistent,
                                Outcome::NoGradient};

/** A System constraint, a distance, an angle, a dihedral, a joint and an expression, and two bodies. */
ConstraintSet everyKind() {
    SharedBodies sample;
    sample.addBody({0, 1, 2, 3});
    sample.addBody({3, 4, 5});
    ConstraintSet set = sample.collect();
    std::vector<Constraint> listed;
    for (CoordinateKind kind : {CoordinateKind::Distance, CoordinateKind::Angle, CoordinateKind::Dihedral}) {
        Constraint c;
        c.kind = kind;
        for (int p = 0; p < numParticlesOf(kind); p++)
            c.particles.push_back(p);
        c.target = 1;
        c.force = 0;
        listed.push_back(c);
        c.force = -1;
        if (kind == CoordinateKind::Distance)
            listed.push_back(c);
    }
    set.constraints.insert(set.constraints.begin(), listed.begin(), listed.end());
    set.numListed += (int) listed.size();
    return set;
}

/** visit(report, context) for all failures of everything, in all circumstances. */
template <class Visit>
void forEachFailure(const ConstraintSet& set, bool isProjection, Visit visit) {
    for (Outcome outcome : failures)
        for (double rotation : {0.0, 7.0})
            for (bool isIterative : {false, true})
                for (double tolerance : {1e-5, 1e-14})
                    for (const char* note : {"", "its factor is too large"})
                        for (int k = -1 - (int) set.bodies.size(); k < (int) set.constraints.size(); k++) {
                            SolveReport report;
                            report.outcome = outcome;
                            report.rotation = rotation;
                            report.maxError = 0.1;
                            if (k < -1)
                                report.body = -2 - k;
                            else
                                report.constraint = k;
                            if (k == -1 && outcome == Outcome::NoGradient) // it is of a constraint
                                continue;
                            visit(report, SolveContext{Stage::Positions, "the projection of the positions", tolerance,
                                                       0.001, 0, 0.002, "Newton", isIterative, note, -1, isProjection});
                        }
}

TEST(ProjectionMessages, SpeakNeitherOfStepsNorOfVelocities) {
    const ConstraintSet set = everyKind();
    ASSERT_EQ(set.bodies.size(), 2u);
    int number = 0;
    forEachFailure(set, true, [&](const SolveReport& report, const SolveContext& context) {
        std::string message = messageOf([&] { throwSolveError(set, report, context); });
        const std::string function = "setVelocitiesToTemperature()"; // of OpenMM, for System constraints
        if (const auto found = message.find(function); found != std::string::npos)
            message.erase(found, function.size());
        EXPECT_NE(message.find("the projection of the positions"), std::string::npos) << message;
        for (const char* word : {"step", "velocit", " ps", "Velocit", "Step", "minimize the energy"})
            EXPECT_EQ(message.find(word), std::string::npos) << word << " is in: " << message;
        EXPECT_NE(message.find("Remedy: "), std::string::npos) << message;
        number++;
    });
    EXPECT_GT(number, 500);
}

TEST(ProjectionMessages, OfOneStageNameMinimizeFirstAndApplyConstraintsSecond) {
    const ConstraintSet set = everyKind();
    int number = 0;
    for (bool isOurs : {true, false})
        forEachFailure(set, true, [&](const SolveReport& report, SolveContext context) {
            const bool isFar = report.outcome == Outcome::Singular || report.outcome == Outcome::NotConverged;
            if (!isFar || report.constraint + report.body == -2 || (context.tolerance < 1e-13 && report.body < 0))
                return; // of nothing in particular, or because of the tolerance
            context.isOneStage = true;
            context.isOurs = isOurs;
            const std::string message = messageOf([&] { throwSolveError(set, report, context); });
            const auto first = message.find("openmmconstraints.minimize(context)");
            const auto second = message.find("integrator.applyConstraints()");
            EXPECT_NE(first, std::string::npos) << message;
            EXPECT_EQ(second != std::string::npos, isOurs) << message;
            EXPECT_LT(first, second) << message;
            EXPECT_EQ(message.find("set positions"), std::string::npos) << message;
            number++;
        });
    EXPECT_GT(number, 100);
}

TEST(ProjectionMessages, ThoseOfStepsTellTheirSize) {
    const ConstraintSet set = everyKind();
    forEachFailure(set, false, [&](const SolveReport& report, const SolveContext& context) {
        const bool isTooFast = report.body >= 0 || report.outcome == Outcome::Singular;
        if (report.rotation > 0 && report.constraint != -1 && isTooFast && report.outcome != Outcome::NotFinite) {
            const std::string message = messageOf([&] { throwSolveError(set, report, context); });
            EXPECT_NE(message.find("a step size below 0.00029 ps"), std::string::npos) << message;
        }
    });
}

} // namespace
